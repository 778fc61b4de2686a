// SPDX-License-Identifier: LGPL-2.1-or-later
// Instances that share an etcd. A real etcd is killed, stopped, compacted, or replaced by one with other data.
#include "etcd_store.h"

#include <fstream>

#include "etcd_server.h"

using namespace cdc;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

EtcdOptions optionsFor(const EtcdServer &server, const std::string &prefix = "/test/")
{
	EtcdOptions options;
	options.etcd.endpoints = {server.endpoint()};
	options.prefix = prefix;
	options.etcd.timeout = 20s; // long enough not to expire while the machine is busy
	options.pulse = 100ms;
	options.slowest = 300ms;
	return options;
}

// One server for all tests that do not disturb it; each test has its own key prefix.
EtcdServer &shared()
{
	static EtcdServer server;
	if (!server.runs())
		server.start();
	return server;
}

std::string ownPrefix()
{
	static int count = 0;
	return fmt::format("/test-{}/", ++count);
}

struct Replica {
	ReportedRecords told;
	EtcdStore store;

	Replica(runtime::Loop &loop, EtcdOptions options) : store(loop, std::move(options))
	{
		const nvmeof::Result<void> started = store.start(std::ref(told));
		INFO((started ? "" : started.error().message));
		REQUIRE(started.ok());
	}
	bool synced() const { return told.whole > 0 && store.state().staleSince == 0; }
};

struct EtcdFixture {
	runtime::Loop loop{runtime::Loop::Watchdog::none};

	bool until(std::function<bool()> holds) { return cdc::until(loop, holds); }
	bool synced(Replica &replica)
	{
		return until([&] { return replica.synced(); });
	}
	std::string write(Replica &replica, std::vector<Change> changes)
	{
		return written(loop, replica.store, std::move(changes));
	}
	// Repeats a write while etcd elects a leader.
	bool writeWithRetry(Replica &replica, const std::vector<Change> &changes)
	{
		const auto end = std::chrono::steady_clock::now() + 30s;
		while (!write(replica, changes).empty()) {
			if (std::chrono::steady_clock::now() > end)
				return false;
			turn(loop, 50ms);
		}
		return true;
	}
	bool agree(const Replica &one, const Replica &other)
	{
		return until([&] {
			return one.told.generation == other.told.generation && one.told.records == other.told.records;
		});
	}
};

} // namespace

TEST_CASE("records that are too large for one response are read in smaller pages", "[cdc][etcd]")
{
	EtcdFixture stage;
	EtcdOptions options = optionsFor(shared(), ownPrefix());
	Replica writer(stage.loop, options);
	REQUIRE(stage.synced(writer));
	std::vector<Change> zones;
	for (int i = 0; i < 300; i++)
		zones.push_back(is(aZone("z" + std::to_string(i), {std::string(200, 'h'), std::string(200, 'i')})));
	REQUIRE(stage.write(writer, zones) == "");
	options.etcd.maxResponse = 64 << 10;
	Replica reader(stage.loop, options);
	REQUIRE(stage.synced(reader));
	CHECK(stage.agree(reader, writer));
	CHECK(reader.told.records.size() == 300);
}

TEST_CASE("two instances on one etcd have the same records and the same generation", "[cdc][etcd]")
{
	EtcdFixture stage;
	const EtcdOptions options = optionsFor(shared(), ownPrefix());
	const std::uint64_t begin = nowMs();
	Replica one(stage.loop, options), other(stage.loop, options); // both find an empty store
	REQUIRE(stage.synced(one));
	REQUIRE(stage.synced(other));
	CHECK(one.told.generation >= begin);
	CHECK(stage.agree(one, other));

	one.store.join(anInstance("one"));
	other.store.join(anInstance("other"));
	bool told = false;
	one.store.write({is(aTarget("a")), is(aZone("z"))}, [&](const nvmeof::Result<void> &done) {
		CHECK(done.ok());
		// the records are reported before the write completes
		told = one.told.has(aTarget("a")) && one.told.has(aZone("z"));
	});
	CHECK(stage.write(other, {is(aTarget("b"))}) == "");
	REQUIRE(stage.until([&] { return told && one.told.records.size() == 5; }));
	CHECK(stage.agree(one, other));

	const std::uint64_t before = one.told.generation;
	CHECK(stage.write(one, {is(aHost("h"))}) == ""); // no host sees this record
	CHECK(stage.write(one, {is(aTarget("a"))}) == "");
	CHECK(stage.write(one, {isGone(aHost("never there"))}) == "");
	CHECK(one.told.generation == before);
	CHECK(stage.write(one, {isGone(aZone("z"))}) == "");
	CHECK(one.told.generation > before);
	CHECK(stage.agree(one, other));
	CHECK(other.told.has(aHost("h")));

	Replica late(stage.loop, options);
	REQUIRE(stage.synced(late));
	CHECK(stage.agree(one, late));
	CHECK_FALSE((one.told.fell || other.told.fell));
	CHECK(one.store.state().writable);
}

