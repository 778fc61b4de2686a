// SPDX-License-Identifier: LGPL-2.1-or-later
// Reports of an instance about itself: documents, byte for byte as in golden/, and metrics. After an intended
// change: NVMEOF_GOLDEN=write tests/sanitize/run unit_cdc "[golden]"; then review the difference and update
// Documentation/json.md.
#include <catch2/catch.hpp>

#include <set>

#include "tests/unit/exposition_checker.h"
#include "sample.h"
#include "tests/unit/golden.h"
#include "status.h"

using namespace cdc;
using namespace golden;
using namespace nofctl::wire;

namespace {

Host registered(const std::string &nqn)
{
	return {nqn,
		"12345678-9abc-4def-8123-456789abcdef",
		"node1",
		"Linux 6.12",
		{"tcp 10.1.0.1"},
		{"push", nqn, 1700000600}};
}

std::vector<Change> records()
{
	Target file = someTarget(0), pushed = someTarget(1, ana_inaccessible);
	file.origin = {"file", selfId, 0};
	pushed.origin = {"push", "nqn.discovery", 1700000900};
	pushed.transport = tr_rdma;
	Zone zone = someZone("rack1", {"nqn.a*"}, {file.nqn});
	zone.auth = Demand::required;
	zone.tls = Demand::preferred;
	return {putOf(file),
		putOf(pushed),
		putOf(zone),
		putOf(registered("nqn.a1")),
		putOf(registered("nqn.away")),
		putOf(Instance{selfId, "nqn.self", {"10.0.0.1:8009", "[fd00::1]:8009"}, false, Demand::required}),
		putOf(Instance{"22222222-2222-4333-8444-555555555555", "nqn.other", {"10.0.0.2:8009"}, true})};
}

// A snapshot in which every member is set
Snapshot wholePicture()
{
	Sample sample;
	sample.tell(records());
	Snapshot snapshot;
	snapshot.identity = {selfId, "nqn.self", "11111111222243338444", "0.0"};
	snapshot.time = 1700000001.5;
	snapshot.since = 1700000000;
	snapshot.draining = true;
	snapshot.store = {"sqlite", "/var/lib/nvmeof-cdc/cdc.db", false, "the disk is full", 1699999990};
	for (std::size_t i = 0; i < counterTexts().size(); i++)
		snapshot.counters.push_back(i + 1);
	for (std::size_t i = 0; i < servedCount; i++) {
		Latency latency;
		latency.add(std::chrono::microseconds(10 * (i + 1)));
		latency.add(std::chrono::seconds(10));
		snapshot.commands.push_back(latency.read());
	}
	snapshot.open = 4;
	snapshot.model = std::make_shared<const Model>(sample.model);
	snapshot.views = sample.views;
	snapshot.sessions = {
		{"nqn.a1", "10.1.0.1", 102, true, true, 7, "nqn.a1", "44444444-2222-4333-8444-555555555555"},
		{"nqn.a1", "10.2.0.1", 101, false, false, 8, {}, "55555555-2222-4333-8444-555555555555"},
		{"nqn.b", "10.1.0.2", 100, false, true, 9},
		{"nqn.c", "10.1.0.3", 0, false, false, 10}};
	snapshot.sessions[0].proof = {1, 2, true};
	snapshot.sessions[0].tls = {"nqn.a1", "nqn.self", "TLS_AES_128_GCM_SHA256", "NVMe0R01 nqn.a1 nqn.self"};
	snapshot.changeEvents = {{1, 1700000000.25, 101, {}, {}, 0, true},
				 {2, 1700000001, 102, {"zones/rack1"}, {"targets/nqn.x tcp 10.0.0.9 4420"}, 3, false}};
	return snapshot;
}

struct Golden {
	std::string file;
	Json document;
};

std::vector<Golden> all()
{
	const Snapshot snapshot = wholePicture();
	return {{"status.json", statusJson(snapshot)},       {"hosts.json", hostsJson(snapshot)},
		{"targets.json", targetsJson(snapshot)},     {"zones.json", zonesJson(snapshot)},
		{"instances.json", instancesJson(snapshot)}, {"changes.json", changesJson(snapshot)},
		{"state.json", stateJson(snapshot)}};
}

} // namespace

TEST_CASE("documents of nvmeof-cdc equal the golden files byte for byte", "[golden]")
{
	std::set<std::string> files;
	for (const Golden &golden : all()) {
		CAPTURE(golden.file);
		checkFile(sources / "cdc/golden" / golden.file, golden.document.dump(2) + "\n");
		files.insert(golden.file);
	}
	for (const auto &entry : std::filesystem::directory_iterator(sources / "cdc/golden"))
		CHECK(files.contains(entry.path().filename()));
}

