// SPDX-License-Identifier: LGPL-2.1-or-later
// A whole service: the effect of registrations, and how often hosts are notified of changes.
#include <filesystem>
#include <fstream>

#include "client.h"
#include "reload.h"
#include "running.h"
#include "support.h"
#include "libctl/runtime/loop.h"
#include "target/discovery.h"
#include "target/server.h"

using namespace cdc;
using namespace nofctl::wire;
using namespace std::chrono_literals;

namespace {

std::uint16_t portOf(const ServiceFixture &running)
{
	return static_cast<std::uint16_t>(std::stoi(running.rules.listen[0].trsvcid));
}

template <typename Holds> bool within(std::chrono::seconds time, Holds holds)
{
	const auto end = std::chrono::steady_clock::now() + time;
	while (!holds()) {
		if (std::chrono::steady_clock::now() > end)
			return false;
		std::this_thread::sleep_for(20ms);
	}
	return true;
}

// A store that reports what the test passes to it
class ScriptedStore final : public Store {
public:
	nvmeof::Result<void> start(OnUpdate told) override
	{
		onUpdate_ = std::move(told);
		onUpdate_({true, first, 1});
		return {};
	}
	void write(std::vector<Change> changes, Done done) override
	{
		if (holds)
			return held.push_back(std::move(done));
		std::size_t bytes = 0;
		for (const Change &change : changes)
			bytes += change.key.size() + change.value.value_or("").size();
		if (refused > 0) {
			refused--;
			return done(nvmeof::errorFromErrno(EIO, "refused by the test"));
		}
		written += changes.size();
		for (const Change &change : changes)
			removed += !change.value;
		for (const Change &change : changes)
			keys.push_back(change.key);
		largest = std::max(largest, changes.size());
		largestBytes = std::max(largestBytes, bytes);
		done({});
	}
	void raise(std::uint64_t, Done done) override { done({}); }
	void join(const Instance &) override {}
	void leave(Done done) override { done({}); }
	StoreState state() const override { return {.engine = "test", .place = ""}; }

	void tell(std::vector<Change> changes, std::uint64_t generation)
	{
		onUpdate_({false, std::move(changes), generation});
	}
	void tellAll(std::vector<Change> changes, std::uint64_t generation)
	{
		onUpdate_({true, std::move(changes), generation});
	}

	std::vector<Change> first;
	std::size_t refused = 0; // so many writes fail
	bool holds = false;      // writes are not done before the test does that
	std::vector<Done> held;
	std::vector<std::string> keys; // of all that was written
	std::size_t written = 0, removed = 0, largest = 0, largestBytes = 0;

private:
	OnUpdate onUpdate_;
};

int registers(Client &client, const Registration &registration)
{
	return client.run(dim(0), encodeRegistration(registration));
}

std::size_t hostsOf(ServiceFixture &running)
{
	std::size_t hosts = 0;
	running.in([&] { hosts = running.service->model().hosts().size(); });
	return hosts;
}

} // namespace

TEST_CASE("no registration stops the service, and all that is stored can be read at the next start", "[service]")
{
	ServiceFixture running;
	running.start();
	const auto caught = runtime::caughtExceptions();
	Client client(portOf(running));
	client.hello().enable();
	for (const std::string text : {"\xff", "\xc3", "a\x01", "\xed\xa0\x80"}) {
		Registration bad = someRegistration(1);
		bad.name = text;
		CHECK(registers(client, bad) == (st_invalid_discovery | st_dnr));
		bad = someRegistration(1);
		bad.version = text;
		CHECK(registers(client, bad) == (st_invalid_discovery | st_dnr));
		bad = someRegistration(1);
		bad.entity = dim_direct;
		bad.nqn = "nqn." + text;
		CHECK(registers(client, bad) == (st_denied | st_dnr));
	}
	CHECK(hostsOf(running) == 0);
	CHECK(registers(client, someRegistration(1)) == st_ok);
	CHECK(hostsOf(running) == 1);
	CHECK(runtime::caughtExceptions() == caught);
	running.stop();
	running.start();
	CHECK(hostsOf(running) == 1);
}

