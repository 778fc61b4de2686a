// SPDX-License-Identifier: LGPL-2.1-or-later
// The key of secure channel concatenation, against values of Python:
//   H = lambda key, data: hmac.new(key, data, "sha256").digest()
//   psk = H(session, ctrl + host); digest = base64.b64encode(H(psk, b"HOSTNQN SUBSYSNQN NVMe-over-Fabrics"))
//   info = bytes([0, 32, 18]) + b"tls13 nvme-tls-psk" + bytes([47]) + b"01 " + digest
//   key = H(H(bytes(32), psk), info + b"\1")
#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <vector>

#include <openssl/evp.h>

#include "libctl/keys/tls_psk.h"

extern "C" {
#include "wire/tls_psk.h"
}

namespace {

using Octets = std::vector<u8>;

constexpr const char *hostnqn = "nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555";
constexpr const char *subsysnqn = "nqn.2024-01.com.example:flash1";

struct Known {
	u8 hash;
	std::size_t length;
	const char *digest, *key;
};

const Known known[] = {
	{1, 32, "sxpIP/cCnvG8OJFkshZcsxNXrL5MyRXDiWZBNvKPRPo=",
	 "33c67a9c3fbdf8faee9fcaf5155e57e73d3ef7e3243bd502f1c14ed66fea09ec"},
	{2, 48, "TwmSMpMs0dzkjTYjM83BjFUbwUrJY+gEkVoONEBvhO+dwkCh7pUUn3fqS1cI/1iC",
	 "016ccc45528bcb0f1e878c7edac056773b9fa27932b34a6205b7fba002ea6f4bd9aa45076c3af6ad03f979da62ab1a0f"},
};

Octets steps(std::size_t length, unsigned first, unsigned step)
{
	Octets bytes;
	for (std::size_t i = 0; i < length; i++)
		bytes.push_back(static_cast<u8>(first + i * step));
	return bytes;
}

std::string hexOf(const u8 *bytes, std::size_t length)
{
	std::string text;
	for (std::size_t i = 0; i < length; i++)
		for (const int digit : {bytes[i] >> 4, bytes[i] & 15})
			text += "0123456789abcdef"[digit];
	return text;
}

int calls, failAt;

int opensslHmac(void *context, const u8 *key, u32 keyLength, const void *data, u32 length, u8 *out)
{
	std::size_t size = 0;
	if (++calls == failAt)
		return -ENOMEM;
	REQUIRE(EVP_Q_mac(nullptr, "HMAC", nullptr, static_cast<const char *>(context), nullptr, key, keyLength,
			  static_cast<const u8 *>(data), length, out, EVP_MAX_MD_SIZE, &size));
	return 0;
}

struct Input {
	Octets session, ctrl, host;
	nof_tls_psk_source source{};

	explicit Input(u8 hash, std::size_t length)
		: session(steps(length, 1, 1)), ctrl(steps(length, 3, 5)), host(steps(length, 7, 11))
	{
		calls = failAt = 0;
		source.hash = hash;
		source.session = session.data();
		source.ctrl_challenge = ctrl.data();
		source.host_challenge = host.data();
		source.hostnqn = hostnqn;
		source.subsysnqn = subsysnqn;
		source.hmac = opensslHmac;
		source.context = const_cast<char *>(hash == 1 ? "SHA256" : "SHA384");
	}
};

bool erased(const nof_tls_psk &psk)
{
	const nof_tls_psk zero{};
	return std::memcmp(&psk, &zero, sizeof(psk)) == 0;
}

} // namespace

TEST_CASE("TLS key of concatenation: key and identity agree with another implementation")
{
	for (const Known &is : known) {
		INFO(int(is.hash));
		const Input in(is.hash, is.length);
		nof_tls_psk psk;
		REQUIRE(nof_tls_psk_generate(&in.source, &psk) == 0);
		CHECK(psk.len == is.length);
		CHECK(hexOf(psk.key, psk.len) == is.key);
		CHECK(std::string(psk.identity) ==
		      "NVMe1G0" + std::to_string(is.hash) + " " + hostnqn + " " + subsysnqn + " " + is.digest);
		// the target's side
		const auto other = nofctl::generateTlsPsk(static_cast<nofctl::KeyHash>(is.hash), in.session, in.ctrl,
							  in.host, hostnqn, subsysnqn);
		REQUIRE(other);
		CHECK(other->identity == psk.identity);
		CHECK(hexOf(other->secret.bytes().data(), other->secret.size()) == is.key);
	}
}

TEST_CASE("TLS key of concatenation: each input matters")
{
	nof_tls_psk first, psk;
	Input in(1, 32);
	REQUIRE(nof_tls_psk_generate(&in.source, &first) == 0);
	for (Octets Input::*part : {&Input::session, &Input::ctrl, &Input::host}) {
		(in.*part)[31] ^= 1;
		REQUIRE(nof_tls_psk_generate(&in.source, &psk) == 0);
		CHECK(std::string(psk.identity) != first.identity);
		CHECK(std::memcmp(psk.key, first.key, sizeof(psk.key)) != 0);
		(in.*part)[31] ^= 1;
	}
	// the challenges are not interchangeable
	std::swap(in.source.ctrl_challenge, in.source.host_challenge);
	REQUIRE(nof_tls_psk_generate(&in.source, &psk) == 0);
	CHECK(std::memcmp(psk.key, first.key, sizeof(psk.key)) != 0);
}

TEST_CASE("TLS key of concatenation: the longest names fit, longer ones and SHA-512 are refused")
{
	Input in(2, 48);
	const std::string longest(NOF_TLS_NQN_MAX, 'n'), longer = longest + "n";
	nof_tls_psk psk;
	in.source.hostnqn = in.source.subsysnqn = longest.c_str();
	REQUIRE(nof_tls_psk_generate(&in.source, &psk) == 0);
	CHECK(std::strlen(psk.identity) == NOF_TLS_IDENTITY_MAX);
	const auto other =
		nofctl::generateTlsPsk(nofctl::KeyHash::sha384, in.session, in.ctrl, in.host, longest, longest);
	REQUIRE(other);
	CHECK(other->identity == psk.identity);
	in.source.hostnqn = longer.c_str();
	CHECK(nof_tls_psk_generate(&in.source, &psk) == -EINVAL);
	CHECK(erased(psk));
	in.source.hostnqn = hostnqn;
	for (const u8 hash : {0, 3, 4, 255}) {
		in.source.hash = hash;
		CHECK_FALSE(nof_tls_psk_possible(hash));
		CHECK(nof_tls_psk_generate(&in.source, &psk) == -EINVAL);
	}
	CHECK(nof_tls_psk_possible(1));
	CHECK(nof_tls_psk_possible(2));
}

TEST_CASE("TLS key of concatenation: an error of the hash function leaves nothing behind")
{
	for (int at = 1; at <= 4; at++) {
		Input in(1, 32);
		nof_tls_psk psk;
		failAt = at;
		CHECK(nof_tls_psk_generate(&in.source, &psk) == -ENOMEM);
		CHECK(calls == at);
		CHECK(erased(psk));
	}
}