TEST_CASE("each member of nvmeof-cdc's documents is in the reference", "[golden]")
{
	const std::string reference = textOf(sources / "../../Documentation/json.md");
	std::set<std::string> keys;
	for (const Golden &golden : all())
		keysOf(golden.document, keys);
	for (const std::string &key : keys) {
		CAPTURE(key);
		CHECK(reference.find("`" + key + "`") != std::string::npos);
	}
}

TEST_CASE("renamed members have their old names, too, for one version", "[status]")
{
	const Snapshot snapshot = wholePicture();
	const auto store = statusJson(snapshot)["store"];
	CHECK(store["stale_since"] == 1699999990);
	CHECK(store["aged_since"] == store["stale_since"]);
	const auto targets = targetsJson(snapshot)["targets"];
	REQUIRE(targets.size() == 2);
	for (const auto &target : targets)
		CHECK(target["seen_by"] == target["visible_to"]);
	CHECK(targets[0]["visible_to"] == 2);
}

TEST_CASE("hosts are the connected and the registered ones, with the best values of their connections", "[status]")
{
	const Snapshot snapshot = wholePicture();
	const std::vector<HostStatus> hosts = hostStatuses(snapshot);
	REQUIRE(hosts.size() == 4);
	CHECK(hosts[0].nqn == "nqn.a1");
	CHECK(hosts[0].sessions.size() == 2);
	CHECK(hosts[0].generation() == 102);
	CHECK(hosts[0].persistent());
	CHECK(hosts[0].state() == std::string("current"));
	CHECK(hosts[1].state() == std::string("away"));
	CHECK(hosts[2].state() == std::string("behind"));
	CHECK(hosts[3].state() == std::string("unread"));
}

TEST_CASE("hosts see the targets of their zones", "[status]")
{
	const Snapshot snapshot = wholePicture();
	const Visibility visibility(snapshot);
	CHECK(visibility.visibleTo() == std::vector<std::size_t>{2, 0}); // nqn.a1, nqn.away
	REQUIRE(visibility.views().size() == 2);
	CHECK(visibility.viewOf(0) == visibility.viewOf(1));
	CHECK(visibility.views()[visibility.viewOf(2)].targets.empty());
}

TEST_CASE("the state can be requested before the store has reported anything", "[status]")
{
	Snapshot snapshot = wholePicture();
	snapshot.model = std::make_shared<const Model>(selfId);
	snapshot.views.reset();
	const Json state = stateJson(snapshot);
	CHECK(state["serving"] == false);
	CHECK(state["hosts"].size() == 3);
	CHECK_FALSE(state["hosts"][0].contains("view"));
	CHECK(hostsJson(snapshot)["hosts"].size() == 3);
	CHECK(ExpositionChecker(metricsText(snapshot)).problems().empty());
}

TEST_CASE("metrics are well-formed and have the right values", "[metrics]")
{
	const ExpositionChecker checked(metricsText(wholePicture()));
	CHECK(checked.problems() == std::vector<std::string>{});
	CHECK(checked.value("nvmeof_cdc_info", {{"nqn", "nqn.self"}}) == 1);
	CHECK(checked.value("nvmeof_cdc_generation") == 102);
	CHECK(checked.value("nvmeof_cdc_draining") == 1);
	CHECK(checked.value("nvmeof_cdc_store_writable", {{"engine", "sqlite"}}) == 0);
	CHECK(checked.value("nvmeof_cdc_store_age_seconds") == 11.5);
	CHECK(checked.value("nvmeof_cdc_targets", {{"state", "inaccessible"}}) == 1);
	CHECK(checked.value("nvmeof_cdc_targets", {{"state", "change"}}) == 0);
	CHECK(checked.value("nvmeof_cdc_hosts_registered") == 2);
	for (const char *log : {"current", "behind", "unread"})
		CHECK(checked.value("nvmeof_cdc_hosts_connected", {{"log", log}}) == 1);
	CHECK(checked.value("nvmeof_cdc_hosts_persistent") == 2);
	const std::string latency = "nvmeof_cdc_command_latency_seconds";
	for (const char *command : {"connect", "get_log_page", "registration", "other"})
		CHECK(checked.value(latency + "_count", {{"command", command}}) == 2);
	CHECK(checked.value(latency + "_sum", {{"command", "get_log_page"}}) == 10.00002);
	CHECK(checked.value(latency + "_bucket", {{"command", "get_log_page"}, {"le", "1.6384e-05"}}) == 0);
	CHECK(checked.value(latency + "_bucket", {{"command", "get_log_page"}, {"le", "3.2768e-05"}}) == 1);
	CHECK(checked.value(latency + "_bucket", {{"command", "get_log_page"}, {"le", "+Inf"}}) == 2);
	CHECK(checked.value("nvmeof_cdc_publication_latency_seconds_count") == 0);
	for (std::size_t i = 0; i < counterTexts().size(); i++) {
		const std::string name = std::string("nvmeof_cdc_") + counterTexts()[i].name + "_total";
		CHECK(checked.value(name) == static_cast<double>(i + 1));
		CHECK(checked.families().at(name) == "counter");
	}
}