TEST_CASE("a discovery controller with a key registers only after it has proved its NQN", "[service]")
{
	ServiceFixture running;
	const std::filesystem::path keys = running.dir.path() / "keys";
	std::filesystem::create_directory(keys);
	std::ofstream(keys / "nqn.ddc.dhchap") << "DHHC-1:01:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:";
	std::filesystem::permissions(keys / "nqn.ddc.dhchap", std::filesystem::perms(0600));
	running.rules.security.keys = keys;
	running.rules.registration.ddcs = {{"nqn.ddc", {*Prefix::of("127.0.0.1")}},
					   {"nqn.free", {*Prefix::of("127.0.0.1")}}};
	running.start();
	Client client(portOf(running)); // with the NQN of a host that has no key
	client.hello().enable();
	Registration registration{dim_direct, "nqn.ddc", {}, "jbof", "1", {someTarget(1).entry()}};
	CHECK(registers(client, registration) == (st_denied | st_dnr));
	registration.nqn = "nqn.free";
	CHECK(registers(client, registration) == st_ok);
}

TEST_CASE("a registration waits for one of the same owner that is being written", "[service]")
{
	runtime::Loop loop(runtime::Loop::Watchdog::none);
	const std::uint16_t port = freePort();
	Rules rules;
	rules.listen = {{"127.0.0.1", std::to_string(port)}};
	rules.threads = 1;
	rules.registration.ddcs = {{"nqn.ddc", {*Prefix::of("127.0.0.1")}}};
	auto made = std::make_unique<ScriptedStore>();
	ScriptedStore &store = *made;
	Service service(loop, rules, {selfId, "nqn.self", "serial", "0.0"}, std::move(made));
	REQUIRE(service.start([] {}).ok());
	store.holds = true;
	Client one(port), two(port);
	one.hello().enable();
	two.hello().enable();
	const Registration both{dim_direct, "nqn.ddc", {}, "jbof", "1", {someTarget(1).entry(), someTarget(2).entry()}};
	const Bytes some = encodeRegistration({dim_direct, "nqn.ddc", {}, "jbof", "1", {someTarget(2).entry()}});
	one.command(dim(0), encodeRegistration(both));
	REQUIRE(until(loop, [&] { return store.held.size() == 1; }));
	two.command(dim(0), some);
	REQUIRE(until(loop, [&] { return service.counters().deferred == 1; }));
	CHECK(two.completion() == (st_interrupted | st_crd1));
	two.command(dim(0), encodeRegistration(someRegistration(1))); // of another owner
	REQUIRE(until(loop, [&] { return store.held.size() == 2; }));
	for (const auto &done : store.held)
		done({});
	CHECK(one.completion() == st_ok);
	CHECK(two.completion() == st_ok);
	two.command(dim(0), some);
	CHECK(until(loop, [&] { return store.held.size() == 3; }));
}

TEST_CASE("a host changes its record only so often", "[service]")
{
	ServiceFixture running;
	running.start();
	Client client(portOf(running));
	client.hello().enable();
	Registration host = someRegistration(1);
	for (int i = 0; i < 8; i++) {
		host.version = std::to_string(i);
		CHECK(registers(client, host) == st_ok);
	}
	CHECK(registers(client, host) == st_ok); // writes nothing
	Registration changed = host;
	changed.version = "other";
	CHECK(registers(client, changed) == (st_interrupted | st_crd1));
	CHECK(registers(client, host) == st_ok);
	CHECK(running.service->counters().deferred == 1);
}

TEST_CASE("a registration expires after its owner disconnected, and not before", "[service]")
{
	ServiceFixture running;
	running.rules.registration.leaseSeconds = 2;
	running.start();
	auto client = std::make_unique<Client>(portOf(running));
	client->hello().enable();
	REQUIRE(registers(*client, someRegistration(1)) == st_ok);
	std::this_thread::sleep_for(4s);
	CHECK(hostsOf(running) == 1);
	client.reset();
	CHECK(within(30s, [&] { return hostsOf(running) == 0; }));
}

