// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stores.h"

#include <fstream>

#include "backup.h"
#include "etcd_server.h"
#include "etcd_store.h"
#include "sqlite_store.h"

using namespace cdc;
using Catch::Contains;

namespace {

std::string outcomeOf(runtime::Loop &loop, Store &from, Store &to, Moved &moved)
{
	std::optional<std::string> outcome;
	Move move(loop, from, to, [&](const nvmeof::Result<Moved> &done) {
		if (done)
			moved = *done;
		outcome = done ? "" : done.error().message;
	});
	move.start();
	return until(loop, [&] { return outcome.has_value(); }) ? *outcome : "no answer";
}

} // namespace

TEST_CASE("a backup is restored into a new store, and generations keep rising", "[cdc][sqlite]")
{
	runtime::Loop loop(runtime::Loop::Watchdog::none);
	Scratch folder;
	Model model("self");
	Target target = aTarget("a");
	target.origin = {"push", "nqn.jbof", 2000000000, "10.0.0.1"};
	const std::uint64_t generation = nowMs() * 3; // far above that of a new store
	REQUIRE(model.apply({true,
			     {is(target), is(aZone("z", {"*"}, {"*"})), is(aHost("h")), is(anInstance("self"))},
			     generation})
			.empty());
	const std::filesystem::path file = folder.path() / "backup.json";
	auto keep = [&](const std::string &text) { std::ofstream(file) << text; };
	keep(backupJson(model, 1).dump(2));
	auto backup = openBackup(file);
	REQUIRE(backup);
	Moved moved;
	SqliteStore to(loop, folder.path() / "to");
	CHECK(outcomeOf(loop, **backup, to, moved) == "");
	CHECK(moved.records == 3);
	ReportedRecords all;
	SqliteStore again(loop, folder.path() / "again");
	auto second = openBackup(file);
	REQUIRE(second);
	CHECK(outcomeOf(loop, again, **second, moved).find("already has records") != std::string::npos);
	for (const char *bad :
	     {"", "[]", "{}", "{\"backup\": 1, \"generation\": 1, \"records\": [1]}",
	      "{\"backup\": 2, \"generation\": 1, \"records\": []}", "{\"backup\": 1, \"records\": []}",
	      "{\"backup\": 1, \"generation\": 1, \"records\": [{\"key\": \"zones/z\", \"value\": {}}]}"}) {
		INFO(bad);
		keep(bad);
		CHECK_FALSE(openBackup(file).ok());
	}
	CHECK_FALSE(openBackup(folder.path() / "missing.json").ok());
}

TEST_CASE("records move between engines, and generations keep rising", "[cdc][etcd][sqlite]")
{
	runtime::Loop loop(runtime::Loop::Watchdog::none);
	Scratch folder;
	EtcdServer server;
	server.start();
	EtcdOptions options;
	options.etcd.endpoints = {server.endpoint()};
	options.etcd.timeout = std::chrono::seconds(20);
	std::uint64_t first, second;
	Moved moved;
	ReportedRecords all;
	{
		SqliteStore store(loop, folder.path() / "from");
		REQUIRE(store.start(std::ref(all)).ok());
		store.join(anInstance("self"));
		for (int i = 0; i < 7; i++) {
			std::vector<Change> changes;
			for (int j = 0; j < 100; j++)
				changes.push_back(is(aTarget(fmt::format("{}-{}", i, j))));
			changes.push_back(is(aHost(std::to_string(i))));
			CHECK(written(loop, store, changes) == "");
		}
		bool raised = false; // far above that of a new store
		store.raise(nowMs() * 3, [&](const nvmeof::Result<void> &done) { raised = done.ok(); });
		REQUIRE(raised);
		first = all.generation;
	}
	all.records.erase(anInstance("self").key());
	{
		SqliteStore from(loop, folder.path() / "from");
		EtcdStore to(loop, options);
		CHECK(outcomeOf(loop, from, to, moved) == "");
		CHECK(moved.records == 707);
		CHECK(moved.before == first);
		CHECK(to.state().writable);
	}
	{
		// a second time: the records are already there
		SqliteStore from(loop, folder.path() / "from");
		EtcdStore to(loop, options);
		CHECK(outcomeOf(loop, from, to, moved) == "");
	}
	{
		ReportedRecords there;
		EtcdStore store(loop, options);
		REQUIRE(store.start(std::ref(there)).ok());
		REQUIRE(until(loop, [&] { return there.whole && store.state().staleSince == 0; }));
		CHECK(there.records == all.records);
		CHECK(there.generation > first);
		CHECK(written(loop, store, {is(aZone("new"))}) == "");
		second = there.generation;
	}
	{
		SqliteStore from(loop, folder.path() / "from"), into(loop, folder.path() / "from2");
		EtcdStore to(loop, options);
		CHECK_THAT(outcomeOf(loop, from, to, moved), Contains("already has records") && Contains("zones/new"));
		EtcdStore etcd(loop, options);
		CHECK(outcomeOf(loop, etcd, into, moved) == "");
		CHECK(moved.records == 708);
	}
	ReportedRecords back;
	SqliteStore store(loop, folder.path() / "from2");
	REQUIRE(store.start(std::ref(back)).ok());
	CHECK(back.records.size() == 708);
	CHECK(back.generation > second);
}
