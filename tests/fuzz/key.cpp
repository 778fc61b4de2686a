// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: the text of a key of DH-HMAC-CHAP or TLS, also as the source of a key, and bytes that become a key.
#include "input.h"

#include "libctl/base/base64.h"
#include "libctl/keys/source.h"
#include "libctl/keys/tls_psk.h"

using namespace nofctl;
using nvmeof::Error;
using nvmeof::ErrorCode;
using nvmeof::Result;

namespace {

// A message must not contain a part of a secret: of 16 digits of base64, as no word of a message is that long.
void checkRefusal(const Error &error, std::string_view text)
{
	constexpr std::size_t length = 16;
	expect(error.code == ErrorCode::invalid && !error.message.empty(), "a reason");
	for (std::size_t at = 0; at + length <= text.size(); at++) {
		const std::string_view piece = text.substr(at, length);
		if (ofBase64(piece))
			expect(error.message.find(piece) == std::string::npos, "no message has a secret");
	}
}

template <typename T> void parse(std::string_view text)
{
	Result<T> key = T::parse(text);
	if (!key)
		return;
	const std::size_t size = key->secret.size();
	expect(size == 32 || size == 48 || size == 64, "a key has one of three lengths");
	expect(key->format().text() == text, "a key is written as it was read");
	expect(containsSecret(text), "the text of a key is recognized");
}

void source(std::string_view text)
{
	Result<KeySource> source = KeySource::parse(text);
	if (!source)
		return checkRefusal(source.error(), text);
	expect(!containsSecret(text), "a secret is no source");
	expect(oneWord(text) || TlsIdentity::parse(source->name()),
	       "a source is one word, or the identity of a TLS key");
	expect(source->toString() == text, "a source is written as it was read");
}

template <typename T> void format(Bytes bytes, KeyHash hash, std::size_t size)
{
	T key{hash, SecretBytes(size)};
	std::ranges::copy(bytes.first(std::min(bytes.size(), size)), key.secret.data());
	const SecretBytes text = key.format();
	Result<T> again = T::parse(text.text());
	expect(again && again->hash == hash, "a key that was written can be read");
	expect(again->secret.text() == key.secret.text(), "and is the same");
}

void keyLine(std::string_view text)
{
	if (Result<TlsIdentity> identity = TlsIdentity::parse(text))
		expect(identity->format() == text, "an identity is written as it was read");
	Result<DerivedPsk> psk = parseKeyLine(text);
	if (!psk)
		return checkRefusal(psk.error(), text);
	const SecretBytes line = formatKeyLine(*psk);
	Result<DerivedPsk> again = parseKeyLine(line.text());
	expect(again && again->identity == psk->identity && again->secret.text() == psk->secret.text(),
	       "a line that was written can be read");
}

} // namespace

void fuzz(Input in)
{
	const std::string_view text = in.text();
	parse<DhchapSecret>(text);
	parse<TlsPsk>(text);
	if (Result<DhchapSecret> key = DhchapSecret::parse(text); !key && text.starts_with("DHHC-1:"))
		checkRefusal(key.error(), text);
	source(text);
	keyLine(text);
	format<DhchapSecret>(in.rest(), KeyHash::none, 64);
	format<DhchapSecret>(in.rest(), KeyHash::sha256, 32);
	format<TlsPsk>(in.rest(), KeyHash::sha384, 48);
	if (const auto decoded = ofBase64(text))
		expect(toBase64(*decoded) == text, "base64 is written as it was read");
}
