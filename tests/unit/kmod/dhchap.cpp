// SPDX-License-Identifier: LGPL-2.1-or-later
// Messages of DH-HMAC-CHAP, with bytes written down from NVMe Base 2.0, 8.13.5
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "libctl/keys/dhchap.h"

extern "C" {
#include "wire/dhchap.h"
}

namespace {

using Bytes = std::vector<u8>;

constexpr u8 allHashes = 0x0e, allGroups = 0x3f;

nof_dhchap begun(bool mutual = false)
{
	nof_dhchap d{};
	d.transaction = 0x1234;
	d.hashes = allHashes;
	d.groups = allGroups;
	d.mutual = mutual;
	return d;
}

// Bytes of a DH value, by group
constexpr std::array<u32, 6> dhLengths{0, 256, 384, 512, 768, 1024};

void append(Bytes &to, std::size_t count, u8 first)
{
	for (std::size_t i = 0; i < count; i++)
		to.push_back(static_cast<u8>(first + i));
}

Bytes challenge(u8 hash, u8 group)
{
	const u32 hashLength = nof_dhchap_hash_len(hash), dhLength = dhLengths.at(group);
	Bytes m{1,
		1,
		0,
		0,
		0x34,
		0x12,
		static_cast<u8>(hashLength),
		0,
		hash,
		group,
		static_cast<u8>(dhLength),
		static_cast<u8>(dhLength >> 8),
		0x78,
		0x56,
		0x34,
		0x12};
	append(m, hashLength, 1);
	append(m, dhLength, 7);
	return m;
}

Bytes success1(u32 hashLength, bool valid)
{
	Bytes m{1, 3, 0, 0, 0x34, 0x12, static_cast<u8>(hashLength), 0, valid, 0, 0, 0, 0, 0, 0, 0};
	append(m, hashLength, 0x40);
	return m;
}

Bytes failure1(u8 reason)
{
	return {0, 0xf1, 0, 0, 0x34, 0x12, 1, reason};
}

// From memory that ends with the message, so that sanitizers detect a read past its end
nof_dhchap_step receive(nof_dhchap &d, const Bytes &message)
{
	auto copy = std::make_unique<u8[]>(message.size());
	std::copy(message.begin(), message.end(), copy.get());
	return nof_dhchap_receive(&d, copy.get(), static_cast<u32>(message.size()));
}

template <typename Build> Bytes built(Build build)
{
	auto buffer = std::make_unique<u8[]>(NOF_DHCHAP_MESSAGE_MAX);
	std::fill_n(buffer.get(), NOF_DHCHAP_MESSAGE_MAX, u8(0xee));
	const u32 length = build(buffer.get());
	return {buffer.get(), buffer.get() + length};
}

Bytes reply(nof_dhchap &d)
{
	return built([&](void *to) { return nof_dhchap_reply(&d, to); });
}

std::string parse(std::string text, nof_dhchap_secret &secret)
{
	auto copy = std::make_unique<char[]>(text.size());
	std::copy(text.begin(), text.end(), copy.get());
	const char *why = nof_dhchap_parse_secret(copy.get(), text.size(), &secret);
	return why ? why : "";
}

// Secrets of bytes 0, 1, 2, ...; encoded by Python's base64 and zlib
const std::string
	secret32 = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:",
	secret48 = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vcSEgBQ==:",
	secret64 = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+P4zODhA=:";

} // namespace

TEST_CASE("DH-HMAC-CHAP: secrets are decoded")
{
	nof_dhchap_secret secret;
	const struct {
		std::string text;
		u8 hash;
		u8 length;
	} good[] = {
		{"DHHC-1:00:" + secret32, 0, 32},        {"DHHC-1:01:" + secret32, 1, 32},
		{"DHHC-1:02:" + secret48, 2, 48},        {"DHHC-1:03:" + secret64, 3, 64},
		{"DHHC-1:00:" + secret64 + "\n", 0, 64}, {"DHHC-1:00:" + secret48 + std::string("\n\0", 2), 0, 48},
	};
	for (const auto &one : good) {
		INFO(one.text);
		CHECK(parse(one.text, secret).empty());
		CHECK(secret.hash == one.hash);
		REQUIRE(secret.len == one.length);
		for (u8 i = 0; i < secret.len; i++)
			CHECK(secret.key[i] == i);
	}
}