TEST_CASE("a write of many records is applied completely or not at all", "[cdc][etcd]")
{
	EtcdFixture stage;
	const EtcdOptions options = optionsFor(shared(), ownPrefix());
	Replica one(stage.loop, options), other(stage.loop, options);
	REQUIRE((stage.synced(one) && stage.synced(other)));
	std::vector<Change> many;
	for (int i = 0; i < 3000; i++)
		many.push_back(is(aZone(std::to_string(i))));
	const std::size_t news = other.told.news;
	CHECK(stage.write(one, many) == "");
	REQUIRE(stage.until([&] { return other.told.records.size() == 3000; }));
	CHECK(other.told.news == news + 1);
	CHECK(stage.agree(one, other));
	Replica late(stage.loop, options); // reads page by page
	REQUIRE(stage.synced(late));
	CHECK(stage.agree(one, late));

	many.insert(many.end(), many.begin(), many.end());
	CHECK_THAT(stage.write(one, many), Contains("6000 records") && Contains("in parts"));
	CHECK_THAT(stage.write(one, {{"zones/long", std::string(2 << 20, 'x')}}), Contains("in parts"));

	// writes of one loop turn are batched: the last value of a key wins, and all complete soon
	int done = 0;
	for (int i = 0; i < 200; i++)
		one.store.write({{"zones/same", std::to_string(i)}, is(aHost(std::to_string(i)))},
				[&](const nvmeof::Result<void> &result) { done += result.ok(); });
	REQUIRE(stage.until([&] { return done == 200; }));
	CHECK(one.told.records["zones/same"] == "199");
	CHECK(stage.agree(one, other));
}

TEST_CASE("an instance resumes after etcd was killed and restarted", "[cdc][etcd]")
{
	EtcdFixture stage;
	EtcdServer server;
	server.start();
	Scratch folder;
	EtcdOptions options = optionsFor(server);
	options.cache = folder.path() / "cache";
	std::uint64_t before;
	{
		Replica one(stage.loop, options);
		REQUIRE(stage.synced(one));
		CHECK(stage.write(one, {is(aTarget("a"))}) == "");
		server.kill();
		REQUIRE(stage.until([&] { return !one.store.state().writable; }));
		CHECK(one.store.state().staleSince > 0);
		std::string outcome;
		one.store.write({is(aTarget("b"))},
				[&](const nvmeof::Result<void> &done) { outcome = done ? "" : done.error().message; });
		CHECK_THAT(outcome, Contains("unreachable since") && Contains(server.endpoint())); // fails at once
		CHECK(one.told.has(aTarget("a")));
		before = one.told.generation;
	}
	{
		// a restarted instance serves the records that it read last
		Replica again(stage.loop, options);
		CHECK(again.told.has(aTarget("a")));
		CHECK(again.told.generation == before);
		CHECK(again.store.state().staleSince > 0);
		REQUIRE(stage.until([&] { return !again.store.state().writable; }));
		server.start();
		REQUIRE(stage.synced(again));
		CHECK(stage.write(again, {is(aTarget("c"))}) == "");
		CHECK(again.told.generation > before);
		CHECK_FALSE(again.told.fell);
		EtcdOptions other = optionsFor(server);
		Replica fresh(stage.loop, other);
		REQUIRE(stage.synced(fresh));
		CHECK(stage.agree(again, fresh));
		before = again.told.generation;
	}
	folder.write("cache", "this was a cache");
	EtcdStore refused(stage.loop, options);
	const auto started = refused.start([](const StoreUpdate &) {});
	REQUIRE_FALSE(started.ok());
	CHECK_THAT(started.error().message, Contains("damaged") && Contains("--rebuild") && Contains("from etcd"));
	options.rebuild = true;
	Replica rebuilt(stage.loop, options);
	REQUIRE(stage.synced(rebuilt));
	CHECK(rebuilt.told.has(aTarget("c")));

	// an etcd that has lost its data: hosts get other records under a greater generation
	server.kill();
	std::filesystem::remove_all(server.folder() / "data");
	server.start();
	REQUIRE(stage.until([&] { return rebuilt.synced() && rebuilt.told.records.empty(); }));
	CHECK(rebuilt.told.generation > before);
	CHECK_FALSE(rebuilt.told.fell);
}

