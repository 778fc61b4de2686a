// SPDX-License-Identifier: LGPL-2.1-or-later
// Events and log lines about disks that have fewer paths than expected, or none.
#include "support/block.h"
#include "support/multi.h"
#include "support/ports.h"
#include "support/probe.h"
#include "target/acts.h"
#include "target/identify.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <sched.h>
#include <thread>
#include <vector>

namespace guest::multipath_events {

using nvmeof::ControllerState;
using nvmeof::EventType;

namespace {

const auto notShared = target::acts::always(target::Hook::adminData, [](target::Strike &s) {
	return target::acts::when(s.identify(target::cns_ns), [&] { (*s.data)[target::at::nmic] = 0; });
});

auto ofDisk(EventType type)
{
	return [type](const nvmeof::Event &e) { return e.nameSpace() && e.type == type; };
}

// Two ports, of which the second does not listen
class Half : public Ports {
public:
	Half() : Ports(std::vector<target::Config>(2)) { (*this)[1].stop(); }

	// A controller that keeps trying to connect to the second port
	nvmeof::Controller keepTrying()
	{
		auto o = options(1);
		o.firstConnect = -1ms;
		auto c = take(host.client().start(o));
		CHECK(eventually([&] { return host.controller(c.name).attempts > 2; }));
		return c;
	}
	nvmeof::Namespace nameSpace() { return host.nameSpace(1, (*this)[0].config().nqn).value(); }
};

} // namespace

TEST_CASE("a controller that never connected counts as an expected path until it is deleted", "[multipath][notices]")
{
	Half ports;
	ports.connect(0);
	CHECK(ports.nameSpace().expectedPaths == 1);
	Watch watch;
	auto absent = ports.keepTrying();
	auto fewer = watch.find(ofDisk(EventType::fewerPaths));
	REQUIRE(fewer);
	CHECK(fewer->nameSpace()->livePaths == 1);
	CHECK(fewer->nameSpace()->expectedPaths == 2);
	SECTION("deleted")
	{
		CHECK(ports.host.client().disconnect(absent.name).ok());
		auto all = watch.find(ofDisk(EventType::allPaths));
		REQUIRE(all);
		CHECK(all->nameSpace()->livePaths == 1);
		CHECK(all->nameSpace()->expectedPaths == 1);
	}
	SECTION("it connects")
	{
		ports[1].start();
		auto all = watch.find(ofDisk(EventType::allPaths));
		REQUIRE(all);
		CHECK(all->nameSpace()->livePaths == 2);
		CHECK(all->nameSpace()->expectedPaths == 2);
	}
	CHECK(std::ranges::none_of(watch.drain(), ofDisk(EventType::fewerPaths))); // reported once
	CHECK(ports.work(Disk(ports.disk())) == 0);
}

TEST_CASE("paths that connect at the same time cause no event about missing paths", "[multipath][notices]")
{
	Multi rig({.lanes = 3, .namespaces = std::vector<std::uint64_t>(4, 8 << 20)});
	Watch watch;
	rig.connectAll();
	for (std::uint32_t nsid = 1; nsid <= 4; nsid++)
		CHECK(rig.waitPaths(3, nsid));
	auto events = watch.drain();
	CHECK(std::ranges::none_of(events, ofDisk(EventType::fewerPaths)));
	CHECK(std::ranges::none_of(events, ofDisk(EventType::allPaths)));
}

TEST_CASE("a private namespace expects no path of another controller", "[multipath][notices]")
{
	Half ports;
	ports[0].script().arm(notShared, target::Script::forever);
	ports.connect(0);
	Watch watch;
	auto absent = ports.keepTrying();
	CHECK(ports.nameSpace().expectedPaths == 1);
	CHECK(ports.nameSpace().livePaths == 1);
	CHECK(ports.host.client().disconnect(absent.name).ok());
	auto events = watch.drain();
	CHECK(std::ranges::none_of(events, ofDisk(EventType::fewerPaths)));
	CHECK(std::ranges::none_of(events, ofDisk(EventType::allPaths)));
}

TEST_CASE("many disks that lose their only path cause one log line, and one event each", "[multipath][notices]")
{
	constexpr std::uint32_t many = 200;
	target::Config config;
	config.namespaces = many;
	Ports ports({config});
	for (std::uint32_t nsid = 2; nsid <= many; nsid++)
		ports.subsystem().stores().add(nsid, 64 << 10);
	auto c = ports.connect(0);
	REQUIRE(take(ports.host.client().namespaces()).size() == many);
	Watch watch;
	auto tellOf = [&](EventType type) {
		std::uint32_t told = 0;
		return watch.find([&](auto &e) { return (told += ofDisk(type)(e)) == many; }, 20s).has_value();
	};
	const std::string none = "no usable path to nvmeof", one = "a usable path to nvmeof",
			  whole = ".*[(]200 disks in all[)]";
	auto before = std::array{kernelLogCount(none), kernelLogCount(none + whole), kernelLogCount(one),
				 kernelLogCount(one + whole)};
	ports[0].stop();
	CHECK(tellOf(EventType::noPath));
	ports[0].start();
	CHECK(tellOf(EventType::pathBack));
	CHECK(ports.live(c.name));
	auto after = std::array{kernelLogCount(none), kernelLogCount(none + whole), kernelLogCount(one),
				kernelLogCount(one + whole)};
	for (std::size_t i = 0; i < after.size(); i++)
		CHECK(after[i] == before[i] + 1);
}

namespace {

// Reads events and lists paths continuously beside the test. The threads run with SCHED_IDLE, so that a lock shared
// with a failover would delay it for very long.
class Monitors {
public:
	explicit Monitors(int listeners)
	{
		for (int i = 0; i < listeners; i++)
			threads_.emplace_back([](std::stop_token stop) {
				idle();
				auto stream = take(nvmeof::EventStream::subscribe());
				while (!stop.stop_requested())
					(void)stream.next(10ms);
			});
		threads_.emplace_back([this](std::stop_token stop) {
			idle();
			auto client = take(nvmeof::Client::open());
			for (; !stop.stop_requested(); lists_++)
				(void)client.paths();
		});
	}
	unsigned lists() const { return lists_; }

private:
	std::atomic<unsigned> lists_{0};
	std::vector<std::jthread> threads_;

