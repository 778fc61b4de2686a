// SPDX-License-Identifier: LGPL-2.1-or-later
#include "libctl/base/hex.h"
#include "peer.h"

using namespace tlsd_test;

namespace {

SecretBytes fromHex(const std::string &text)
{
	SecretBytes bytes(text.size() / 2);
	for (std::size_t i = 0; i < bytes.size(); i++)
		bytes.data()[i] = static_cast<std::uint8_t>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
	return bytes;
}

} // namespace

// RFC 8448, 3: the server's handshake traffic secret, and both application traffic secrets
TEST_CASE("keys and IVs of RFC 8448", "[record_keys]")
{
	struct Vector {
		const char *secret, *key, *iv;
	};
	const Vector vectors[] = {
		{"b67b7d690cc16c4e75e54213cb2d37b4e9c912bcded9105d42befd59d391ad38", "3fce516009c21727d0f2e4e86ee403bc",
		 "5d313eb2671276ee13000b30"},
		{"9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5", "17422dda596ed5d9acd890e3c63f5051",
		 "5b78923dee08579033e523d9"},
		{"a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643", "9f02283b6c9c07efc26bb9f2ac92e356",
		 "cf782b88dd83549aadf1e984"},
	};
	for (const Vector &vector : vectors) {
		const Result<RecordKeys> keys =
			RecordKeys::derive(RecordCipher::aes128Gcm, KeyHash::sha256, fromHex(vector.secret));
		REQUIRE(keys);
		CHECK(nofctl::toHex(keys->key.bytes()) == vector.key);
		CHECK(nofctl::toHex(keys->iv.bytes()) == vector.iv);
	}
}

// The label "finished", with the same secret: RFC 8448, 3
TEST_CASE("expanding another label gives other bytes", "[record_keys]")
{
	const SecretBytes secret = fromHex("b67b7d690cc16c4e75e54213cb2d37b4e9c912bcded9105d42befd59d391ad38");
	const Result<SecretBytes> finished = expandLabel(KeyHash::sha256, secret, "finished", 32);
	REQUIRE(finished);
	CHECK(nofctl::toHex(finished->bytes()) == "008d3b66f816ea559f96b537e885c31fc068bf492c652f01f288a1d8cdc19fc8");
}

TEST_CASE("cipher suites that the kernel knows", "[record_keys]")
{
	CHECK(recordCipherOf(0x1301) == RecordCipher::aes128Gcm);
	CHECK(recordCipherOf(0x1302) == RecordCipher::aes256Gcm);
	CHECK(recordCipherOf(0x1303) == RecordCipher::chacha20Poly1305);
	CHECK(recordCipherOf(0x1304) == std::nullopt);
	CHECK(recordCipherOf(0) == std::nullopt);
}

TEST_CASE("a socket that cannot have kTLS is an error that says what to do", "[record_keys]")
{
	Pair pair;
	Result<RecordKeys> send = RecordKeys::derive(RecordCipher::aes128Gcm, KeyHash::sha256, secretOf(32));
	Result<RecordKeys> receive = RecordKeys::derive(RecordCipher::aes128Gcm, KeyHash::sha256, secretOf(32));
	const Result<void> installed = installKeys(
		pair.one.get(), {RecordCipher::aes128Gcm, std::move(send).value(), std::move(receive).value()});
	REQUIRE(!installed);
	CHECK(installed.error().message.find("modprobe tls") != std::string::npos);
}