TEST_CASE("DH-HMAC-CHAP: other texts are refused, and leave nothing behind")
{
	const std::string bad[] = {
		"",
		":",
		"DHHC-1:00:",
		"DHHC-1:00::",
		"DHHC-1:04:" + secret32,
		"DHHC-1:0:" + secret32,
		"DHHC-1:10:" + secret32,
		"DHHC-2:00:" + secret32,
		"dhhc-1:00:" + secret32,
		"DHHC-1:02:" + secret32, // 48 bytes are required
		"DHHC-1:00:" + secret32.substr(0, secret32.size() - 1),
		"DHHC-1:00:" + secret32.substr(1),
		"DHHC-1:00:" + secret32 + ":",
		"DHHC-1:00: " + secret32,
		"DHHC-1:00:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8AAAAA:",             // wrong checksum
		"DHHC-1:00:BAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:",             // mistyped
		"DHHC-1:00:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJzwupg0=:", // 40 bytes
		"DHHC-1:00:AAECAwQFBgcICQoLDA0O\nxAREhMUFRYXGBkaGxwdHh+KfiaR:",
		"DHHC-1:02:" + secret48.substr(0, secret48.size() - 4) + "Q===:",
		"DHHC-1:02:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vcSEgBR==:", // stray bits
		"DHHC-1:00:" + std::string(5000, 'A') + ":",
	};
	for (const std::string &text : bad) {
		INFO(text);
		nof_dhchap_secret secret;
		CHECK_FALSE(parse(text, secret).empty());
		CHECK(secret.hash == 0);
		CHECK(secret.len == 0);
		CHECK(std::all_of(std::begin(secret.key), std::end(secret.key), [](u8 byte) { return !byte; }));
	}
}

TEST_CASE("DH-HMAC-CHAP: the negotiation offers what is supported")
{
	nof_dhchap d = begun();
	Bytes expected{0, 0, 0, 0, 0x34, 0x12, 0, 1, 1, 0, 3, 6};
	expected.resize(12 + 60);
	std::iota(expected.begin() + 12, expected.begin() + 15, u8(1));
	std::iota(expected.begin() + 42, expected.begin() + 48, u8(0));
	CHECK(built([&](void *to) { return nof_dhchap_negotiate(&d, to); }) == expected);
	d.hashes = 0x08;
	d.groups = 0x21;
	Bytes few{0, 0, 0, 0, 0x34, 0x12, 0, 1, 1, 0, 1, 2, 3};
	few.resize(12 + 60);
	few[12 + 30 + 1] = 5;
	CHECK(built([&](void *to) { return nof_dhchap_negotiate(&d, to); }) == few);
}

TEST_CASE("DH-HMAC-CHAP: secure channel concatenation is asked for, and needs a DH group")
{
	nof_dhchap d = begun();
	d.channel = NOF_DHCHAP_NEW_TLS_PSK;
	const Bytes m = built([&](void *to) { return nof_dhchap_negotiate(&d, to); });
	CHECK(m.at(6) == 2);
	CHECK(receive(d, challenge(1, 0)) == NOF_DHCHAP_FAILED);
	CHECK(d.reason == 5);
	CHECK(std::string(d.why).find("secure channel concatenation needs") != std::string::npos);
	CHECK(receive(d, challenge(1, 1)) == NOF_DHCHAP_SEND_REPLY);
}

TEST_CASE("DH-HMAC-CHAP: secure channel concatenation without a proof of the controller")
{
	nof_dhchap d = begun();
	d.channel = NOF_DHCHAP_NEW_TLS_PSK;
	REQUIRE(receive(d, challenge(1, 1)) == NOF_DHCHAP_SEND_REPLY);
	d.own_seq = 0x01020304;
	std::fill_n(d.own_challenge, 32, 0x5a);
	const Bytes m = built([&](void *to) { return nof_dhchap_reply(&d, to); });
	CHECK(m.at(8) == 1);                                             // CVALID
	CHECK(std::all_of(&m[12], &m[16], [](u8 c) { return c == 0; })); // SEQNUM
	CHECK(std::all_of(&m[16 + 32], &m[16 + 64], [](u8 c) { return c == 0x5a; }));
	CHECK(receive(d, success1(0, false)) == NOF_DHCHAP_DONE);
}

