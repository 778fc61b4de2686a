// SPDX-License-Identifier: LGPL-2.1-or-later
// Hosts that connect to the service by TLS, with the right key, and without
#include <catch2/catch.hpp>

#include <future>
#include <poll.h>
#include <thread>

#include <openssl/ssl.h>

#include "client.h"
#include "libctl/keys/tls_psk.h"
#include "tests/unit/scratch.h"

using namespace cdc;
using namespace nofctl::wire;
using nofctl::DerivedPsk;
using nofctl::KeyHash;
using nofctl::TlsHandshake;
using nofctl::TlsPsk;

namespace {

const std::string hostnqn = "nqn.2014-08.org.example:host", otherNqn = "nqn.2014-08.org.example:other";
// "nqn.self" is the NQN of the service's own subsystem, see Front
const std::string wellKnown = wellKnownDiscoveryNqn, ownNqn = "nqn.self";

struct OneKey : nofctl::PskStore {
	explicit OneKey(const DerivedPsk &psk) : identity(psk.identity), secret(psk.secret.text()) {}

	nvmeof::Result<nofctl::Psk> read(nofctl::KeySerial, nofctl::KeySerial) override
	{
		nofctl::SecretBytes bytes(secret.size());
		std::ranges::copy(secret, bytes.data());
		return nofctl::Psk{1, identity, *nofctl::hashOfIdentity(identity), std::move(bytes)};
	}
	nvmeof::Result<nofctl::Psk> find(std::string_view, nofctl::KeySerial) override
	{
		return nvmeof::errorFromErrno(ENOKEY);
	}

	std::string identity, secret;
};

const nofctl::TlsContexts &contexts()
{
	static const auto made = nofctl::TlsContexts::create(nofctl::TlsRecords::here);
	REQUIRE(made);
	return *made;
}

class TlsClient : public Client {
public:
	TlsClient(const Front &front, const DerivedPsk &psk)
		: Client(front), key_(psk), handshake_(contexts(), key_, nofctl::TlsRole::client, socket(), {1}, 0)
	{
		TlsHandshake::State state;
		while ((state = handshake_.advance()) == TlsHandshake::State::wantsRead ||
		       state == TlsHandshake::State::wantsWrite)
			wait(state == TlsHandshake::State::wantsWrite ? POLLOUT : POLLIN);
		secured = state == TlsHandshake::State::done;
	}

	std::string why() const { return handshake_.failure().reason; }
	std::string cipher() const { return handshake_.cipher(); }
	// Sends a KeyUpdate; false: the connection has ended
	bool updateKey()
	{
		while (SSL_key_update(handshake_.tls(), SSL_KEY_UPDATE_NOT_REQUESTED) != 1 ||
		       SSL_do_handshake(handshake_.tls()) != 1) {
			if (SSL_get_error(handshake_.tls(), 0) != SSL_ERROR_WANT_WRITE)
				return false;
			wait(POLLOUT);
		}
		return true;
	}

	bool secured = false;

protected:
	ssize_t transmit(std::span<const std::uint8_t> bytes) override
	{
		std::size_t all = 0;
		while (all < bytes.size()) {
			std::size_t done = 0;
			if (SSL_write_ex(handshake_.tls(), bytes.data() + all, bytes.size() - all, &done) == 1)
				all += done;
			else if (SSL_get_error(handshake_.tls(), 0) != SSL_ERROR_WANT_WRITE)
				return -1;
			else
				wait(POLLOUT);
		}
		return static_cast<ssize_t>(all);
	}
	ssize_t obtain(std::span<std::uint8_t> room) override
	{
		std::size_t done = 0;
		while (SSL_read_ex(handshake_.tls(), room.data(), room.size(), &done) != 1) {
			if (SSL_get_error(handshake_.tls(), 0) != SSL_ERROR_WANT_READ)
				return 0;
			wait(POLLIN);
		}
		return static_cast<ssize_t>(done);
	}

private:
	void wait(short events) const
	{
		pollfd ready{socket(), events, 0};
		REQUIRE(::poll(&ready, 1, 10000) == 1);
	}

