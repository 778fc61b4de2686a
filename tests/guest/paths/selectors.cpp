// SPDX-License-Identifier: LGPL-2.1-or-later
// A path selector in its own module (tests/kmod/selector), next to the built-in selectors
#include "support/block.h"
#include "support/multi.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <sstream>

namespace guest::selectors {

namespace {

constexpr const char *moduleName = "nvmeof_sel_sample";

std::vector<std::string> selectors(Host &host)
{
	return take(host.client().version()).selectors;
}

bool offered(Host &host, const std::string &name)
{
	auto all = selectors(host);
	return std::find(all.begin(), all.end(), name) != all.end();
}

bool loaded()
{
	return exists(std::string("/sys/module/") + moduleName);
}

// Tries to unload the module on destruction.
class Module {
public:
	Module() { must(std::string("modprobe ") + moduleName); }
	~Module() { run(std::string("rmmod ") + moduleName); }
	Module(const Module &) = delete;
	Module &operator=(const Module &) = delete;

	Output remove() const { return run(std::string("rmmod ") + moduleName); }
	std::string bytesOut() const
	{
		return readFile(std::string("/sys/module/") + moduleName + "/parameters/bytes_out");
	}
};

// Returns to a built-in policy first, because a policy in use holds its module.
struct Sampled {
	Multi rig;
	Module module;

	explicit Sampled(const MultiOptions &o = {}) : rig(o) { rig.connectAll(); }
	~Sampled() { run("nvmeofctl set " + rig.subsystemName() + " iopolicy=numa"); }
};

void load(const std::string &disk, const std::string &blocks, unsigned depth)
{
	auto result = runFio(
		{.file = disk, .rw = "randread", .blocks = blocks, .depth = depth, .verify = false, .seconds = 2});
	INFO(result.text);
	CHECK(result.good());
}

std::string show(const std::vector<double> &shares)
{
	std::ostringstream text;
	for (auto s : shares)
		text << static_cast<int>(s * 100 + 0.5) << " % ";
	return text.str();
}

} // namespace

TEST_CASE("a selector of another module is offered while its module is loaded", "[selectors][short]")
{
	Multi rig;
	rig.connectAll();
	REQUIRE_FALSE(offered(rig.host, "sample"));
	auto refused = run("nvmeofctl set " + rig.subsystemName() + " iopolicy=sample");
	CHECK(refused.status != 0);
	CHECK(refused.text.find("iopolicy") != std::string::npos);
	{
		Module module;
		CHECK(offered(rig.host, "sample"));
		for (auto *name : {"numa", "round-robin", "queue-depth", "latency"})
			CHECK(offered(rig.host, name));
	}
	CHECK_FALSE(loaded());
	CHECK_FALSE(offered(rig.host, "sample"));
}

TEST_CASE("a selector built for another API version is refused", "[selectors][short]")
{
	Host host;
	auto refused = run(std::string("modprobe ") + moduleName + " api=65535");
	INFO(refused.text);
	CHECK(refused.status != 0);
	CHECK_FALSE(loaded());
	CHECK_FALSE(offered(host, "sample"));
	Module module;
	CHECK(offered(host, "sample"));
}

TEST_CASE("a policy in use holds its module", "[selectors]")
{
	Sampled s;
	s.rig.set("iopolicy=sample");
	CHECK(take(s.rig.host.client().subsystems()).front().iopolicy == "sample");
	CHECK(s.module.remove().status != 0);
	REQUIRE(loaded());
	CHECK(Disk(s.rig.disk()).verified(0, 65536, 7) == 0);
	auto refused = run("nvmeofctl set " + s.rig.subsystemName() + " iopolicy=no-such");
	CHECK(refused.status != 0);
	INFO(refused.text);
	CHECK(refused.text.find("no iopolicy 'no-such'") != std::string::npos);
	CHECK(take(s.rig.host.client().subsystems()).front().iopolicy == "sample");
	s.rig.set("iopolicy=latency");
	CHECK(s.module.remove().status == 0);
	CHECK_FALSE(loaded());
	CHECK(Disk(s.rig.disk()).verified(0, 65536, 8) == 0);
}

TEST_CASE("a selector in another module chooses the paths, and sees each request start and end", "[selectors]")
{
	Sampled s;
	s.rig.set("iopolicy=sample");
	auto disk = s.rig.disk();
	auto alone = s.rig.shares([&] { load(disk, "4k", 1); });
	INFO("one at a time: " << show(alone));
	CHECK(*std::max_element(alone.begin(), alone.end()) > 0.98); // nothing in flight: always the first path
	auto many = s.rig.shares([&] { load(disk, "4k", 16); });
	INFO("sixteen: " << show(many));
	CHECK(*std::min_element(many.begin(), many.end()) > 0.1);
	CHECK(eventually([&] { return s.module.bytesOut() == "0"; }, 5s));
}

TEST_CASE("policies change under verified load, one of another module among them, and nothing is lost", "[selectors]")
{
	Sampled s({.lanes = 3});
	FioLoad job({.file = s.rig.disk(), .blocks = "8k", .depth = 16, .size = "8m", .seconds = 120});
	REQUIRE(s.rig.waitForLoad());
	const char *policies[] = {"sample", "latency", "sample", "round-robin", "queue-depth", "sample", "numa"};
	const char *values[] = {"spill-us=2000", "spill-us=0 spill-depth=4", "degrade=on", "spill-depth=0 degrade=off"};
	for (unsigned changes = 0; changes < std::size(policies) * std::size(values); changes++) { // all combinations
		s.rig.set(std::string("iopolicy=") + policies[changes % std::size(policies)] + " " +
			  values[changes % std::size(values)]);
		std::this_thread::sleep_for(100ms);
	}
	expectGoodUntilNow(job);
	CHECK(s.rig.host.busy() == 0);
	for (auto &path : s.rig.host.paths())
		CHECK(path.errors == 0);
}

TEST_CASE("the module is loaded and unloaded under load", "[selectors]")
{
	Multi rig;
	rig.connectAll();
	FioLoad job({.file = rig.disk(), .blocks = "8k", .depth = 8, .size = "4m", .seconds = 120});
	REQUIRE(rig.waitForLoad());
	for (int rounds = 0; rounds < 10; rounds++) {
		must(std::string("modprobe ") + moduleName);
		rig.set("iopolicy=sample");
		std::this_thread::sleep_for(50ms);
		rig.set("iopolicy=queue-depth");
		must(std::string("rmmod ") + moduleName); // immediately possible: no request is inside the selector
	}
	expectGoodUntilNow(job);
}

} // namespace guest::selectors