TEST_CASE("a stopped etcd is detected, and so is its return", "[cdc][etcd]")
{
	EtcdFixture stage;
	EtcdServer server;
	server.start();
	EtcdOptions options = optionsFor(server);
	options.etcd.timeout = 1s;
	Replica one(stage.loop, options);
	REQUIRE(stage.synced(one));
	CHECK(stage.writeWithRetry(one, {is(aTarget("a"))}));
	server.freeze();
	std::string outcome;
	one.store.write({is(aTarget("b"))},
			[&](const nvmeof::Result<void> &done) { outcome = done ? "" : done.error().message; });
	REQUIRE(stage.until([&] { return !one.store.state().writable && !outcome.empty(); }));
	CHECK_THAT(outcome, Contains("unknown")); // etcd may execute the write later
	CHECK_THAT(stage.write(one, {is(aTarget("c"))}), Contains("unreachable"));
	server.thaw();
	REQUIRE(stage.synced(one));
	CHECK(stage.writeWithRetry(one, {is(aTarget("c"))}));
	CHECK(one.told.has(aTarget("c")));
	CHECK_FALSE(one.told.fell);
}

TEST_CASE("an instance whose revisions etcd has compacted reads everything again", "[cdc][etcd]")
{
	EtcdFixture stage;
	EtcdServer server;
	const std::uint16_t known = server.port();
	server.start();
	Replica one(stage.loop, optionsFor(server));
	REQUIRE(stage.synced(one));
	CHECK(stage.write(one, {is(aTarget("stays")), is(aTarget("goes"))}) == "");
	const std::uint64_t before = one.told.generation;

	server.kill();
	server.usePort(freePort()); // a port that the first instance does not know
	server.start();
	{
		Replica other(stage.loop, optionsFor(server));
		REQUIRE(stage.synced(other));
		CHECK(stage.write(other, {isGone(aTarget("goes")), is(aTarget("comes"))}) == "");
		EtcdAdmin admin(stage.loop, optionsFor(server).etcd);
		const std::uint64_t revision = admin.put("/elsewhere", "");
		admin.call("kv/compaction", {{"revision", std::to_string(revision)}, {"physical", true}});
	}
	server.kill();
	server.usePort(known);
	server.start();
	REQUIRE(stage.synced(one));
	REQUIRE(stage.until([&] { return one.told.has(aTarget("comes")); }));
	CHECK(one.told.whole == 2);
	CHECK(one.told.records.size() == 2);
	CHECK(one.told.generation > before);
	Replica fresh(stage.loop, optionsFor(server));
	REQUIRE(stage.synced(fresh));
	CHECK(stage.agree(one, fresh));
	CHECK_FALSE(one.told.fell);
}

