// SPDX-License-Identifier: LGPL-2.1-or-later
// Authentication by the target: its computations against values from another implementation, and the exchange with a
// host of a few lines. The values come from Python's hashlib, hmac and pow(), with the primes of RFC 7919.
#include "auth_client.h"

#include <catch2/catch.hpp>

using namespace target;

namespace {

std::string hex(std::span<const std::uint8_t> bytes)
{
	std::string text;
	for (auto b : bytes)
		for (auto digit : {b >> 4, b & 15})
			text += "0123456789abcdef"[digit];
	return text;
}

// first, first + step, ...
Bytes series(std::size_t length, unsigned first, unsigned step = 1)
{
	Bytes bytes(length);
	for (std::size_t i = 0; i < length; i++)
		bytes[i] = static_cast<std::uint8_t>(first + i * step);
	return bytes;
}

std::string digestOf(const Bytes &bytes)
{
	return hex(dhchapDigest(1, bytes));
}

struct GroupValues {
	std::uint8_t group;
	const char *publicValue, *shared; // SHA-256 of them
};

// Private values: bytes 1 to 32, and of the peer bytes 64 to 95
const GroupValues groupValues[] = {
	{1, "53b37a098c5882b9f56495d787706d354ac8ebc273e680a7047c70228ce24ad3",
	 "1a2779298de720be68fac0ee6673b6bd31bfde63f0e3d9c76c0523f1275c8243"},
	{2, "5ce6aecb28dab50aef2dd058a154cd16b913aab8e2d8dc2f8dc7a0cd3079b6e5",
	 "6c0a847c27937ef5afdd5ee24638f2bf04ce5c44fc6063a413f113c07dbf2e1b"},
	{3, "1d46e247a26f3855c1d0e01b4a689d19d0c093dff1bfd06aa3d6d7e74c6dfe98",
	 "e97200ffe1c1017afd9c2f2909a336945681c9e2f112bad6c5475b0063d5b9d5"},
	{4, "98da812b724379f0723ad2d443e14013082f84d1ed096f655e7513ebff5423e6",
	 "ba846f994d68d3cefd8a9c7a9eb6e802ed91fbe24f2f7d66bf9e62902ad4d42b"},
	{5, "a5a8eb7db74ad4e55cc3cb27c36b2231479a1a49349e4a474d795b19fa5a3b27",
	 "cb2316d9701b998df9517d4315a646bcef6949c6213f6920d2ad0e648c3c1707"},
};

struct ResponseValues {
	std::uint8_t hash, group;
	const char *host, *controller; // the first 16 bytes
};

const ResponseValues responseValues[] = {
	{1, 0, "25ed5287237839f9714666a6ae63ad3d", "d26b8cfedba3f227fdaa46e43a3efc89"},
	{1, 1, "b67afe0a6316a662f97da11031a15dca", "2aab2c500a0a6332e9248de50da707a0"},
	{1, 2, "614c7250a023dcc395e4a22e09a5c048", "90d640d910a93c32a8387a5f2d16329f"},
	{1, 3, "b852ad886a062023cec8b158f7cfb0b4", "78e569a6e019eddc0f43b51f697122d3"},
	{1, 4, "9705b23ad3c9e553dca712a9187fe6ac", "ffd8ff15ad8851ad58c42590b9851500"},
	{1, 5, "aff2523129d0d2be596141f06b4de3ca", "4841c146ecb13dc32aa71399e8f80dcc"},
	{2, 0, "a83b185d77f690b2ada3bdd886649453", "ce8f437bb729c81fa035ba890102a5ef"},
	{2, 1, "65173869c70816713dab147c933fd338", "160f100370235a01b44b1641aed5cbd7"},
	{2, 2, "b4fbdf2c4bedcac073a1acfbea0e5a48", "69ad2754fecb640bbdd30366ee7b4fa9"},
	{2, 3, "95b624b59ff3aa245026741d8c4cdc3a", "b02196359ad52701e0bb99377df77e2a"},
	{2, 4, "2792ef05ca1233157384d2b6f1c0ed35", "512cd2e7b78b6fd2caa04080161acef0"},
	{2, 5, "5d5c141c0e417b7c4b9c69882861adf0", "cb9d6020de9df3a9659c6a903dde7e55"},
	{3, 0, "5f00497e6b4c759879b738459521b578", "3d12564ec976f6bfda567c47075a6836"},
	{3, 1, "a7cf06faa4b162372199db09d46592ab", "733769d18aa8f58acfe48e7859465217"},
	{3, 2, "2a7e72cf55fa39fede37d17864507943", "9c0d8db998dce621a2c1a8257cc72cab"},
	{3, 3, "1c202116a9212d87e0203a4a1d19e3cd", "f34ec3c05b1c2faab8eb312335c4e041"},
	{3, 4, "3db4ae114d1c73078834f5e7958b0819", "874d4ec452be1289fb03969485262dbd"},
	{3, 5, "4465bc143ed44f1ce27d1faa9cbfb249", "85088ca6ed36602e9acca776350aa42e"},
};

Bytes sharedOf(std::uint8_t group)
{
	auto shared = DhKey(group, series(32, 1)).sharedSecret(DhKey(group, series(32, 64)).publicValue());
	REQUIRE(shared);
	return {shared->bytes().begin(), shared->bytes().end()};
}

Config authenticated(std::uint8_t hash = 1, std::uint8_t group = 0, bool mutual = false)
{
	Config config;
	config.authentication = Authentication{testHostSecret, mutual ? testCtrlSecret : "", hash, group};
	return config;
}

int statusRequired()
{
	return st_auth_required | st_dnr;
}

} // namespace