	OneKey key_;
	TlsHandshake handshake_;
};

// A service with a key of a host
class Secured {
public:
	explicit Secured(Demand demand, KeyHash hash = KeyHash::sha256, FrontRules front = {})
		: configured(*TlsPsk::generate(hash)), front(20, front)
	{
		rules.tls = demand;
		rules.keys = dir.path();
		give(hostnqn, configured);
		load();
	}
	void give(const std::string &nqn, const TlsPsk &psk)
	{
		const auto file = dir.path() / (nqn + ".tls");
		dir.write(file.filename(), std::string(psk.format().text()));
		std::filesystem::permissions(file, std::filesystem::perms(0600));
	}
	void load()
	{
		auto loaded = front.context.security.load(rules);
		REQUIRE(loaded);
		front.context.security.use(*std::move(loaded));
	}
	DerivedPsk derived(const std::string &nqn = hostnqn, unsigned version = 1,
			   const std::string &subsysnqn = wellKnown) const
	{
		return *nofctl::deriveTlsPsk(configured, nqn, subsysnqn, version);
	}
	const Counters &counters() const { return front.context.counters; }

	Scratch dir;
	TlsPsk configured;
	SecurityRules rules;
	Front front;
};

std::vector<HostSession> sessionsOf(Front &front)
{
	std::promise<std::vector<HostSession>> done;
	front.worker->listSessions([&](std::vector<HostSession> sessions) { done.set_value(std::move(sessions)); });
	return done.get_future().get();
}

constexpr int refused = st_connect_host | st_dnr;

} // namespace

TEST_CASE("a host reads its log over TLS, with identities of both versions and both hash functions", "[tls]")
{
	for (const auto &[hash, cipher] :
	     {std::pair(KeyHash::sha256, "TLS_AES_128_GCM_SHA256"), {KeyHash::sha384, "TLS_AES_256_GCM_SHA384"}})
		for (unsigned version : {0u, 1u}) {
			CAPTURE(cipher, version);
			Secured service(Demand::required, hash);
			const DerivedPsk psk = service.derived(hostnqn, version);
			TlsClient client(service.front, psk);
			INFO(client.why());
			REQUIRE(client.secured);
			CHECK(client.cipher() == cipher);
			REQUIRE(client.hello(3).connect(hostnqn) == st_ok);
			REQUIRE(client.run(propertySet(prop_cc, 1)) == st_ok);
			REQUIRE(client.readLog(1024 * 21) == st_ok); // more than one record
			CHECK(client.data.size() == 1024 * 21);
			const auto sessions = sessionsOf(service.front);
			REQUIRE(sessions.size() == 1);
			REQUIRE(sessions[0].tls);
			CHECK(sessions[0].tls->cipher == cipher);
			CHECK(sessions[0].tls->identity == psk.identity);
			CHECK(service.counters().tlsHandshakes == 1);
			CHECK(service.front.context.handshakeLimit.taken() == 0);
			// a reload without TLS leaves the connection
			service.rules.tls = Demand::off;
			service.load();
			CHECK(client.readLog(1024 * 21) == st_ok);
		}
}

TEST_CASE("the key may be for the service's own NQN; then Connect has to name it", "[tls]")
{
	Secured service(Demand::required);
	TlsClient client(service.front, service.derived(hostnqn, 1, ownNqn));
	REQUIRE(client.secured);
	CHECK(client.hello().connect(hostnqn) == refused); // names the well-known NQN
	CHECK(service.counters().refusedIdentity == 1);
}

TEST_CASE("the identity of TLS is that of the host", "[tls]")
{
	Secured service(Demand::required);
	service.give(otherNqn, service.configured);
	service.load();
	TlsClient client(service.front, service.derived());
	REQUIRE(client.secured);
	client.hello();
	CHECK(client.connect(otherNqn) == refused);
	CHECK(service.counters().refusedIdentity == 1);
	CHECK(client.connect(hostnqn) == st_ok);
}