	static void idle()
	{
		sched_param none{};
		REQUIRE(::sched_setscheduler(0, SCHED_IDLE, &none) == 0);
	}
};

} // namespace

TEST_CASE("listening for events and listing paths do not delay a failover", "[multipath][notices][gap]")
{
	constexpr std::uint32_t many = 200;
	target::Config config;
	config.ana = true;
	config.namespaces = many;
	Ports ports({config, config});
	for (std::uint32_t nsid = 2; nsid <= many; nsid++)
		ports.subsystem().stores().add(nsid, 64 << 10);
	ports.connectAll();
	REQUIRE(eventually([&] { return ports.host.paths().size() == 2 * many; }));
	Probe probe(ports.host.disk(many, 10s, config.nqn), {.blocks = 4, .writes = false});
	// The median: a contended lock affects every gap, other activity only some.
	auto middle = [&](auto more) {
		std::vector<Millis> gaps;
		while (gaps.size() < 15 || (gaps.size() < 60 && more())) {
			std::size_t i = gaps.size() % 2;
			probe.mark();
			ports[i].setAnaState(1, target::ana_inaccessible);
			std::this_thread::sleep_for(300ms);
			ports[i].setAnaState(1, target::ana_optimized);
			gaps.push_back(probe.longest());
			std::this_thread::sleep_for(300ms);
		}
		std::ranges::sort(gaps);
		return gaps[gaps.size() / 2];
	};
	auto alone = middle([] { return false; });
	Monitors monitors(2);
	// The duration of a list varies, so this goes on until there were some.
	auto watched = middle([&] { return monitors.lists() <= 2; });
	std::printf("figure: failover of %u namespaces: %ld ms, with listeners and lists %ld ms (%u lists)\n", many,
		    alone.count(), watched.count(), monitors.lists());
	CHECK(probe.error() == 0);
	CHECK(monitors.lists() > 2);
	// A list takes half a second. It holds its lock for eight paths at a time, which may delay a failover while the
	// thread waits for a CPU. A lock held for the whole list would cost a quarter of a second.
	CHECK(watched < alone + scaled(60ms));
}

} // namespace guest::multipath_events
