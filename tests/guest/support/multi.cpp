// SPDX-License-Identifier: LGPL-2.1-or-later
#include "multi.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <thread>

namespace guest {
namespace {

// 10.N.0.0 of the first one; those below belong to other tests
constexpr unsigned firstSubnet = 40;

} // namespace

Lane::Lane(unsigned number, const nvmet::Subsystem &subsystem, std::string transport)
	: number_(number), subsystem_(subsystem), transport_(std::move(transport))
{
	auto name = std::to_string(number);
	if (transport_ == "rdma") {
		nic_.emplace("lane" + name, firstSubnet + number);
	} else {
		netns_.emplace("lane" + name);
		link_.emplace(*netns_, "l" + name, firstSubnet + number);
	}
	open();
}

void Lane::close()
{
	port_.reset();
}

void Lane::open()
{
	auto inside = netns_ ? netns_->name() : "";
	port_.emplace(number_ + 1, address(), 4420,
		      nvmet::PortOptions{.netns = inside, .inlineData = {}, .transport = transport_});
	for (auto &[group, state] : ana_)
		port_->setAnaState(group, state);
	relink();
}

void Lane::unlink()
{
	port_->unlink(subsystem_);
}

void Lane::relink()
{
	port_->link(subsystem_);
}

void Lane::setAna(unsigned group, const std::string &state)
{
	ana_[group] = state;
	if (port_)
		port_->setAnaState(group, state);
}

void Lane::repair()
{
	if (link_)
		link_->repair();
	else
		nic_->repair();
}

Multi::Multi(const MultiOptions &options) : subsystem_(testNqn)
{
	std::uint32_t nsid = 0;
	for (auto size : options.namespaces) {
		backing_.push_back(std::make_unique<Loop>(size));
		nsid++;
		subsystem_.addNamespace(nsid, backing_.back()->device(), {.anaGroup = nsid});
	}
	for (unsigned n = 0; n < options.lanes; n++) {
		auto transport = n < options.transports.size() ? options.transports[n] : guest::transport();
		lanes_.push_back(std::make_unique<Lane>(n, subsystem_, transport));
		// other groups than the first begin inaccessible
		for (unsigned group = 1; group <= nsid; group++)
			lanes_.back()->setAna(group, "optimized");
	}
}

// The host goes first: over links that work, so that it can say goodbye.
Multi::~Multi()
{
	for (auto &l : lanes_)
		l->repair();
}

nvmeof::ConnectOptions Multi::options(unsigned lane) const
{
	auto o = Host::options(lanes_[lane]->address(), "4420");
	o.transport = lanes_[lane]->transport();
	o.ctrlLoss = slowly(90s); // a test that fails ends
	return o;
}

std::string Multi::connect(unsigned lane)
{
	return host.connect(options(lane)).name;
}

void Multi::connectAll()
{
	std::vector<nvmeof::ConnectOptions> all;
	for (unsigned n = 0; n < lanes(); n++)
		all.push_back(options(n));
	for (auto &c : host.client().connectAll(all, nvmeof::WaitFor::namespaces, slowly(30s)))
		take(c);
	// a path is there with the scan of its controller, its disk with that of the first
	for (std::uint32_t nsid = 1; nsid <= backing_.size(); nsid++)
		if (disk(nsid).empty())
			throw std::runtime_error("namespace " + std::to_string(nsid) + " did not come");
}

std::string Multi::name(unsigned lane)
{
	for (auto &c : take(host.client().controllers()))
		if (c.traddr == lanes_[lane]->address() && c.state < nvmeof::ControllerState::deleting)
			return c.name;
	return "";
}

nvmeof::Path Multi::path(unsigned lane, std::uint32_t nsid)
{
	auto controller = name(lane);
	for (auto &p : host.paths())
		if (p.controller == controller && p.nsid == nsid)
			return p;
	throw std::runtime_error("no path at lane " + std::to_string(lane));
}

bool Multi::waitPaths(std::uint32_t usable, std::uint32_t nsid, Millis timeout)
{
	return eventually(
		[&] {
			auto n = host.nameSpace(nsid);
			return n && n->usablePaths == usable;
		},
		timeout);
}

bool Multi::allLive(Millis timeout)
{
	return eventually(
		[&] {
			auto all = take(host.client().controllers());
			return std::all_of(all.begin(), all.end(),
					   [](auto &c) { return c.state == nvmeof::ControllerState::live; });
		},
		timeout);
}

std::string Multi::subsystemName()
{
	for (auto &s : take(host.client().subsystems()))
		if (s.nqn == testNqn)
			return s.name;
	throw std::runtime_error("no subsystem");
}

Output Multi::trySet(const std::string &values)
{
	return run("nvmeofctl set " + subsystemName() + " " + values);
}

void Multi::set(const std::string &values)
{
	auto out = trySet(values);
	if (out.status)
		throw std::runtime_error("set " + values + ": " + out.text);
}

std::vector<std::string> Multi::policies()
{
	return take(host.client().version()).selectors;
}

std::vector<std::uint64_t> Multi::counts(std::uint32_t nsid)
{
	std::vector<std::uint64_t> all;
	for (unsigned n = 0; n < lanes(); n++)
		all.push_back(name(n).empty() ? 0 : path(n, nsid).ios);
	return all;
}

bool Multi::flowing(std::uint32_t nsid, Millis timeout)
{
	auto sum = [&] {
		auto all = counts(nsid);
		return std::accumulate(all.begin(), all.end(), std::uint64_t(0));
	};
	auto before = sum();
	return eventually([&] { return sum() > before + 50; }, timeout);
}

std::vector<double> Multi::shares(const std::function<void()> &action, std::uint32_t nsid)
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

FioJob verifiedJob(const std::string &disk, unsigned seconds, unsigned depth)
{
	// no more than a slow kernel writes and reads back in that time
	return {.file = disk, .blocks = "16k", .depth = depth, .size = slow() > 1 ? "2m" : "8m", .seconds = seconds};
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
	pause(slowly(1s));
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

bool kernelSaid(const std::string &words)
{
	return run("dmesg | grep -q '" + words + "'").status == 0;
}

} // namespace guest