TEST_CASE("DH-HMAC-CHAP: an authentication of the host, with each hash function and group")
{
	for (u8 hash = 1; hash <= 3; hash++)
		for (u8 group = 0; group <= 5; group++) {
			nof_dhchap d = begun();
			REQUIRE(receive(d, challenge(hash, group)) == NOF_DHCHAP_SEND_REPLY);
			CHECK(d.hash == hash);
			CHECK(d.group == group);
			CHECK(d.seq == 0x12345678);
			REQUIRE(d.hash_len == 16U + 16U * hash);
			REQUIRE(d.dh_len == dhLengths.at(group));
			CHECK(d.challenge[d.hash_len - 1] == d.hash_len);
			if (d.dh_len)
				CHECK(d.dh[d.dh_len - 1] == static_cast<u8>(7 + d.dh_len - 1));
			std::memset(d.response, 0xaa, sizeof(d.response));
			std::memset(d.own_dh, 0xbb, sizeof(d.own_dh));
			Bytes expected{1,
				       2,
				       0,
				       0,
				       0x34,
				       0x12,
				       static_cast<u8>(d.hash_len),
				       0,
				       0,
				       0,
				       static_cast<u8>(d.dh_len),
				       static_cast<u8>(d.dh_len >> 8),
				       0,
				       0,
				       0,
				       0};
			expected.resize(16 + d.hash_len, 0xaa);
			expected.resize(16 + 2 * d.hash_len, 0);
			expected.resize(16 + 2 * d.hash_len + d.dh_len, 0xbb);
			CHECK(reply(d) == expected);
			CHECK(receive(d, success1(d.hash_len, false)) == NOF_DHCHAP_DONE);
		}
}

TEST_CASE("DH-HMAC-CHAP: a mutual authentication")
{
	nof_dhchap d = begun(true);
	REQUIRE(receive(d, challenge(1, 0)) == NOF_DHCHAP_SEND_REPLY);
	std::memset(d.response, 0xaa, sizeof(d.response));
	std::memset(d.own_challenge, 0xcc, sizeof(d.own_challenge));
	d.own_seq = 0x01020304;
	Bytes expected{1, 2, 0, 0, 0x34, 0x12, 32, 0, 1, 0, 0, 0, 4, 3, 2, 1};
	expected.resize(16 + 32, 0xaa);
	expected.resize(16 + 64, 0xcc);
	CHECK(reply(d) == expected);
	REQUIRE(receive(d, success1(32, true)) == NOF_DHCHAP_CHECK_RESPONSE);
	CHECK(d.peer_response[0] == 0x40);
	CHECK(d.peer_response[31] == 0x5f);
	Bytes success{1, 4, 0, 0, 0x34, 0x12};
	success.resize(16);
	CHECK(built([&](void *to) { return nof_dhchap_success2(&d, to); }) == success);
	CHECK(built([&](void *to) { return nof_dhchap_failure2(&d, 1, to); }) ==
	      Bytes{0, 0xf0, 0, 0, 0x34, 0x12, 1, 1});
}

TEST_CASE("DH-HMAC-CHAP: a controller that should prove its identity has to")
{
	nof_dhchap d = begun(true);
	REQUIRE(receive(d, challenge(1, 0)) == NOF_DHCHAP_SEND_REPLY);
	reply(d);
	CHECK_FALSE(d.no_proof);
	CHECK(receive(d, success1(32, false)) == NOF_DHCHAP_FAILED);
	CHECK(d.reason == 1);
	CHECK(d.no_proof);
	CHECK(d.why ==
	      std::string("the controller does not prove its identity: it has no secret of its own for this host"));
	Bytes cut = success1(32, true);
	cut.pop_back();
	CHECK(receive(d, cut) == NOF_DHCHAP_FAILED);
	CHECK(d.reason == 6);
}

TEST_CASE("DH-HMAC-CHAP: the controller may choose only what was offered")
{
	nof_dhchap d = begun();
	d.hashes = 0x0c;
	d.groups = 0x3e; // not NULL
	CHECK(receive(d, challenge(1, 1)) == NOF_DHCHAP_FAILED);
	CHECK(d.reason == 4);
	CHECK(receive(d, challenge(2, 0)) == NOF_DHCHAP_FAILED);
	CHECK(d.reason == 5);
	for (u8 hash : {0, 4, 8, 0xff}) {
		Bytes m = challenge(2, 1);
		m[8] = hash;
		CHECK(receive(d, m) == NOF_DHCHAP_FAILED);
		CHECK(d.hash == hash);
		CHECK(d.reason == 4);
	}
	for (u8 group : {6, 8, 31, 32, 0xff}) {
		Bytes m = challenge(2, 1);
		m[9] = group;
		CHECK(receive(d, m) == NOF_DHCHAP_FAILED);
		CHECK(d.group == group);
		CHECK(d.reason == 5);
	}
	CHECK_FALSE(d.replied);
}