TEST_CASE("the record of an instance lasts as long as its lease", "[cdc][etcd]")
{
	EtcdFixture stage;
	EtcdOptions options = optionsFor(shared(), ownPrefix());
	options.lease = 1s;
	auto another = std::make_unique<Replica>(stage.loop, options);
	Replica &other = *another;
	other.store.join(anInstance("other"));
	auto one = std::make_unique<Replica>(stage.loop, options);
	one->store.join(anInstance("one"));
	REQUIRE(stage.until([&] { return other.told.has(anInstance("one")) && other.told.has(anInstance("other")); }));
	Instance draining = anInstance("one");
	draining.draining = true;
	one->store.join(draining);
	REQUIRE(stage.until([&] { return other.told.has(draining); }));
	CHECK(stage.agree(*one, other));

	SECTION("after an instance crashed, another one removes its record")
	{
		const std::uint64_t before = other.told.generation;
		one.reset();
		REQUIRE(stage.until([&] { return !other.told.records.contains(draining.key()); }));
		CHECK(other.told.generation > before);
		Replica fresh(stage.loop, options);
		REQUIRE(stage.synced(fresh));
		CHECK(stage.agree(other, fresh));
	}
	SECTION("an instance that leaves removes its record at once")
	{
		bool left = false;
		one->store.leave([&](const nvmeof::Result<void> &done) { left = done.ok(); });
		REQUIRE(stage.until([&] { return left && !other.told.records.contains(draining.key()); }));
		CHECK(stage.agree(*one, other));
	}
	SECTION("after its lease was revoked, an instance gets a new lease")
	{
		EtcdAdmin admin(stage.loop, options.etcd);
		const auto alive = admin.call("kv/range", {{"key", etcd::toBase64(options.prefix + "alive/one")}});
		REQUIRE(alive["kvs"].size() == 1);
		const std::string lease = alive["kvs"][0]["lease"];
		const std::uint64_t before = other.told.generation;
		admin.call("lease/revoke", {{"ID", lease}});
		REQUIRE(stage.until([&] {
			const auto again =
				admin.call("kv/range", {{"key", etcd::toBase64(options.prefix + "alive/one")}});
			return again.contains("kvs") && again["kvs"][0]["lease"] != lease && other.told.has(draining);
		}));
		CHECK(stage.agree(*one, other));
		CHECK(other.told.generation >= before);
	}
	SECTION("records of instances that all crashed are removed by the next instance")
	{
		const std::uint64_t before = other.told.generation;
		one.reset();
		another.reset();
		EtcdAdmin admin(stage.loop, options.etcd);
		for (const char *id : {"one", "other"})
			REQUIRE(stage.until([&] { return admin.get(options.prefix + "alive/" + id).records.empty(); }));
		Replica fresh(stage.loop, options);
		REQUIRE(stage.synced(fresh));
		REQUIRE(stage.until([&] { return fresh.told.records.empty(); }));
		CHECK(fresh.told.generation > before);
	}
}

TEST_CASE("failed authentication is reported, and a rejected token leads to a new authentication", "[cdc][etcd]")
{
	EtcdFixture stage;
	EtcdServer server;
	server.useOptions({"--bcrypt-cost=4"});
	server.start();
	EtcdOptions options = optionsFor(server);
	EtcdAdmin admin(stage.loop, options.etcd);
	admin.call("auth/user/add", {{"name", "root"}, {"password", "r"}});
	admin.call("auth/user/add", {{"name", "cdc"}, {"password", "secret"}});
	admin.call("auth/role/add", {{"name", "root"}});
	admin.call("auth/role/add", {{"name", "cdc"}});
	admin.call("auth/user/grant", {{"user", "root"}, {"role", "root"}});
	admin.call("auth/user/grant", {{"user", "cdc"}, {"role", "cdc"}});
	const etcd::JsonValue permission{
		{"permType", "READWRITE"}, {"key", etcd::toBase64("/test/")}, {"range_end", etcd::toBase64("/test0")}};
	admin.call("auth/role/grant", {{"name", "cdc"}, {"perm", permission}});
	admin.call("auth/enable", etcd::JsonValue::object());

	auto troubleOf = [&](const EtcdOptions &wrong) {
		Replica replica(stage.loop, wrong);
		stage.until([&] { return !replica.store.state().trouble.empty(); });
		return replica.store.state().trouble;
	};
	CHECK_THAT(troubleOf(options), Contains("a user and a password"));
	options.etcd.user = "cdc";
	options.etcd.password = "wrong";
	CHECK_THAT(troubleOf(options), Contains("invalid user ID or password"));
	options.etcd.password = "secret";
	EtcdOptions elsewhere = options;
	elsewhere.prefix = "/elsewhere/";
	CHECK_THAT(troubleOf(elsewhere), Contains("permission denied") && Contains("readwrite"));

	Replica one(stage.loop, options);
	one.store.join(anInstance("one"));
	REQUIRE(stage.synced(one));
	REQUIRE(stage.until([&] { return one.told.has(anInstance("one")); }));
	CHECK(stage.write(one, {is(aTarget("a"))}) == "");
	server.kill(); // the restarted etcd does not know the issued tokens
	server.start();
	REQUIRE(stage.until([&] { return !one.store.state().writable; }));
	REQUIRE(stage.synced(one));
	CHECK(stage.writeWithRetry(one, {is(aTarget("b"))}));
	// a change of roles invalidates the issued tokens while etcd runs
	EtcdAdmin root(stage.loop, {.endpoints = {server.endpoint()}, .user = "root", .password = "r"});
	root.call("auth/role/add", {{"name", "another"}});
	CHECK(stage.writeWithRetry(one, {is(aTarget("c"))}));
	CHECK_FALSE(one.told.fell);
}