TEST_CASE("hosts are notified of a change at once, once for many changes, and not for records of hosts", "[service]")
{
	runtime::Loop loop(runtime::Loop::Watchdog::none);
	Scratch folder;
	Rules rules;
	rules.listen = {{"127.0.0.1", std::to_string(freePort())}};
	rules.threads = 1;
	auto made = std::make_unique<ScriptedStore>();
	ScriptedStore &store = *made;
	Service service(loop, rules, {selfId, "nqn.self", "serial", "0.0"}, std::move(made));
	REQUIRE(service.start([] {}).ok());
	auto told = [&] { return service.counters().pushed.load(); };
	auto current = [&] { return service.views().generation() == service.model().generation(); };
	const auto begun = told();
	store.tell({putOf(someTarget(0))}, 2);
	CHECK(told() == begun + 1); // at once
	Host host;
	host.nqn = "nqn.host";
	store.tell({putOf(host)}, 2);
	CHECK(told() == begun + 1);
	for (std::uint64_t i = 1; i < 1000; i++)
		store.tell({putOf(someTarget(static_cast<int>(i)))}, 2 + i);
	CHECK(told() == begun + 1);
	CHECK(service.counters().merged == 998);
	CHECK(until(loop, current));
	CHECK(told() == begun + 2);
	// changes without a new generation of the store notify hosts, too: a draining instance, a changed state
	store.tell({putOf(Instance{"22222222-2222-4333-8444-555555555555", "nqn.other", {"10.0.0.2:8009"}, true})},
		   1001);
	CHECK(told() == begun + 3);
	store.tell({putOf(someTarget(5, ana_inaccessible))}, 1001);
	CHECK(until(loop, [&] { return told() == begun + 4; }));
}

TEST_CASE("the time until hosts are notified is counted once for changes that are notified together", "[service]")
{
	ServiceFixture running;
	running.start();
	auto counted = [&] { return running.service->latencies().publications.read(); };
	const auto before = nvmeof::countOf(counted().histogram);
	running.write({putOf(someTarget(0))});
	CHECK(within(30s, [&] { return nvmeof::countOf(counted().histogram) > before; }));
	Host host;
	host.nqn = "nqn.host";
	running.write({putOf(host)}); // no host is notified of this record
	const auto sum = counted().sum;
	running.in([&] {
		for (int i = 1; i < 100; i++)
			running.service->write({putOf(someTarget(i))}, [](const nvmeof::Result<void> &) {});
	});
	bool told = false;
	CHECK(within(30s, [&] {
		running.in([&] {
			told = running.service->model().targets().size() == 100 &&
			       running.service->views().generation() == running.service->model().generation();
		});
		return told;
	}));
	CHECK(within(30s, [&] { return nvmeof::countOf(counted().histogram) >= before + 2; }));
	CHECK(nvmeof::countOf(counted().histogram) < before + 50);
	CHECK(within(30s, [&] { return counted().sum > sum; })); // a worker adds to the sum after the count
}

TEST_CASE("the renewals of many leases are split into writes that every store accepts", "[service]")
{
	runtime::Loop loop(runtime::Loop::Watchdog::none);
	Rules rules;
	rules.listen = {{"127.0.0.1", std::to_string(freePort())}};
	rules.threads = 1;
	auto made = std::make_unique<ScriptedStore>();
	ScriptedStore &store = *made;
	std::vector<Change> hosts;
	for (int i = 0; i < 5000; i++) {
		Host host;
		host.nqn = "nqn.host" + std::to_string(i);
		host.origin = {"push", host.nqn}; // written by a version without leases
		hosts.push_back(putOf(host));
	}
	store.first = hosts;
	Service service(loop, rules, {selfId, "nqn.self", "serial", "0.0"}, std::move(made));
	REQUIRE(service.start([] {}).ok());
	service.reload(rules, *service.loadSecurity(rules));
	CHECK(until(loop, [&] { return store.written >= 5000; }));
	CHECK(store.largest <= 500);
	CHECK(store.largestBytes <= 300 << 10);
}

TEST_CASE("the records of a large pulled service are split into writes that every store accepts", "[service]")
{
	target::Server source;
	std::vector<DiscoveryEntry> entries;
	for (int i = 0; i < 3000; i++)
		entries.push_back(someTarget(i).entry());
	source.subsystem().discovery().add(entries);
	runtime::Loop loop(runtime::Loop::Watchdog::none);
	Rules rules;
	rules.listen = {{"127.0.0.1", std::to_string(freePort())}};
	rules.threads = 1;
	rules.pulls = {{{"127.0.0.1", std::to_string(source.port())}, {}, false}};
	auto made = std::make_unique<ScriptedStore>();
	ScriptedStore &store = *made;
	Service service(loop, rules, {selfId, "nqn.self", "serial", "0.0"}, std::move(made));
	REQUIRE(service.start([] {}).ok());
	CHECK(until(loop, [&] { return store.written >= 3000; }));
	CHECK(store.largest <= 500);
	CHECK(store.largestBytes <= 300 << 10);
}