TEST_CASE("a host without the right key gets no connection", "[tls]")
{
	Secured service(Demand::required);
	auto fails = [&](const DerivedPsk &psk) {
		TlsClient client(service.front, psk);
		CHECK_FALSE(client.secured);
		return client.why();
	};
	CHECK(fails(service.derived(otherNqn)).find("does not know this identity") != std::string::npos);
	CHECK(fails(service.derived(hostnqn, 1, "nqn.2014-08.org.example:subsystem")).find("does not know") !=
	      std::string::npos);
	const auto another = *TlsPsk::generate(KeyHash::sha256);
	fails(*nofctl::deriveTlsPsk(another, hostnqn, wellKnown, 1));
	fails(*nofctl::deriveTlsPsk(another, hostnqn, wellKnown, 0)); // an identity that exists, with another key
	DerivedPsk guessed = service.derived();
	guessed.secret.data()[0] ^= 1;
	fails(guessed);
	while (service.counters().open > 0)
		std::this_thread::yield();
	CHECK(service.counters().tlsFailed == 5);
	CHECK(service.counters().tlsHandshakes == 0);
}

TEST_CASE("whether a host may connect without TLS", "[tls]")
{
	auto plain = [](Secured &service, const std::string &nqn) {
		Client client(service.front);
		return client.hello().connect(nqn);
	};
	auto zone = [](Secured &service, std::optional<Demand> demand, const std::string &name = "a") {
		Zone one = someZone(name, {hostnqn, otherNqn}, {});
		one.tls = demand;
		service.front.sample.tell({putOf(one)});
		service.front.worker->publish(service.front.sample.views);
		sessionsOf(service.front); // waits until the worker has them
	};
	SECTION("required: never")
	{
		Secured service(Demand::required);
		CHECK(plain(service, hostnqn) == refused);
		CHECK(plain(service, otherNqn) == refused);
		CHECK(service.counters().refusedPlain == 2);
		zone(service, Demand::off);
		CHECK(plain(service, otherNqn) == refused);
	}
	SECTION("preferred: if there is no key for it, unless its zone requires TLS")
	{
		Secured service(Demand::preferred);
		CHECK(plain(service, hostnqn) == refused);
		CHECK(plain(service, otherNqn) == st_ok);
		TlsClient client(service.front, service.derived());
		CHECK(client.secured);
		zone(service, Demand::required);
		CHECK(plain(service, otherNqn) == refused);
		zone(service, Demand::off);
		CHECK(plain(service, hostnqn) == st_ok);
		zone(service, {}, "b"); // for which the configuration counts
		CHECK(plain(service, hostnqn) == refused);
		CHECK(plain(service, otherNqn) == st_ok);
	}
	SECTION("off: a handshake is not understood")
	{
		Secured service(Demand::off);
		CHECK(plain(service, hostnqn) == st_ok);
		TlsClient client(service.front, service.derived());
		CHECK_FALSE(client.secured);
	}
}

TEST_CASE("TLS and authentication together", "[tls]")
{
	Secured service(Demand::required);
	const std::string secret = "DHHC-1:01:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:";
	service.dir.write(hostnqn + ".dhchap", secret);
	std::filesystem::permissions(service.dir.path() / (hostnqn + ".dhchap"), std::filesystem::perms(0600));
	service.load();
	TlsClient client(service.front, service.derived());
	REQUIRE(client.secured);
	REQUIRE(client.hello().connect(hostnqn) == st_ok);
	CHECK((client.cqe.result & authreqAuthentication) != 0);
	CHECK(client.run(propertyGet(prop_cap)) == (st_auth_required | st_dnr));
}

TEST_CASE("a reload gives another key, and ends no session", "[tls]")
{
	Secured service(Demand::required);
	TlsClient client(service.front, service.derived());
	REQUIRE(client.secured);
	REQUIRE(client.hello().connect(hostnqn) == st_ok);
	const DerivedPsk old = service.derived();
	service.configured = *TlsPsk::generate(KeyHash::sha256);
	service.give(hostnqn, service.configured);
	service.load();
	CHECK(client.run(propertySet(prop_cc, 1)) == st_ok);
	CHECK_FALSE(TlsClient(service.front, old).secured);
	CHECK(TlsClient(service.front, service.derived()).secured);
}