TEST_CASE("Diffie-Hellman: each group agrees with another implementation")
{
	for (auto &v : groupValues) {
		INFO("group " << int(v.group));
		CHECK(digestOf(DhKey(v.group, series(32, 1)).publicValue()) == v.publicValue);
		CHECK(digestOf(sharedOf(v.group)) == v.shared);
		DhKey one(v.group), two(v.group);
		CHECK(one.publicValue() != two.publicValue());
		CHECK(one.sharedSecret(two.publicValue())->text() == two.sharedSecret(one.publicValue())->text());
	}
}

TEST_CASE("Diffie-Hellman: leading zeroes of the shared secret are kept")
{
	auto own = series(32, 1);
	own[0] = 163;
	own[1] = 0;
	auto shared = DhKey(1, own).sharedSecret(DhKey(1, series(32, 64)).publicValue());
	REQUIRE(shared);
	CHECK(shared->bytes()[0] == 0);
	CHECK(hex(dhchapDigest(1, shared->bytes())) ==
	      "d42dcdd5bcba1cfc8ee403436a856d9304a5c8b7d866cfd74e9d189a02b24a5d");
}

TEST_CASE("Diffie-Hellman: public values that reveal the secret are refused")
{
	for (std::uint8_t group = 1; group < dhchapGroups; group++) {
		DhKey key(group);
		auto length = dhchapDhLength(group);
		auto prime = key.prime(), lessOne = prime, one = Bytes(length);
		lessOne.back() &= 0xfe;
		one.back() = 1;
		for (auto &value : {Bytes(length), one, lessOne, prime, Bytes(length, 0xff)})
			CHECK_FALSE(key.sharedSecret(value));
	}
}

TEST_CASE("DH-HMAC-CHAP: responses agree with another implementation, for each hash function and group")
{
	const Config config;
	const std::string &nqn = config.nqn;
	for (auto &v : responseValues) {
		INFO("hash " << int(v.hash) << ", group " << int(v.group));
		auto hl = dhchapHashLength(v.hash);
		Bytes key;
		if (v.group)
			key = dhchapDigest(v.hash, sharedOf(v.group));
		auto ofHost = series(hl, 1, 7), ofController = series(hl, 3, 5);
		auto host = dhchapResponse({testHostSecret, hostNqn, nqn, "HostHost", ofHost, 0x01020304}, v.hash,
					   0x0506, key);
		auto controller = dhchapResponse({testCtrlSecret, nqn, hostNqn, "Controller", ofController, 0x0a0b0c0d},
						 v.hash, 0x0506, key);
		CHECK(host.size() == hl);
		CHECK(hex(std::span(host).first(16)) == v.host);
		CHECK(hex(std::span(controller).first(16)) == v.controller);
	}
	CHECK(std::size(responseValues) == dhchapHashes * dhchapGroups);
}

