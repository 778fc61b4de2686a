// SPDX-License-Identifier: LGPL-2.1-or-later
#include "multipath_rig.h"

#include "kernel_log.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace guest {

std::string MultipathRig::connect(unsigned lane)
{
	return host_.connect(options(lane)).name;
}

void MultipathRig::connectAll()
{
	std::vector<nvmeof::ConnectOptions> all;
	for (unsigned n = 0; n < lanes(); n++)
		all.push_back(options(n));
	for (auto &c : host_.client().connectAll(all, nvmeof::WaitFor::namespaces, scaled(30s)))
		take(c);
	// a path exists after the scan of its controller, the disk after the first scan
	for (std::uint32_t nsid = 1; nsid <= namespaces(); nsid++)
		if (disk(nsid).empty())
			throw std::runtime_error("namespace " + std::to_string(nsid) + " did not come");
}

std::string MultipathRig::name(unsigned lane)
{
	for (auto &c : take(host_.client().controllers()))
		if (c.traddr == options(lane).address.traddr && !isEnding(c.state))
			return c.name;
	return "";
}

nvmeof::Path MultipathRig::path(unsigned lane, std::uint32_t nsid)
{
	auto controller = name(lane);
	for (auto &p : host_.paths())
		if (p.controller == controller && p.nsid == nsid)
			return p;
	throw std::runtime_error("no path at lane " + std::to_string(lane));
}

bool MultipathRig::waitPaths(std::uint32_t usable, std::uint32_t nsid, Millis timeout)
{
	return eventually(
		[&] {
			auto n = host_.nameSpace(nsid);
			return n && n->usablePaths == usable;
		},
		timeout);
}

bool MultipathRig::allLive(Millis timeout)
{
	return eventually(
		[&] {
			auto all = take(host_.client().controllers());
			return std::all_of(all.begin(), all.end(),
					   [](auto &c) { return c.state == nvmeof::ControllerState::live; });
		},
		timeout);
}

bool MultipathRig::waitAna(unsigned lane, nvmeof::AnaState state, std::uint32_t nsid, Millis timeout)
{
	return eventually([&] { return path(lane, nsid).anaState == state; }, timeout);
}

std::string MultipathRig::subsystemName()
{
	for (auto &s : take(host_.client().subsystems()))
		if (s.nqn == testNqn)
			return s.name;
	throw std::runtime_error("no subsystem");
}

Output MultipathRig::trySet(const std::string &values)
{
	return run("nvmeofctl set " + subsystemName() + " " + values);
}

void MultipathRig::set(const std::string &values)
{
	auto out = trySet(values);
	if (out.status)
		throw std::runtime_error("set " + values + ": " + out.text);
}

std::vector<std::string> MultipathRig::policies()
{
	return take(host_.client().version()).selectors;
}

std::vector<std::uint64_t> MultipathRig::counts(std::uint32_t nsid)
{
	std::vector<std::uint64_t> all;
	for (unsigned n = 0; n < lanes(); n++)
		all.push_back(name(n).empty() ? 0 : path(n, nsid).ios);
	return all;
}

bool MultipathRig::waitForLoad(std::uint32_t nsid, Millis timeout)
{
	auto sum = [&] {
		auto all = counts(nsid);
		return std::accumulate(all.begin(), all.end(), std::uint64_t(0));
	};
	auto before = sum();
	return eventually([&] { return sum() > before + 50; }, timeout);
}

std::vector<double> MultipathRig::shares(const std::function<void()> &action, std::uint32_t nsid)
{
	auto before = counts(nsid);
	action();
	auto after = counts(nsid);
	double sum = 0;
	std::vector<double> part;
	for (unsigned n = 0; n < lanes(); n++) {
		part.push_back(static_cast<double>(after[n]) - static_cast<double>(before[n]));
		sum += part.back();
	}
	for (auto &p : part)
		p = sum > 0 ? p / sum : 0;
	return part;
}

std::string percent(const std::vector<double> &shares)
{
	std::ostringstream text;
	for (auto s : shares)
		text << static_cast<int>(s * 100 + 0.5) << " % ";
	return text.str();
}

unsigned MultipathRig::busyLane()
{
	auto all = shares([] { pause(200ms); });
	for (unsigned n = 0; n < lanes(); n++)
		if (all[n] > 0.5)
			return n;
	throw std::runtime_error("no lane carries the load");
}

FioJob verifiedJob(const std::string &disk, unsigned seconds, unsigned depth)
{
	// no more data than a slow kernel writes and reads back in that time
	return {.file = disk,
		.blocks = "16k",
		.depth = depth,
		.size = timeScale() > 1 ? "2m" : "8m",
		.seconds = seconds};
}

static void expectGood(const FioResult &result)
{
	INFO(result.text);
	CHECK(result.good());
	CHECK(result.written > 0);
}

void expectGood(FioLoad &load)
{
	expectGood(load.wait(90s));
}

void expectGoodUntilNow(FioLoad &load)
{
	CHECK(load.running());
	pause(scaled(1s));
	expectGood(load.finish(90s));
}

void expectGood(Probe &probe)
{
	probe.stop();
	INFO(std::strerror(-probe.error()));
	CHECK(probe.error() == 0);
	CHECK(probe.ios() > 0);
}

void pause(Millis time)
{
	std::this_thread::sleep_for(time);
}

// Only lines since the test case began, because names repeat between test cases
static std::string kernelLog()
{
	return "dmesg | tac | sed '/" + std::string(caseBegins) + "/q'";
}

bool kernelLogHas(const std::string &words)
{
	return run(kernelLog() + " | grep -q '" + words + "'").status == 0;
}

unsigned long kernelLogCount(const std::string &words)
{
	return std::stoul(must(kernelLog() + " | grep -cE '" + words + "' || true"));
}

} // namespace guest