TEST_CASE("DH-HMAC-CHAP: lengths have to fit, and a message may not be cut short")
{
	nof_dhchap d = begun();
	const Bytes whole = challenge(3, 5);
	for (std::size_t length = 0; length < whole.size(); length++)
		CHECK(receive(d, Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length))) ==
		      NOF_DHCHAP_FAILED);
	for (std::size_t at : {std::size_t(6), std::size_t(10), std::size_t(11)}) { // HL and DHVLEN
		Bytes m = whole;
		m[at]++;
		m.resize(m.size() + 600);
		CHECK(receive(d, m) == NOF_DHCHAP_FAILED);
		CHECK(d.reason == 6);
	}
	Bytes padded = whole;
	padded.resize(NOF_DHCHAP_MESSAGE_MAX);
	CHECK(receive(d, padded) == NOF_DHCHAP_SEND_REPLY);
}

TEST_CASE("DH-HMAC-CHAP: a DH value that makes the shared secret known is refused")
{
	for (u8 group = 1; group <= 5; group++) {
		nof_dhchap d = begun();
		const Bytes usual = challenge(1, group);
		const auto first = usual.begin() + 16 + 32;
		auto with = [&](u8 most, u8 last) {
			Bytes m = usual;
			std::fill(m.begin() + (first - usual.begin()), m.end(), most);
			m.back() = last;
			return m;
		};
		Bytes large = usual, largest = usual; // with the first 64 bits of the prime, and with 56 of them
		std::fill_n(large.begin() + (first - usual.begin()), 8, 0xff);
		std::fill_n(largest.begin() + (first - usual.begin()), 7, 0xff);
		for (const Bytes &weak :
		     {with(0, 0), with(0, 1), with(0xff, 0xfd), with(0xff, 0xfe), with(0xff, 0xff), large}) {
			CHECK(receive(d, weak) == NOF_DHCHAP_FAILED);
			CHECK(d.reason == 6);
		}
		for (const Bytes &fine : {with(0, 2), with(0xfe, 0xff), with(0x80, 0), largest})
			CHECK(receive(d, fine) == NOF_DHCHAP_SEND_REPLY);
	}
}

TEST_CASE("DH-HMAC-CHAP: only the expected message of this transaction is accepted")
{
	nof_dhchap d = begun();
	Bytes other = challenge(1, 0);
	other[4]++;
	CHECK(receive(d, other) == NOF_DHCHAP_FAILED);
	CHECK(d.reason == 7);
	CHECK(receive(d, success1(32, true)) == NOF_DHCHAP_FAILED); // before the reply
	CHECK(d.reason == 7);
	REQUIRE(receive(d, challenge(1, 0)) == NOF_DHCHAP_SEND_REPLY);
	reply(d);
	CHECK(receive(d, challenge(1, 0)) == NOF_DHCHAP_FAILED); // a second challenge
	CHECK(d.reason == 7);
	CHECK(receive(d, Bytes(NOF_DHCHAP_MESSAGE_MAX)) == NOF_DHCHAP_FAILED);
	CHECK(receive(d, success1(48, true)) == NOF_DHCHAP_FAILED); // length of another hash function
	CHECK(d.reason == 6);
	CHECK(receive(d, success1(0, false)) == NOF_DHCHAP_DONE); // without a response, the length has no meaning
}

TEST_CASE("DH-HMAC-CHAP: the controller refuses")
{
	nof_dhchap d = begun();
	CHECK(receive(d, failure1(1)) == NOF_DHCHAP_REFUSED);
	CHECK(d.reason == 1);
	CHECK(nof_dhchap_reason(d.reason) == std::string("wrong secret"));
	REQUIRE(receive(d, challenge(1, 0)) == NOF_DHCHAP_SEND_REPLY);
	reply(d);
	Bytes unknown = failure1(0xee);
	unknown[4] = 0xff; // another transaction
	CHECK(receive(d, unknown) == NOF_DHCHAP_REFUSED);
	CHECK(nof_dhchap_reason(d.reason) == std::string("unknown reason"));
	unknown.resize(6);
	CHECK(receive(d, unknown) == NOF_DHCHAP_REFUSED);
	CHECK(d.reason == 0);
}

