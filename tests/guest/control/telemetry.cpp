// SPDX-License-Identifier: LGPL-2.1-or-later
// Telemetry of paths: statistics, Prometheus metrics, and the live view on a terminal
#include "unit/exposition_checker.h"
#include "support/multi.h"
#include "support/tmux.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace guest::telemetry {

namespace {

FioJob steady(const std::string &disk, unsigned seconds)
{
	return {.file = disk, .rw = "randrw", .depth = 8, .verify = false, .seconds = seconds};
}

nlohmann::json stats(const std::string &args = "")
{
	return nlohmann::json::parse(must("nvmeofctl stats --json " + args));
}

// Two paths that both carry I/O
struct TwoPaths : Multi {
	TwoPaths()
	{
		connectAll();
		set("iopolicy=round-robin");
	}
};

bool has(const std::string &text, const std::string &part)
{
	return text.find(part) != text.npos;
}

// Columns of a path in the wide view
enum : std::size_t { nameSpace, name, address, state, ana, iops, reads, writes, columns };

// Words of a path's table line; empty: no line. Event lines, which begin with a time, may name the path, too.
std::vector<std::string> row(const Tmux &top, const nvmeof::Path &path)
{
	std::istringstream lines(top.screen());
	for (std::string line; std::getline(lines, line);) {
		auto found = words(line);
		auto at = std::find(found.begin(), found.end(), path.name);
		if (!line.starts_with("[") && at != found.end() && at - found.begin() <= 1)
			return found;
	}
	return {};
}

bool shown(const Tmux &top, const nvmeof::Path &path)
{
	return !row(top, path).empty();
}

std::vector<std::string> cells(const Tmux &top, const nvmeof::Path &path)
{
	auto found = row(top, path);
	found.resize(std::max<std::size_t>(found.size(), columns), "");
	return found;
}

double number(const std::string &cell)
{
	return cell.empty() || cell == "-" ? 0 : std::stod(cell);
}

bool busy(const Tmux &top, const nvmeof::Path &path)
{
	auto cell = cells(top, path);
	return number(cell[iops]) > 0 && number(cell[reads]) > 0 && number(cell[writes]) > 0;
}

std::string slurp(const std::string &file)
{
	std::ifstream in(file);
	std::stringstream text;
	text << in.rdbuf();
	return text.str();
}

void checkEnd(const Tmux &top, int signal)
{
	REQUIRE(::kill(top.pid(), signal) == 0);
	CHECK(top.wait() == 128 + signal);
	CHECK(top.after() == top.before());
	CHECK_FALSE(has(top.screen(), "q quit")); // the previous content is restored
}

void checkAgrees(const nlohmann::json &json, const nvmeof::Path &path)
{
	INFO(json.dump());
	CHECK(json["ios"] == path.ios);
	CHECK(json["bytes_read"] == path.bytesRead);
	CHECK(json["bytes_written"] == path.bytesWritten);
	CHECK(json["errors"] == path.errors);
	CHECK(json["retries"] == path.retries);
	CHECK(json["failovers_from"] == path.failoversFrom);
	CHECK(json["failovers_to"] == path.failoversTo);
	CHECK(json["inflight"] == path.inflight);
	CHECK(json["ana_state"] == nvmeof::toString(path.anaState));
	CHECK(json["latency"]["read"]["buckets"] == path.readLatency);
	CHECK(json["latency"]["write"]["buckets"] == path.writeLatency);
}

} // namespace

TEST_CASE("statistics agree with the kernel's counters and with the I/O done", "[telemetry][stats]")
{
	TwoPaths multi;
	auto before = stats(multi.disk().substr(5))["namespaces"][0]["totals"];
	auto done = runFio(steady(multi.disk(), 3));
	INFO(done.text);
	REQUIRE(done.good());
	auto json = stats();
	CHECK(json["schema_version"] == 1);
	REQUIRE(json["namespaces"].size() == 1);
	auto &ns = json["namespaces"][0];
	REQUIRE(ns["paths"].size() == 2);
	std::uint64_t ios = 0, counted = 0;
	for (auto &one : ns["paths"]) {
		auto path = take(multi.host.client().path(one["name"].get<std::string>()));
		checkAgrees(one, path);
		CHECK(path.ios > 0);
		ios += path.ios;
		counted += nvmeof::countOf(path.readLatency) + nvmeof::countOf(path.writeLatency);
		CHECK(path.readLatencyTotal > 0ns);
		CHECK(path.writeLatencyTotal > 0ns);
		// the sum is consistent with the buckets
		std::chrono::nanoseconds min{0}, max{0};
		for (std::size_t i = 0; i < path.readLatency.size(); i++) {
			min += nvmeof::bucketBegin(i) * path.readLatency[i];
			max += nvmeof::bucketEnd(i) * path.readLatency[i];
		}
		CHECK(path.readLatencyTotal >= min);
		CHECK(path.readLatencyTotal <= max);
		REQUIRE(path.anaSince);
		CHECK(path.anaSince->count() < json["time_ns"].get<std::int64_t>());
	}
	CHECK(ns["totals"]["ios"] == ios);
	CHECK(counted <= ios);
	// udev may read, too
	CHECK(ns["totals"]["bytes_written"].get<std::uint64_t>() - before["bytes_written"].get<std::uint64_t>() ==
	      done.written);
	CHECK(ns["totals"]["bytes_read"].get<std::uint64_t>() - before["bytes_read"].get<std::uint64_t>() >= done.read);
	CHECK(ns["totals"]["inflight"] == 0);
	auto text = must("nvmeofctl stats");
	INFO(text);
	CHECK(has(text, std::to_string(ios)));
	CHECK(has(text, multi.name(0)));
	CHECK(stats(multi.name(1))["namespaces"][0]["paths"].size() == 1);
	CHECK(run("nvmeofctl stats nvmeof77").status == 3);
}