TEST_CASE("each of the largest zones has metrics of its own, the others have sums", "[metrics]")
{
	const ExpositionChecker whole(metricsText(wholePicture()));
	const ExpositionChecker::Labels rack{{"zone", "rack1"}};
	CHECK(whole.value("nvmeof_cdc_zone_hosts", rack) == 2); // nqn.a1 is connected, nqn.away is registered
	CHECK(whole.value("nvmeof_cdc_zone_hosts_connected", rack) == 1);
	CHECK(whole.value("nvmeof_cdc_zone_subsystems", rack) == 1);
	CHECK(whole.value("nvmeof_cdc_zone_targets", rack) == 1);
	CHECK(whole.value("nvmeof_cdc_zone_log_reads_total", rack) == 0);

	Sample sample(4); // the second zone sees a subsystem with two ports
	Target port = someTarget(1);
	port.traddr = "10.9.9.9";
	std::vector<Change> records{putOf(port), putOf(someZone("a\"b\\c", {"nqn.h0", "nqn.h1"}, {someTarget(1).nqn}))};
	for (int i = 0; i < 300; i++)
		records.push_back(
			putOf(someZone("z" + std::to_string(1000 + i), {"nqn.h" + std::to_string(i)}, {"*"})));
	sample.tell(records);
	Snapshot snapshot;
	snapshot.identity = {selfId, "nqn.self", "serial", "0.0"};
	snapshot.model = std::make_shared<const Model>(sample.model);
	for (int i = 0; i < 290; i++)
		snapshot.sessions.push_back({"nqn.h" + std::to_string(i), "10.1.0.1", 0, false, false, 1});
	snapshot.views = sample.views;
	for (int i = 0; i < 3; i++)
		sample.views->zonesOf("nqn.h299")->countRead();
	sample.views->zonesOf("nqn.h1")->countRead();
	sample.tell({putOf(someZone("new", {}, {}))}); // a new zone does not reset the counters of the others
	sample.views->zonesOf("nqn.h1")->countRead();
	snapshot.views = sample.views;
	const ExpositionChecker checked(metricsText(snapshot));
	CHECK(checked.problems() == std::vector<std::string>{});
	const ExpositionChecker::Labels first{{"zone", "a\"b\\c"}}, others{{"zone", "other zones"}};
	CHECK(checked.value("nvmeof_cdc_zone_hosts", first) == 2);
	CHECK(checked.value("nvmeof_cdc_zone_subsystems", first) == 1);
	CHECK(checked.value("nvmeof_cdc_zone_targets", first) == 2);
	CHECK(checked.value("nvmeof_cdc_zone_log_reads_total", first) == 2);
	CHECK(checked.value("nvmeof_cdc_zone_targets", {{"zone", "z1000"}}) == 5);
	CHECK(checked.value("nvmeof_cdc_zone_hosts", others) == 290 - 254); // of z1254 and later
	CHECK(checked.value("nvmeof_cdc_zone_hosts_connected", others) == 36);
	CHECK_FALSE(checked.value("nvmeof_cdc_zone_log_reads_total", others)); // a sum would fall with a new zone
	CHECK_FALSE(checked.value("nvmeof_cdc_zone_targets", others));         // a target may be in many zones
	CHECK_FALSE(checked.value("nvmeof_cdc_zone_hosts", {{"zone", "z1299"}}));
}

// Names of metrics are stable (stability.md).
TEST_CASE("metrics have the documented names", "[metrics]")
{
	const std::string text = textOf(sources / "../../Documentation/cdc.md");
	const ExpositionChecker checked(metricsText(wholePicture()));
	for (const auto &[family, type] : checked.families()) {
		CAPTURE(family);
		CHECK(text.find("`" + family + "`") != std::string::npos);
	}
}
