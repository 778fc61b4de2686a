// SPDX-License-Identifier: LGPL-2.1-or-later
// Secrets of DH-HMAC-CHAP and of TLS, and their text formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <nvmeof/result.h>

namespace nofctl {

// Bytes or text of a secret, in pages of their own that are left out of core dumps, and erased before they are freed.
// There is one copy: it can be moved only.
class SecretBytes {
public:
	SecretBytes() = default;
	explicit SecretBytes(std::size_t size); // all zero
	SecretBytes(SecretBytes &&other) noexcept
		: bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0))
	{
	}
	SecretBytes &operator=(SecretBytes &&other) noexcept;
	~SecretBytes() { shrink(0); }

	std::size_t size() const { return size_; }
	std::uint8_t *data() { return bytes_.get(); }
	std::span<const std::uint8_t> bytes() const { return {bytes_.get(), size_}; }
	std::string_view text() const { return {reinterpret_cast<const char *>(bytes_.get()), size_}; }
	// Erases the bytes from @size on. @size: at most size().
	void shrink(std::size_t size);

private:
	struct Unmap {
		std::size_t size;
		void operator()(std::uint8_t *bytes) const;
	};

	std::unique_ptr<std::uint8_t[], Unmap> bytes_;
	std::size_t size_ = 0;
};

// The hash function in the header of a secret. Of a secret for DH-HMAC-CHAP: the one that transforms it; none: it is
// used as it is. Of a TLS PSK: the one that it is derived with.
enum class KeyHash : std::uint8_t { none, sha256, sha384, sha512 };

std::size_t hashSize(KeyHash hash);                         // bytes of its output; 0 for none
const char *toString(KeyHash hash);                         // "none", "SHA-256", ...
std::optional<KeyHash> parseKeyHash(std::string_view word); // "none", "sha256", ...

/*
 * A secret of DH-HMAC-CHAP. Its text is "DHHC-1:HH:BASE64:", where HH is the hash function as two digits, and BASE64
 * has the secret followed by its CRC-32, little endian (NVMe Base 2.0, 8.13.5.8). A secret has 32, 48 or 64 bytes:
 * those of its hash function's output, if there is one.
 *
 * Messages of errors contain no part of the text.
 */
struct DhchapSecret {
	KeyHash hash = KeyHash::none;
	SecretBytes secret;

	// @text without blanks or a newline around it. Errors: invalid.
	static nvmeof::Result<DhchapSecret> parse(std::string_view text);
	// A random one. @length: bytes; 0: that of the hash function, or 32. Errors: invalid, if they do not match.
	static nvmeof::Result<DhchapSecret> generate(KeyHash hash, std::size_t length = 0);
	SecretBytes format() const; // its text
};

// A configured pre-shared key of TLS: "NVMeTLSkey-1:HH:BASE64:" (NVMe TCP 1.0, 3.6.1.5). HH is 01 for SHA-256 and 32
// bytes, 02 for SHA-384 and 48 bytes, 00 for 32 or 48 bytes that are used without a transformation by the host NQN.
struct TlsPsk {
	KeyHash hash = KeyHash::sha256;
	SecretBytes secret;

	static nvmeof::Result<TlsPsk> parse(std::string_view text);
	static nvmeof::Result<TlsPsk> generate(KeyHash hash, std::size_t length = 0);
	SecretBytes format() const;
};

// Whether @text begins like the text of a TLS PSK; parse() may reject the rest.
bool looksLikeTlsPsk(std::string_view text);
// Whether @text has the text of a secret in it, or the beginning of one. Such text must not be displayed.
bool containsSecret(std::string_view text);

} // namespace nofctl