TEST_CASE("a lost path shows in the statistics: failovers, reconnects and the error", "[telemetry][stats]")
{
	TwoPaths multi;
	FioLoad load(steady(multi.disk(), 60));
	auto lost = multi.path(0), other = multi.path(1);
	REQUIRE(eventually([&] { return multi.path(0).ios > lost.ios + 50; }));
	multi.lane(0).link().impair("loss 100%"); // commands in flight are never answered
	REQUIRE(multi.host.waitState(lost.controller, nvmeof::ControllerState::connecting));
	auto down = stats();
	multi.lane(0).link().repair();
	REQUIRE(multi.host.waitState(lost.controller, nvmeof::ControllerState::live));
	expectGoodUntilNow(load);
	auto json = stats();
	for (auto &one : json["namespaces"][0]["paths"]) {
		INFO(one.dump());
		bool first = one["name"] == lost.name;
		CHECK(one["failovers_from"].get<std::uint64_t>() == multi.path(first ? 0 : 1).failoversFrom);
		CHECK((one["reconnects"] >= 1) == first);
		if (!first)
			CHECK(one["failovers_to"].get<std::uint64_t>() > 0);
		else
			CHECK(one["failovers_from"].get<std::uint64_t>() > 0);
	}
	CHECK(has(down["controllers"].dump(), "connecting"));
	CHECK(has(down["controllers"].dump(), "last_error"));
}

TEST_CASE("Prometheus metrics are valid, agree with the kernel's counters, and are written atomically",
	  "[telemetry][prometheus]")
{
	TwoPaths multi;
	const std::string file = "/tmp/nvmeof.prom";
	run("rm -f " + file);
	FioLoad load(steady(multi.disk(), 8));
	REQUIRE(eventually([&] { return multi.path(0).ios > 100 && multi.path(1).ios > 100; }));
	// a reader never sees a partly written file
	Background writer("for i in $(seq 60); do nvmeofctl stats --prometheus --output " + file + " || exit 1; done");
	REQUIRE(eventually([&] { return exists(file); }));
	unsigned seen = 0;
	for (; writer.running(); seen++) {
		ExpositionChecker metrics(slurp(file));
		INFO("reading " << seen);
		CHECK(metrics.problems() == std::vector<std::string>{});
		CHECK(metrics.families().contains("nvmeof_path_latency_seconds"));
		std::this_thread::sleep_for(50ms);
	}
	CHECK(writer.wait(0ms).status == 0);
	CHECK(seen > 3);
	expectGood(load);
	must("nvmeofctl stats --prometheus --output " + file);
	auto text = slurp(file);
	INFO(text);
	ExpositionChecker metrics(text);
	CHECK(metrics.problems() == std::vector<std::string>{});
	for (unsigned lane : {0u, 1u}) {
		auto path = multi.path(lane);
		ExpositionChecker::Labels labels{
			{"path", path.name}, {"namespace", path.nameSpace}, {"controller", path.controller},
			{"nqn", testNqn},    {"transport", "tcp"},          {"traddr", multi.lane(lane).address()}};
		CHECK(metrics.value("nvmeof_path_ios_total", labels) == double(path.ios));
		CHECK(metrics.value("nvmeof_path_read_bytes_total", labels) == double(path.bytesRead));
		CHECK(metrics.value("nvmeof_path_usable", labels) == 1);
		labels["op"] = "read";
		CHECK(metrics.value("nvmeof_path_latency_seconds_count", labels) ==
		      double(nvmeof::countOf(path.readLatency)));
		CHECK(metrics.value("nvmeof_path_latency_seconds_sum", labels).value_or(0) ==
		      Approx(double(path.readLatencyTotal.count()) / 1e9));
	}
	CHECK(run("ls -a /tmp | grep -F .nvmeof.prom").status == 1); // no temporary file is left
	CHECK(must("stat -c %a " + file) == "644\n");
}