TEST_CASE("etcd over TLS with certificates on both sides", "[cdc][etcd]")
{
	EtcdFixture stage;
	Scratch folder;
	const std::string cert = folder.path() / "cert.pem", key = folder.path() / "key.pem";
	for (const char *name : {"cert", "other"})
		REQUIRE(std::system(
				fmt::format("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes "
					    "-days 2 -subj /CN={1} -addext subjectAltName=IP:127.0.0.1 "
					    "-keyout {0}/{2}.pem -out {0}/{1}.pem 2> {0}/log",
					    folder.path().string(), name,
					    name == std::string("cert") ? "key" : "other-key")
					.c_str()) == 0);
	EtcdServer server("one", "https");
	server.useOptions(
		{"--cert-file=" + cert, "--key-file=" + key, "--client-cert-auth", "--trusted-ca-file=" + cert});
	server.start();
	EtcdOptions options = optionsFor(server);
	options.etcd.tls = {.ca = cert, .cert = cert, .key = key};
	{
		Replica one(stage.loop, options);
		REQUIRE(stage.synced(one));
		CHECK(stage.write(one, {is(aTarget("a"))}) == "");
	}
	options.etcd.tls.ca = folder.path() / "other.pem";
	Replica careful(stage.loop, options);
	REQUIRE(stage.until([&] { return !careful.store.state().trouble.empty(); }));
	CHECK_THAT(careful.store.state().trouble, Contains("certificate"));
	options.etcd.tls = {.ca = cert, .cert = cert, .key = ""};
	CHECK_THAT(EtcdStore(stage.loop, options).start([](const StoreUpdate &) {}).error().message, Contains("key"));
}

TEST_CASE("a cluster of etcd goes on without its leader", "[cdc][etcd]")
{
	EtcdFixture stage;
	std::vector<std::unique_ptr<EtcdServer>> servers;
	for (const char *name : {"a", "b", "c"})
		servers.push_back(std::make_unique<EtcdServer>(name));
	const std::string cluster = fmt::format("{},{},{}", servers[0]->nameAndPeer(), servers[1]->nameAndPeer(),
						servers[2]->nameAndPeer());
	EtcdOptions options = optionsFor(*servers[0]);
	options.etcd.endpoints.clear();
	options.etcd.timeout = 1s;
	for (const auto &server : servers) {
		server->start(cluster);
		options.etcd.endpoints.push_back(server->endpoint());
	}
	Replica one(stage.loop, options);
	std::rotate(options.etcd.endpoints.begin(), options.etcd.endpoints.begin() + 1, options.etcd.endpoints.end());
	Replica other(stage.loop, options);
	REQUIRE((stage.synced(one) && stage.synced(other)));
	one.store.join(anInstance("one"));
	CHECK(stage.writeWithRetry(one, {is(aTarget("a"))}));
	CHECK(stage.agree(one, other));

	for (const auto &server : servers) {
		EtcdAdmin admin(stage.loop, {.endpoints = {server->endpoint()}});
		const etcd::JsonValue status = admin.call("maintenance/status", etcd::JsonValue::object());
		if (status.value("leader", "") != status["header"].value("member_id", "-"))
			continue;
		server->kill();
		break;
	}
	CHECK(stage.writeWithRetry(one, {is(aTarget("b"))}));
	CHECK(stage.writeWithRetry(other, {is(aTarget("c"))}));
	CHECK(stage.agree(one, other));
	CHECK(one.told.has(aTarget("c")));
	CHECK_FALSE((one.told.fell || other.told.fell));
}