TEST_CASE("the leases are renewed after a jump of the clock although the store refuses the first write", "[service]")
{
	runtime::Loop loop(runtime::Loop::Watchdog::none);
	Rules rules;
	rules.listen = {{"127.0.0.1", std::to_string(freePort())}};
	rules.threads = 1;
	auto made = std::make_unique<ScriptedStore>();
	ScriptedStore &store = *made;
	Host host;
	host.nqn = "nqn.host";
	host.origin = {"push", host.nqn, static_cast<std::int64_t>(wallSeconds()) + rules.registration.leaseSeconds};
	rules.registration.hosts = true;
	store.first = {putOf(host)};
	Service service(loop, rules, {selfId, "nqn.self", "serial", "0.0"}, std::move(made));
	REQUIRE(service.start([] {}).ok());
	service.setWallClock([] { return wallSeconds() + 86400; });
	store.refused = 1;
	service.reload(rules, *service.loadSecurity(rules));
	REQUIRE(until(loop, [&] { return store.refused == 0; }));
	CHECK(store.written == 0);
	service.reload(rules, *service.loadSecurity(rules));
	CHECK(until(loop, [&] { return store.written == 1; }));
	CHECK(store.removed == 0);
}

namespace {

// A service whose configuration has targets and a zone, and whose store does not report what is written
struct ConfiguredFixture {
	ConfiguredFixture(int targets, std::size_t refused)
	{
		rules.listen = {{"127.0.0.1", std::to_string(freePort())}};
		rules.threads = 1;
		for (int i = 0; i < targets; i++)
			rules.targets.push_back(someTarget(i));
		rules.zones = {someZone("z", {"nqn.a"}, {"*"})};
		auto made = std::make_unique<ScriptedStore>();
		store = made.get();
		store->refused = refused;
		service.emplace(loop, rules, Identity{selfId, "nqn.self", "serial", "0.0"}, std::move(made));
		REQUIRE(service->start([] {}).ok());
	}

	runtime::Loop loop{runtime::Loop::Watchdog::none};
	Rules rules;
	ScriptedStore *store = nullptr;
	std::optional<Service> service;
};

} // namespace

TEST_CASE("the records of the configuration are written in parts, the zones first", "[service]")
{
	ConfiguredFixture its(5000, 0);
	CHECK(its.store->written == 5001);
	CHECK(its.store->largest <= maxWriteRecords);
	CHECK(its.store->keys.front() == "zones/z");
}

TEST_CASE("the records of the configuration are written again when the store did not take or has lost them",
	  "[service]")
{
	ConfiguredFixture its(1, 1);
	CHECK(its.store->written == 0);
	CHECK(until(its.loop, [&] { return its.store->written == 2; }));
	its.store->tellAll({}, 2);
	CHECK(until(its.loop, [&] { return its.store->written == 4; }));
	CHECK(std::ranges::count(its.store->keys, "zones/z") == 2);
}

TEST_CASE("a reload ends when the store has its records, or says why not", "[service]")
{
	ConfiguredFixture its(1, 0);
	std::optional<nvmeof::Result<Reloaded>> reloaded;
	auto done = [&](const nvmeof::Result<Reloaded> &result) { reloaded = result; };
	its.store->holds = true;
	reload(*its.service, its.rules, ReloadMode::forced, done);
	REQUIRE(until(its.loop, [&] { return its.store->held.size() == 1; }));
	turn(its.loop, 50ms);
	CHECK_FALSE(reloaded);
	// another one meanwhile waits for a write of its own
	std::optional<nvmeof::Result<Reloaded>> second;
	reload(*its.service, its.rules, ReloadMode::forced, [&](const auto &result) { second = result; });
	turn(its.loop, 50ms);
	its.store->holds = false;
	its.store->held.front()(nvmeof::errorFromErrno(ENOSPC, "no space"));
	REQUIRE(reloaded);
	REQUIRE(reloaded->ok());
	CHECK((*reloaded)->unwritten == "no space");
	REQUIRE(until(its.loop, [&] { return second.has_value(); }));
	REQUIRE(second->ok());
	CHECK((*second)->unwritten.empty());
}