TEST_CASE("top shows live I/O on two paths", "[telemetry][top]")
{
	TwoPaths multi;
	auto a = multi.path(0), b = multi.path(1);
	FioLoad load(steady(multi.disk(), 45));
	Tmux top("nvmeofctl top --delay 0.5");
	REQUIRE(top.shows(a.name));
	REQUIRE(top.shows(b.name));
	bool both = eventually([&] { return busy(top, a) && busy(top, b); }, 15s);
	INFO(top.screen());
	CHECK(both);
	for (auto *path : {&a, &b}) {
		auto cell = cells(top, *path);
		CHECK(cell[nameSpace] == path->nameSpace);
		CHECK(cell[state] == "live");
		CHECK(cell[ana] == "optimized");
	}
	CHECK(cells(top, a)[address] == multi.lane(0).address() + ":4420");
	CHECK(has(top.screen(), "2 controllers (2 live), 1 namespace, 2 paths (2 usable)"));

	multi.lane(0).setAna(1, "inaccessible");
	CHECK(eventually([&] { return cells(top, a)[ana] == "inaccessible"; }, 15s));
	CHECK(eventually([&] { return cells(top, a)[iops] == "0" && busy(top, b); }, 15s));
	multi.lane(0).setAna(1, "optimized");
	CHECK(eventually([&] { return busy(top, a); }, 15s));

	top.type("n");
	CHECK(top.shows("2/2"));
	CHECK_FALSE(shown(top, a));
	top.type("n");
	CHECK(eventually([&] { return shown(top, a); }));
	top.type("s");
	CHECK(top.shows("PATH^"));
	top.type("p");
	CHECK(top.shows("paused"));
	auto frozen = top.screen();
	std::this_thread::sleep_for(1500ms);
	CHECK(top.screen() == frozen);
	top.type("p");
	CHECK(eventually([&] { return top.screen() != frozen; }));

	top.resize(60, 8);
	CHECK(eventually([&] { return top.line("IOPS").size() <= 60 && shown(top, a); }));
	CHECK_FALSE(has(top.screen(), "ADDRESS"));
	top.resize(20, 3);
	CHECK(eventually([&] { return shown(top, a) || shown(top, b); }));
	top.resize(160, 40);
	CHECK(top.shows("ADDRESS"));

	auto gone = a.controller;
	must("nvmeofctl disconnect -d " + gone);
	CHECK(eventually([&] { return !shown(top, a) && shown(top, b); }));
	multi.connect(0);
	CHECK(top.shows("2 paths (2 usable)"));
	load.stop();

	CHECK(top.running());
	top.type("q");
	CHECK(top.wait() == 0);
	CHECK(top.after() == top.before());
	CHECK_FALSE(has(top.screen(), "q quit"));
}

TEST_CASE("top starts without the module, and continues when it is loaded again", "[telemetry][top]")
{
	TwoPaths multi;
	auto options = multi.options(0);
	multi.host.disconnectAll();
	multi.host.forget();
	REQUIRE(eventually([] { return Host::unload().status == 0 || !Host::loaded(); }, 5s));
	Tmux top("nvmeofctl top --delay 0.3");
	CHECK(top.shows("modprobe"));
	CHECK(top.shows("retrying"));
	Host::load();
	multi.host.reopen();
	CHECK(top.shows("0 paths"));
	auto c = multi.host.connect(options);
	CHECK(top.shows(c.name + "n1"));
	multi.host.disconnectAll();
	CHECK(top.shows("0 paths"));
	multi.host.forget();
	CHECK(eventually([] { return Host::unload().status == 0 || !Host::loaded(); }, 5s)); // top holds no reference
	CHECK(top.shows("modprobe"));
	Host::load();
	multi.host.reopen();
	CHECK(top.shows("0 paths"));
	checkEnd(top, SIGTERM);
	for (int signal : {SIGINT, SIGHUP, SIGQUIT}) {
		Tmux another("nvmeofctl top --delay 0.3");
		REQUIRE(another.shows("0 paths"));
		checkEnd(another, signal);
	}
}

TEST_CASE("top without a terminal requires --batch or --json", "[telemetry][top]")
{
	TwoPaths multi;
	auto refused = run("nvmeofctl top < /dev/null");
	CHECK(refused.status == 2);
	CHECK(has(refused.text, "--batch"));
	FioLoad load(steady(multi.disk(), 60));
	REQUIRE(eventually([&] { return multi.path(0).ios > 100 && multi.path(1).ios > 100; }));
	auto frames = must("nvmeofctl top --batch -n 2 --delay 0.5 < /dev/null");
	INFO(frames);
	CHECK(has(frames, multi.path(0).name));
	CHECK(frames.find("FROM/TO") != frames.rfind("FROM/TO")); // two of them
	std::istringstream lines(must("nvmeofctl top --json -n 2 --delay 0.5"));
	unsigned count = 0;
	for (std::string line; std::getline(lines, line); count++) {
		auto json = nlohmann::json::parse(line);
		CHECK(json["schema_version"] == 1);
		REQUIRE(json["paths"].size() == 2);
		for (auto &path : json["paths"])
			CHECK(path["iops"] > 0);
		CHECK(json["totals"]["p99_ns"] >= json["totals"]["p50_ns"]);
	}
	CHECK(count == 2);
	CHECK(run("nvmeofctl top --batch -n 1 --delay 0.2 > /dev/full").status != 0);
	load.stop();
}

} // namespace guest::telemetry
