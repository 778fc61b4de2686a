// SPDX-License-Identifier: LGPL-2.1-or-later
// Counters of paths, and trace events about paths.
#include "support/multi.h"

#include <catch2/catch.hpp>

#include <sstream>

namespace guest::multipath_telemetry {

using nvmeof::ControllerState;

namespace {

// Enables trace events of the modules and searches the trace.
class Trace {
public:
	Trace()
	{
		run("mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing");
		must("cd /sys/kernel/tracing && echo 4096 > buffer_size_kb && echo > trace");
	}
	~Trace() { run("cd /sys/kernel/tracing && echo 0 > events/nvmeof/enable; echo > trace"); }

	static void enable(const std::string &event, bool on)
	{
		writeFile("/sys/kernel/tracing/events/nvmeof/" + event + "/enable", on ? "1" : "0");
	}
	// True if a line of this event matches the regular expression.
	static bool has(const std::string &event, const std::string &text)
	{
		return run("grep -qE ' " + event + ": .*" + text + "' /sys/kernel/tracing/trace").status == 0;
	}
};

} // namespace

TEST_CASE("counters of the paths equal those of the disk, after failures and resets as well",
	  "[multipath][telemetry][short][tcp]")
{
	Multi rig({.lanes = 3});
	rig.connectAll();
	REQUIRE(rig.waitPaths(3));
	rig.set("iopolicy=round-robin");
	auto disk = rig.disk();
	must("udevadm settle 2>/dev/null; true");
	struct Sum {
		std::uint64_t ios = 0, bytes = 0;
		bool operator==(const Sum &) const = default;
	};
	auto paths = [&] {
		Sum sum;
		for (auto &p : rig.host.paths()) {
			sum.ios += p.ios;
			sum.bytes += p.bytesRead + p.bytesWritten;
		}
		return sum;
	};
	auto block = [&] {
		std::istringstream stat(readFile("/sys/block/" + disk.substr(5) + "/stat"));
		std::uint64_t f[17] = {};
		for (auto &value : f)
			stat >> value;
		return Sum{f[0] + f[4] + f[11] + f[15], (f[2] + f[6]) * 512};
	};
	pause(300ms);
	auto paths0 = paths(), block0 = block();
	FioLoad load(verifiedJob(disk, 60, 16));
	REQUIRE(rig.waitForLoad());
	rig.lane(0).link().impair("loss 100%"); // requests in flight there do not complete
	CHECK(rig.host.waitState(rig.name(0), ControllerState::connecting));
	rig.lane(0).link().repair();
	rig.lane(1).setAna(1, "inaccessible");
	pause(scaled(500ms));
	rig.lane(1).setAna(1, "optimized");
	CHECK(rig.host.client().reset(rig.name(2)).ok());
	expectGoodUntilNow(load);
	CHECK(rig.allLive());
	pause(300ms);
	auto paths1 = paths(), block1 = block();
	CHECK(paths1.ios - paths0.ios == block1.ios - block0.ios);
	CHECK(paths1.bytes - paths0.bytes == block1.bytes - block0.bytes);
	std::uint64_t retries = 0, from = 0, to = 0, latencies = 0;
	for (auto &p : rig.host.paths()) {
		CHECK(p.inflight == 0);
		retries += p.retries;
		from += p.failoversFrom;
		to += p.failoversTo;
		latencies += nvmeof::countOf(p.readLatency) + nvmeof::countOf(p.writeLatency);
	}
	CHECK(retries > 0);
	CHECK(from > 0);
	CHECK(to > 0);
	CHECK(to <= from);
	CHECK(latencies == paths1.ios);
}

TEST_CASE("trace events report path changes and requeued requests", "[multipath][trace][short][tcp]")
{
	Multi rig;
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
	rig.set("iopolicy=round-robin");
	auto first = rig.path(0).name, second = rig.path(1).name;
	auto lost = rig.name(0);
	Trace trace;
	for (auto *event : {"nof_requeue", "nof_failover", "nof_ctrl_state", "nof_path_set"})
		Trace::enable(event, true);
	FioLoad load(verifiedJob(rig.disk(), 60, 16));
	REQUIRE(rig.waitForLoad());
	CHECK_FALSE(Trace::has("nof_requeue", first));

	Trace::enable("nof_path_select", true); // one event per request: enabled only briefly
	for (auto &path : {first, second}) {
		INFO(path);
		CHECK(eventually([&] { return Trace::has("nof_path_select", path + ": context [0-9]+, tag [0-9]+"); },
				 10s));
	}
	Trace::enable("nof_path_select", false);

	rig.lane(0).link().impair("loss 100%"); // requests in flight there do not complete
	REQUIRE(rig.host.waitState(lost, ControllerState::connecting));
	bool told = eventually([&] { return Trace::has("nof_failover", "requests left " + first); });
	INFO(run("grep -v nof_path_select /sys/kernel/tracing/trace | head -n 40").text);
	CHECK(told);
	CHECK(Trace::has("nof_requeue", first + ": .*status 0x"));
	CHECK(Trace::has("nof_ctrl_state", lost + ": live -> "));
	CHECK(Trace::has("nof_path_set", ": 1 paths, 1 optimized"));
	rig.lane(0).link().repair();
	CHECK(rig.waitPaths(2));
	CHECK(eventually([&] { return Trace::has("nof_path_set", ": 2 paths, 2 optimized"); }));
	expectGoodUntilNow(load);
}

} // namespace guest::multipath_telemetry