TEST_CASE("DH-HMAC-CHAP: both responses cover the request for a secure channel")
{
	const Config config;
	const auto ofHost = series(32, 1, 7), ofController = series(32, 3, 5);
	const auto key = dhchapDigest(1, sharedOf(1));
	const nofctl::DhchapSide host{testHostSecret, hostNqn,    config.nqn,        "HostHost",
				      ofHost,         0x01020304, dhchap_new_tls_psk},
		controller{testCtrlSecret, config.nqn, hostNqn,           "Controller",
			   ofController,   0x0a0b0c0d, dhchap_new_tls_psk};
	CHECK(hex(dhchapResponse(host, 1, 0x0506, key)) ==
	      "b0317f64e45010145c7487cc18043ca69f902ce7c54ba3aeda9a77bccffb8b23");
	CHECK(hex(dhchapResponse(controller, 1, 0x0506, key)) ==
	      "39e8f15635636f57f9fec19c814ec0567750775d14b0aa70d6b14ae19c397a5d");
}

TEST_CASE("a host authenticates itself to the target, with each hash function and group")
{
	for (std::uint8_t hash = 1; hash <= dhchapHashes; hash++)
		for (std::uint8_t group = 0; group < dhchapGroups; group++)
			for (bool mutual : {false, true}) {
				INFO("hash " << int(hash) << ", group " << int(group) << ", mutual " << mutual);
				Server server(authenticated(hash, group, mutual));
				Queue q(server);
				AuthSession s(q, *server.config().authentication, mutual);
				CHECK(s.asked == authAsked);
				CHECK(s.succeeded == st_ok);
				CHECK(differences(s.success1, success1Header(*server.config().authentication, mutual))
					      .empty());
				CHECK(s.responseGood == mutual);
				CHECK(s.accepted == (mutual ? int(st_ok) : AuthSession::unsent));
				CHECK(s.admitted == st_ok);
				CHECK(server.violations().empty());
			}
}

TEST_CASE("a queue that asks for authentication rejects other commands until then")
{
	Server server(authenticated());
	server.stores().add(1, 1 << 20);
	Queue admin(server);
	CHECK(admin.run(propertyGet(prop_cap)) == statusRequired());
	CHECK(admin.run(command(op_identify, 1)) == statusRequired());
	CHECK(authReceive(admin) == (st_sequence | st_dnr)); // before negotiate
	CHECK(admin.run(propertyGet(prop_cap)) == statusRequired());
}

TEST_CASE("each queue authenticates by itself, and only those that ask")
{
	auto config = authenticated();
	SECTION("all") {}
	SECTION("the admin queue")
	{
		config.authentication->io = false;
	}
	SECTION("I/O queues")
	{
		config.authentication->admin = false;
	}
	Server server(config);
	server.stores().add(1, 1 << 20);
	Queue admin(server);
	auto &auth = *config.authentication;
	AuthSession first(admin, auth, false);
	CHECK(first.asked == (auth.admin ? authAsked : 0));
	REQUIRE(first.admitted == st_ok);
	REQUIRE(admin.run(propertySet(prop_cc, 1)) == st_ok);
	Queue io(server, admin.cntlid());
	auto read = command(op_read);
	read.nsid = 1;
	read.sgl.length = 512;
	AuthSession second(io, auth, false, testHostSecret, read);
	CHECK(second.asked == (auth.io ? authAsked : 0));
	CHECK(second.admitted == st_ok);
}