TEST_CASE("DH-HMAC-CHAP: names and lengths, also of unknown identifiers")
{
	CHECK(nof_dhchap_hash_len(0) == 0);
	CHECK(nof_dhchap_hash_len(4) == 0);
	CHECK(nof_dhchap_hash_name(2) == std::string("SHA-384"));
	CHECK(nof_dhchap_hash_name(0xff) == std::string("?"));
	CHECK(nof_dhchap_group_name(0) == std::string("NULL"));
	CHECK(nof_dhchap_group_name(5) == std::string("ffdhe8192"));
	CHECK(nof_dhchap_group_name(6) == std::string("?"));
}

// ---- against the controller that nvmeof-cdc and the test target are

namespace {

struct BothRoles {
	explicit BothRoles(u8 hash, u8 group, bool mutual, const std::string &hostsSecret)
		: controller({{hash}, {group}}, secrets, hostnqn, subsysnqn), host(begun(mutual)),
		  hostsSecret(hostsSecret)
	{
	}

	// The host computes its response as the driver does by the crypto API.
	void respond()
	{
		std::vector<std::uint8_t> sessionKey;
		if (host.dh_len) {
			const nofctl::DhKey key(host.group);
			const auto shared = key.sharedSecret({host.dh, host.dh_len});
			REQUIRE(shared);
			sessionKey = nofctl::dhchapDigest(host.hash, shared->bytes());
			std::ranges::copy(key.publicValue(), host.own_dh);
		}
		host.own_seq = 7;
		std::fill_n(host.own_challenge, host.hash_len, 0x5a);
		const auto response = nofctl::dhchapResponse(
			{hostsSecret, hostnqn, subsysnqn, "HostHost", {host.challenge, host.hash_len}, host.seq},
			host.hash, host.transaction, sessionKey);
		std::ranges::copy(response, host.response);
		expected = nofctl::dhchapResponse({ctrlSecret,
						   subsysnqn,
						   hostnqn,
						   "Controller",
						   {host.own_challenge, host.hash_len},
						   host.own_seq},
						  host.hash, host.transaction, sessionKey);
	}
	// The step of the host after the controller's next message
	nof_dhchap_step next()
	{
		const auto message = controller.next();
		REQUIRE(message);
		return receive(host, *message);
	}
	bool authenticate()
	{
		controller.take(built([&](void *to) { return nof_dhchap_negotiate(&host, to); }));
		if (next() != NOF_DHCHAP_SEND_REPLY)
			return false;
		respond();
		controller.take(reply(host));
		const nof_dhchap_step step = next();
		if (step != NOF_DHCHAP_CHECK_RESPONSE)
			return step == NOF_DHCHAP_DONE;
		if (!std::equal(expected.begin(), expected.end(), host.peer_response))
			return false;
		controller.take(built([&](void *to) { return nof_dhchap_success2(&host, to); }));
		return true;
	}

	static inline const std::string hostSecret = "DHHC-1:01:" + secret32, ctrlSecret = "DHHC-1:00:" + secret32,
					hostnqn = "nqn.host", subsysnqn = "nqn.subsystem";
	const std::shared_ptr<const nofctl::DhchapSecrets> secrets =
		std::make_shared<nofctl::DhchapSecrets>(nofctl::DhchapSecrets{hostSecret, ctrlSecret});
	nofctl::Dhchap controller;
	nof_dhchap host;
	std::string hostsSecret;
	std::vector<std::uint8_t> expected;
};

} // namespace

TEST_CASE("DH-HMAC-CHAP: the driver's host and the library's controller authenticate each other")
{
	for (u8 hash = 1; hash <= 3; hash++)
		for (u8 group = 0; group < 6; group++)
			for (bool mutual : {false, true}) {
				CAPTURE(int(hash), int(group), mutual);
				BothRoles both(hash, group, mutual, BothRoles::hostSecret);
				CHECK(both.authenticate());
				CHECK(both.controller.step() == nofctl::Dhchap::Step::done);
				CHECK(both.controller.authenticated());
			}
	BothRoles wrong(1, 1, false, BothRoles::ctrlSecret);
	CHECK_FALSE(wrong.authenticate());
	CHECK_FALSE(wrong.controller.authenticated());
	CHECK(wrong.host.reason == 1);
}
