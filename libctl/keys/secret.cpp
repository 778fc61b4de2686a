// SPDX-License-Identifier: LGPL-2.1-or-later
#include "secret.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <sys/mman.h>
#include <sys/random.h>

#include "libctl/base/base64.h"
#include "libctl/base/make_error.h"

namespace nofctl {

using nvmeof::Result;

namespace {

constexpr std::string_view dhchapPrefix = "DHHC-1:", tlsPrefix = "NVMeTLSkey-1:";
constexpr std::size_t crcSize = 4, hashDigits = 2;

// CRC-32 as of ISO 3309: reflected, with all bits inverted before and after
std::uint32_t crc32(std::span<const std::uint8_t> bytes)
{
	constexpr std::uint32_t polynomial = 0xedb88320;
	std::uint32_t crc = ~0u;
	for (const std::uint8_t byte : bytes) {
		crc ^= byte;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? polynomial : 0);
	}
	return ~crc;
}

void putLe32(std::uint32_t value, std::uint8_t *to)
{
	for (std::size_t i = 0; i < crcSize; i++)
		to[i] = static_cast<std::uint8_t>(value >> 8 * i);
}

// Content of a text: hash function and secret
struct Parsed {
	KeyHash hash = KeyHash::none;
	SecretBytes secret;
};

std::optional<KeyHash> hashOf(std::string_view digits)
{
	for (KeyHash hash : {KeyHash::none, KeyHash::sha256, KeyHash::sha384, KeyHash::sha512})
		if (digits == std::string("0") + static_cast<char>('0' + static_cast<int>(hash)))
			return hash;
	return std::nullopt;
}

Result<Parsed> parseText(std::string_view text, std::string_view prefix)
{
	if (!text.starts_with(prefix))
		return invalidError("the key does not begin with " + std::string(prefix));
	text.remove_prefix(prefix.size());
	if (text.size() <= hashDigits || text[hashDigits] != ':')
		return invalidError("the key is incomplete: expected " + std::string(prefix) + "HH:BASE64:");
	Parsed parsed;
	const std::optional<KeyHash> hash = hashOf(text.substr(0, hashDigits));
	if (!hash)
		return invalidError("the key has an unknown hash function");
	parsed.hash = *hash;
	text.remove_prefix(hashDigits + 1);
	if (!text.ends_with(':'))
		return invalidError("the key is incomplete: its last character is not a colon");
	text.remove_suffix(1);
	constexpr std::size_t longest = 64 + crcSize;
	if (text.size() > base64Size(longest))
		return invalidError("the key is too long");
	SecretBytes bytes(text.size() / 4 * 3);
	const std::optional<std::size_t> size = decodeBase64(text, bytes.data());
	if (!size)
		return invalidError("the key is damaged: it is not valid base64");
	bytes.shrink(*size);
	const std::size_t length = *size < crcSize ? 0 : *size - crcSize;
	if (length != 32 && length != 48 && length != 64)
		return invalidError("the key has a wrong length: expected 32, 48 or 64 bytes");
	std::uint8_t crc[crcSize];
	putLe32(crc32(bytes.bytes().first(length)), crc);
	if (!std::ranges::equal(bytes.bytes().subspan(length), crc))
		return invalidError("the key is damaged: its checksum is wrong");
	bytes.shrink(length);
	if (hashSize(*hash) && hashSize(*hash) != length)
		return invalidError(std::string("the key has a wrong length for ") + toString(*hash));
	parsed.secret = std::move(bytes);
	return parsed;
}

SecretBytes formatText(std::string_view prefix, KeyHash hash, const SecretBytes &secret)
{
	SecretBytes checked(secret.size() + crcSize);
	std::ranges::copy(secret.bytes(), checked.data());
	putLe32(crc32(secret.bytes()), checked.data() + secret.size());
	const std::string head = std::string(prefix) + '0' + static_cast<char>('0' + static_cast<int>(hash)) + ':';
	SecretBytes text(head.size() + base64Size(checked.size()) + 1);
	std::ranges::copy(head, text.data());
	encodeBase64(checked.bytes(), reinterpret_cast<char *>(text.data()) + head.size());
	text.data()[text.size() - 1] = ':';
	return text;
}

Result<SecretBytes> randomBytes(std::size_t size)
{
	SecretBytes bytes(size);
	for (std::size_t done = 0; done < size;) {
		const ssize_t n = ::getrandom(bytes.data() + done, size - done, 0);
		if (n < 0 && errno != EINTR)
			return nvmeof::errorFromErrno(errno, "no random numbers: " + std::string(std::strerror(errno)));
		done += n > 0 ? static_cast<std::size_t>(n) : 0;
	}
	return bytes;
}

Result<SecretBytes> generated(KeyHash hash, std::size_t length)
{
	const std::size_t usual = hashSize(hash) ? hashSize(hash) : 32;
	if (!length)
		length = usual;
	if (length != 32 && length != 48 && length != 64)
		return invalidError("a key has 32, 48 or 64 bytes");
	if (hashSize(hash) && length != usual)
		return invalidError(std::string("a key for ") + toString(hash) + " has " + std::to_string(usual) +
				    " bytes");
	return randomBytes(length);
}

} // namespace

