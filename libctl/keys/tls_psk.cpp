// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tls_psk.h"

#include <algorithm>
#include <vector>

#include <openssl/evp.h>

#include <nvmeof/address.h>

#include "libctl/base/base64.h"
#include "hkdf.h"
#include "libctl/base/make_error.h"

namespace nofctl {

using nvmeof::Error;
using nvmeof::Result;

namespace {

constexpr std::size_t maxContext = 255; // HkdfLabel of RFC 8446, 7.1: a vector of at most 255 bytes

// The hash function of the TLS key, which also selects the cipher suite
KeyHash hashFor(const TlsPsk &configured)
{
	if (configured.hash != KeyHash::none)
		return configured.hash;
	return configured.secret.size() == 32 ? KeyHash::sha256 : KeyHash::sha384;
}

std::string hashNumber(KeyHash hash)
{
	return hash == KeyHash::sha256 ? "01" : "02";
}

std::string infoOf(HkdfLabel form, std::string_view name, std::string_view context, std::size_t length)
{
	if (form == HkdfLabel::rfc8446)
		return hkdfLabel(name, context, length);
	const char high = static_cast<char>(length >> 8), low = static_cast<char>(length & 0xff);
	return std::string{low, high} + "tls13 " + std::string(name) + std::string(context);
}

// HKDF-Expand-Label(HKDF-Extract(0, key), label, context, length of the key)
Result<SecretBytes> expand(KeyHash hash, const SecretBytes &key, const std::string &info)
{
	return hkdf(HkdfMode::extractAndExpand, hash, key, info, key.size());
}

Result<SecretBytes> retainedKey(const TlsPsk &configured, const std::string &hostnqn, HkdfLabel form)
{
	if (configured.hash != KeyHash::none)
		return expand(configured.hash, configured.secret,
			      infoOf(form, "HostNQN", hostnqn, configured.secret.size()));
	SecretBytes copy(configured.secret.size());
	std::ranges::copy(configured.secret.bytes(), copy.data());
	return copy;
}

Result<SecretBytes> hmacOf(KeyHash hash, std::span<const std::uint8_t> key, std::span<const std::uint8_t> data)
{
	SecretBytes mac(hashSize(hash));
	std::size_t size = 0;
	if (EVP_Q_mac(nullptr, "HMAC", nullptr, toString(hash), nullptr, key.data(), key.size(), data.data(),
		      data.size(), mac.data(), mac.size(), &size))
		return mac;
	Error error;
	error.message = std::string("OpenSSL cannot derive the TLS key: it has no HMAC with ") + toString(hash) +
			" here; see openssl.cnf";
	return error;
}

std::span<const std::uint8_t> bytesOf(std::string_view text)
{
	return {reinterpret_cast<const std::uint8_t *>(text.data()), text.size()};
}

// Base64 of HMAC(retained or generated key, "HOSTNQN SUBSYSNQN NVMe-over-Fabrics")
Result<std::string> digestOf(KeyHash hash, const SecretBytes &input, const std::string &nqns)
{
	const Result<SecretBytes> mac = hmacOf(hash, input.bytes(), bytesOf(nqns + " NVMe-over-Fabrics"));
	return mac ? Result<std::string>(toBase64(mac->text())) : Result<std::string>(mac.error());
}

// From a retained or generated key to that of TLS. @identity: without its digest
Result<DerivedPsk> deriveFrom(const SecretBytes &input, TlsIdentity identity, HkdfLabel label)
{
	std::string context = identity.format();
	if (identity.version == 0 && context.size() > maxContext)
		return invalidError("the NQNs of host and subsystem are too long for an identity of version 0: use "
				    "version 1");
	if (identity.version == 1) {
		Result<std::string> digest =
			digestOf(identity.hash, input, identity.hostnqn + " " + identity.subsysnqn);
		if (!digest)
			return digest.error();
		identity.digest = *std::move(digest);
		context = hashNumber(identity.hash) + " " + identity.digest;
	}
	Result<SecretBytes> secret = expand(identity.hash, input, infoOf(label, "nvme-tls-psk", context, input.size()));
	if (!secret)
		return secret.error();
	return DerivedPsk{identity.format(), *std::move(secret)};
}

// The word before the first blank of @rest, which then begins behind the blank
std::string_view nextWord(std::string_view &rest)
{
	const std::size_t end = std::min(rest.find(' '), rest.size());
	const std::string_view word = rest.substr(0, end);
	rest.remove_prefix(std::min(end + 1, rest.size()));
	return word;
}

} // namespace

Result<TlsIdentity> TlsIdentity::parse(std::string_view text)
{
	constexpr std::string_view start = "NVMe";
	auto wrong = [] {
		return invalidError("it is not the identity of a TLS key, NVMe1R01 HOSTNQN SUBSYSNQN DIGEST");
	};
	std::string_view rest = text;
	const std::string_view head = nextWord(rest);
	if (head.size() != start.size() + 4 || !head.starts_with(start))
		return wrong();
	TlsIdentity identity;
	const char version = head[4], kind = head[5];
	const std::string_view hash = head.substr(6);
	if ((version != '0' && version != '1') || (kind != 'R' && kind != 'G') || (hash != "01" && hash != "02"))
		return wrong();
	identity.version = static_cast<unsigned>(version - '0');
	identity.kind = kind;
	identity.hash = hash == "01" ? KeyHash::sha256 : KeyHash::sha384;
	identity.hostnqn = nextWord(rest);
	identity.subsysnqn = nextWord(rest);
	identity.digest = nextWord(rest);
	if (!nvmeof::checkNqn(identity.hostnqn) || !nvmeof::checkNqn(identity.subsysnqn) ||
	    identity.digest.empty() != (version == '0') || identity.format() != text)
		return wrong();
	if (version == '1' && identity.digest.size() != base64Size(hashSize(identity.hash)))
		return wrong();
	return identity;
}

std::string TlsIdentity::format() const
{
	return "NVMe" + std::to_string(version) + kind + hashNumber(hash) + " " + hostnqn + " " + subsysnqn +
	       (digest.empty() ? "" : " " + digest);
}

Result<DerivedPsk> parseKeyLine(std::string_view line)
{
	const std::size_t blank = line.rfind(' ');
	const Result<TlsIdentity> identity =
		TlsIdentity::parse(blank == line.npos ? std::string_view() : line.substr(0, blank));
	if (!identity)
		return invalidError("a line is not IDENTITY NVMeTLSkey-1:HH:BASE64:, as 'nvmeofctl key export' and "
				    "'nvme tls-key --export' write it");
	const std::string_view given = line.substr(blank + 1);
	constexpr std::string_view zero = "NVMeTLSkey-0:"; // nvme-cli puts the identity's version there
	SecretBytes text(given.size());
	std::ranges::copy(given, text.data());
	if (identity->version == 0 && given.starts_with(zero))
		text.data()[zero.size() - 2] = '1';
	Result<TlsPsk> key = TlsPsk::parse(text.text());
	if (!key)
		return key.error();
	if (key->hash != identity->hash)
		return invalidError("the hash functions of a key and its identity differ");
	return DerivedPsk{identity->format(), std::move(key->secret)};
}

SecretBytes formatKeyLine(const DerivedPsk &psk)
{
	TlsPsk key{psk.secret.size() == 32 ? KeyHash::sha256 : KeyHash::sha384, SecretBytes(psk.secret.size())};
	std::ranges::copy(psk.secret.bytes(), key.secret.data());
	const SecretBytes text = key.format();
	SecretBytes line(psk.identity.size() + 1 + text.size());
	std::uint8_t *at = std::ranges::copy(psk.identity + " ", line.data()).out;
	std::ranges::copy(text.bytes(), at);
	return line;
}

Result<DerivedPsk> deriveTlsPsk(const TlsPsk &configured, const std::string &hostnqn, const std::string &subsysnqn,
				unsigned version, HkdfLabel label)
{
	const Result<SecretBytes> retained = retainedKey(configured, hostnqn, label);
	if (!retained)
		return retained.error();
	return deriveFrom(*retained, {version, 'R', hashFor(configured), hostnqn, subsysnqn, ""}, label);
}

Result<DerivedPsk> generateTlsPsk(KeyHash hash, std::span<const std::uint8_t> sessionKey,
				  std::span<const std::uint8_t> ctrlChallenge,
				  std::span<const std::uint8_t> hostChallenge, const std::string &hostnqn,
				  const std::string &subsysnqn)
{
	std::vector<std::uint8_t> challenges(ctrlChallenge.begin(), ctrlChallenge.end());
	challenges.insert(challenges.end(), hostChallenge.begin(), hostChallenge.end());
	const Result<SecretBytes> generated = hmacOf(hash, sessionKey, challenges);
	if (!generated)
		return generated.error();
	return deriveFrom(*generated, {1, 'G', hash, hostnqn, subsysnqn, ""}, HkdfLabel::rfc8446);
}

} // namespace nofctl