TEST_CASE("a session over TLS ends when its key was removed, unless TLS is off", "[tls]")
{
	FrontRules front;
	front.reviewMs = 400;
	Secured service(Demand::required, KeyHash::sha256, front);
	TlsClient client(service.front, service.derived());
	REQUIRE(client.secured);
	REQUIRE(client.hello().connect(hostnqn) == st_ok);
	std::filesystem::remove(service.dir.path() / (hostnqn + ".tls"));
	service.rules.tls = Demand::off;
	service.load();
	std::this_thread::sleep_for(std::chrono::milliseconds(1200));
	CHECK(client.run(propertySet(prop_cc, 1)) == st_ok);
	service.rules.tls = Demand::preferred;
	service.load();
	CHECK(client.ended());
	CHECK(service.counters().revoked == 1);
}

TEST_CASE("handshakes that do not end are limited in number and time", "[tls]")
{
	FrontRules rules;
	rules.stepMs = 300;
	rules.handshakes = {100, 2, 0};
	Secured service(Demand::required, KeyHash::sha256, rules);
	const std::uint8_t record[] = {22, 3, 1, 1, 0, 1};
	Client one(service.front), two(service.front);
	one.raw(record);
	two.raw(record);
	while (service.front.context.handshakeLimit.taken() < 2)
		std::this_thread::yield();
	Client three(service.front);
	three.raw(record);
	CHECK(three.ended());
	CHECK(service.counters().tlsBusy == 1);
	CHECK(one.ended());
	CHECK(two.ended());
	CHECK(service.counters().late == 2);
	while (service.counters().open > 0)
		std::this_thread::yield();
	CHECK(service.counters().tlsFailed == 2);
	CHECK(TlsClient(service.front, service.derived()).secured);
}

TEST_CASE("bytes that only begin like a handshake end the connection", "[tls]")
{
	Secured service(Demand::preferred);
	for (const std::vector<std::uint8_t> &bytes :
	     {std::vector<std::uint8_t>(600, 22), {22, 3, 3, 0xff, 0xff, 1, 2, 3}, {22, 0, 0, 0, 0}}) {
		Client client(service.front);
		client.raw(bytes);
		::shutdown(client.socket(), SHUT_WR);
		std::array<std::uint8_t, 64> room;
		while (::recv(client.socket(), room.data(), room.size(), 0) > 0) // an alert
			;
	}
	while (service.counters().open > 0)
		std::this_thread::yield();
	CHECK(service.counters().tlsFailed == 3);
	CHECK(Client(service.front).hello().connect(otherNqn) == st_ok);
}

TEST_CASE("a host may update its key, but not without end", "[tls]")
{
	Secured service(Demand::required);
	TlsClient client(service.front, service.derived());
	REQUIRE(client.secured);
	REQUIRE(client.hello(3).connect(hostnqn) == st_ok);
	for (int i = 0; i < 10; i++)
		REQUIRE(client.updateKey());
	CHECK(client.run(propertySet(prop_cc, 1)) == st_ok);
	for (int i = 0; i < 100 && client.updateKey(); i++)
		;
	CHECK(client.ended());
}

TEST_CASE("entries of instances say whether their ports use TLS", "[tls]")
{
	Model model(selfId);
	auto entry = [&](Demand demand) {
		Instance instance{selfId, "nqn.self", {"10.0.0.1:8009"}, false, demand};
		const auto read = Instance::of(instance.json());
		REQUIRE(read);
		CHECK(*read == instance);
		model.apply({false, {putOf(instance)}, 1});
		return *model.instances().begin()->second.entries.at(0);
	};
	CHECK(entry(Demand::off).treq == treq_unspecified);
	CHECK(entry(Demand::off).sectype() == sec_none);
	CHECK(entry(Demand::preferred).treq == treq_not_required);
	CHECK(entry(Demand::preferred).sectype() == sec_tls13);
	CHECK(entry(Demand::required).treq == treq_required);
	CHECK(entry(Demand::required).sectype() == sec_tls13);
}