TEST_CASE("a host with another secret is refused, and so is one that expects the controller to have one")
{
	Server server(authenticated());
	bool wrong = GENERATE(true, false);
	Queue q(server);
	AuthSession s(q, *server.config().authentication, !wrong, wrong ? testCtrlSecret : testHostSecret);
	REQUIRE(s.success1.size() == dhchap_at::values);
	CHECK(s.success1[dhchap_at::type] == auth_common);
	CHECK(s.success1[dhchap_at::id] == dhchap_failure1);
	CHECK(s.success1[dhchap_at::reason] == dhchap_failed);
	CHECK(s.admitted == statusRequired());
}

TEST_CASE("the target refuses messages that it cannot use, with the reason")
{
	Server server(authenticated(3, 2));
	Queue q(server);
	auto refused = [&](const Bytes &message) {
		REQUIRE(authSend(q, message) == st_ok);
		REQUIRE(authReceive(q) == st_ok);
		REQUIRE(q.data().size() == dhchap_at::values);
		CHECK(q.data()[dhchap_at::id] == dhchap_failure1);
		return q.data()[dhchap_at::reason];
	};
	CHECK(refused(negotiateMessage(2)) == dhchap_hash_unusable);
	CHECK(refused(negotiateMessage(3, 2)) == dhchap_group_unusable);
	auto m = negotiateMessage();
	m[dhchap_at::secureChannel] = 1;
	CHECK(refused(m) == dhchap_concatenation);
	m = negotiateMessage();
	m[dhchap_at::authid] = 2;
	CHECK(refused(m) == dhchap_protocol_unusable);
	m = negotiateMessage();
	m.resize(40);
	CHECK(refused(m) == dhchap_payload);
	CHECK(refused(Bytes(4)) == dhchap_payload);
	CHECK(refused(dhchapMessage(auth_dhchap, dhchap_reply, testTransaction, 400)) == dhchap_wrong_message);
	// a reply to another transaction, and one that is too short
	REQUIRE(authSend(q, negotiateMessage()) == st_ok);
	REQUIRE(authReceive(q) == st_ok);
	CHECK(refused(dhchapMessage(auth_dhchap, dhchap_reply, testTransaction + 1, 528)) == dhchap_wrong_message);
	REQUIRE(authSend(q, negotiateMessage()) == st_ok);
	REQUIRE(authReceive(q) == st_ok);
	CHECK(refused(dhchapMessage(auth_dhchap, dhchap_reply, testTransaction, 100)) == dhchap_payload);
	// and of commands
	auto cmd = authCommand(fc_auth_receive, messageRoom);
	cmd.cdw10 = 0;
	CHECK(q.run(cmd) == (st_invalid_field | st_dnr));
	REQUIRE(authSend(q, dhchapMessage(auth_common, dhchap_failure2, testTransaction, 16)) == st_ok);
	CHECK(authReceive(q) == (st_sequence | st_dnr));
	CHECK(q.run(propertyGet(prop_cap)) == statusRequired());
}

TEST_CASE("a target without authentication does not have its commands")
{
	Server server;
	Queue q(server);
	CHECK(q.result() >> 16 == 0);
	CHECK(authSend(q, negotiateMessage()) == (st_invalid_opcode | st_dnr));
	CHECK(authReceive(q) == (st_invalid_opcode | st_dnr));
}

TEST_CASE("a host authenticates itself again on a live queue")
{
	Server server(authenticated(1, 0, true));
	Queue q(server);
	auto &auth = *server.config().authentication;
	std::uint64_t asked = q.result();
	AuthSession first(q, auth, true);
	CHECK(first.admitted == st_ok);
	REQUIRE(authSend(q, negotiateMessage()) == st_ok);
	REQUIRE(authReceive(q) == st_ok);
	CHECK(q.data()[dhchap_at::id] == dhchap_challenge);
	CHECK(q.data() != first.challenge);
	CHECK(q.run(propertyGet(prop_cap)) == st_ok); // authenticated meanwhile
	CHECK(asked >> 16 == authAsked);
}