std::size_t hashSize(KeyHash hash)
{
	constexpr std::size_t sizes[] = {0, 32, 48, 64};
	return sizes[static_cast<std::size_t>(hash)];
}

SecretBytes::SecretBytes(std::size_t size)
{
	if (size == 0)
		return;
	void *pages = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		throw std::bad_alloc();
	::madvise(pages, size, MADV_DONTDUMP);
	bytes_ = std::unique_ptr<std::uint8_t[], Unmap>(static_cast<std::uint8_t *>(pages), Unmap{size});
	size_ = size;
}

void SecretBytes::Unmap::operator()(std::uint8_t *bytes) const
{
	::munmap(bytes, size);
}

SecretBytes &SecretBytes::operator=(SecretBytes &&other) noexcept
{
	if (this != &other) {
		shrink(0);
		bytes_ = std::move(other.bytes_);
		size_ = std::exchange(other.size_, 0);
	}
	return *this;
}

void SecretBytes::shrink(std::size_t size)
{
	if (size < size_)
		::explicit_bzero(bytes_.get() + size, size_ - size);
	size_ = size;
}

const char *toString(KeyHash hash)
{
	switch (hash) {
	case KeyHash::none:
		break;
	case KeyHash::sha256:
		return "SHA-256";
	case KeyHash::sha384:
		return "SHA-384";
	case KeyHash::sha512:
		return "SHA-512";
	}
	return "none";
}

std::optional<KeyHash> parseKeyHash(std::string_view word)
{
	constexpr std::pair<std::string_view, KeyHash> words[] = {{"none", KeyHash::none},
								  {"sha256", KeyHash::sha256},
								  {"sha384", KeyHash::sha384},
								  {"sha512", KeyHash::sha512}};
	for (const auto &[name, hash] : words)
		if (name == word)
			return hash;
	return std::nullopt;
}

Result<DhchapSecret> DhchapSecret::parse(std::string_view text)
{
	Result<Parsed> parsed = parseText(text, dhchapPrefix);
	if (!parsed)
		return parsed.error();
	return DhchapSecret{parsed->hash, std::move(parsed->secret)};
}

Result<DhchapSecret> DhchapSecret::generate(KeyHash hash, std::size_t length)
{
	Result<SecretBytes> secret = generated(hash, length);
	if (!secret)
		return secret.error();
	return DhchapSecret{hash, *std::move(secret)};
}

SecretBytes DhchapSecret::format() const
{
	return formatText(dhchapPrefix, hash, secret);
}

Result<TlsPsk> TlsPsk::parse(std::string_view text)
{
	Result<Parsed> parsed = parseText(text, tlsPrefix);
	if (!parsed)
		return parsed.error();
	if (parsed->hash == KeyHash::sha512)
		return invalidError("the key has a wrong hash function: that of a TLS key is none, SHA-256 or SHA-384");
	if (parsed->secret.size() == hashSize(KeyHash::sha512))
		return invalidError("the key has a wrong length: a TLS key has 32 or 48 bytes");
	return TlsPsk{parsed->hash, std::move(parsed->secret)};
}

Result<TlsPsk> TlsPsk::generate(KeyHash hash, std::size_t length)
{
	if (hash == KeyHash::sha512)
		return invalidError("the hash function of a TLS key is none, SHA-256 or SHA-384");
	if (length == hashSize(KeyHash::sha512))
		return invalidError("a TLS key has 32 or 48 bytes");
	Result<SecretBytes> secret = generated(hash, length);
	if (!secret)
		return secret.error();
	return TlsPsk{hash, *std::move(secret)};
}

SecretBytes TlsPsk::format() const
{
	return formatText(tlsPrefix, hash, secret);
}

bool looksLikeTlsPsk(std::string_view text)
{
	return text.starts_with(tlsPrefix);
}

bool containsSecret(std::string_view text)
{
	auto same = [](char a, char b) {
		auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
		return lower(a) == lower(b);
	};
	auto has = [&](std::string_view prefix) {
		return std::search(text.begin(), text.end(), prefix.begin(), prefix.end(), same) != text.end();
	};
	return has(dhchapPrefix) || has(tlsPrefix);
}

} // namespace nofctl
