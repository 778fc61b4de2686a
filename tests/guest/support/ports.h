// SPDX-License-Identifier: LGPL-2.1-or-later
// A scriptable target with several ports in this process: one subsystem, one namespace store, one controller per port
#pragma once

#include "block.h"
#include "host.h"
#include "transport.h"
#include "target/misbehaviour.h"
#include "target/server.h"

#include <catch2/catch.hpp>

#include <memory>
#include <vector>

namespace guest {

// Adds the transport and the address of this program's tests.
inline target::Config reachable(target::Config config = {})
{
	if (overRdma())
		config.transport = target::Transport::rdma;
	config.address = here();
	return config;
}

// Includes the host, which is destroyed before the target.
class Ports {
public:
	explicit Ports(const std::vector<target::Config> &configs, std::uint64_t size = 8 << 20)
		: subsystem_(std::make_shared<target::Subsystem>())
	{
		subsystem_->stores().add(1, size);
		for (auto &config : configs)
			servers_.push_back(std::make_unique<target::Server>(reachable(config), subsystem_));
	}
	~Ports() { checkServers(); }

	target::Server &operator[](std::size_t i) { return *servers_[i]; }
	std::size_t count() const { return servers_.size(); }
	target::Subsystem &subsystem() { return *subsystem_; }
	target::StalledWrites &stalledWrites() { return subsystem_->stalledWrites(); }
	target::Store &store() { return *subsystem_->stores().find(1); }

	nvmeof::ConnectOptions options(std::size_t i)
	{
		auto &server = *servers_[i];
		auto o = Host::options(here(), std::to_string(server.port()), server.config().nqn);
		o.connectTimeout = o.keepAlive = scaled(1500ms);
		o.ctrlLoss = scaled(60s);
		o.reconnectDelay = 200ms;
		o.ioQueues = 2;
		return o;
	}

	nvmeof::Controller connect(std::size_t i) { return host.connect(options(i)); }

	std::vector<nvmeof::Controller> connectAll()
	{
		std::vector<nvmeof::Controller> list;
		for (std::size_t i = 0; i < count(); i++)
			list.push_back(connect(i));
		return list;
	}

	std::string disk() { return host.disk(1, 10s, servers_[0]->config().nqn); }

	// "nvmeof0"
	std::string subsystemName()
	{
		for (auto &s : take(host.client().subsystems()))
			if (s.nqn == servers_[0]->config().nqn)
				return s.name;
		throw std::runtime_error("no subsystem");
	}

	// A subsystem setting in the syntax of nvmeofctl set: "fencing=safe"
	void set(const std::string &word)
	{
		auto settings = take(nvmeof::parseSubsystemSettings(std::vector<std::string>{word}));
		auto result = host.client().set(subsystemName(), settings);
		if (!result)
			throw std::runtime_error(result.error().message);
	}

	bool live(const std::string &name) { return host.waitState(name, nvmeof::ControllerState::live, 15s); }

	// Current paths, for messages
	std::string paths()
	{
		std::string text;
		for (auto &p : host.paths())
			text += p.name + " " + toString(p.controllerState) + " " + toString(p.anaState) +
				(p.usable ? " usable; " : " not usable; ");
		return text;
	}

	// Writes in-capsule and by R2T, reads back, and compares with the store.
	int work(const Disk &disk)
	{
		for (std::size_t length : {4096u, 131072u}) {
			auto offset = std::uint64_t(seed_ % 8) * 131072;
			if (int err = disk.verified(offset, length, seed_))
				return err;
			if (!stored(offset, length, seed_++))
				return -ESTALE;
		}
		return disk.flush();
	}

	bool stored(std::uint64_t offset, std::size_t length, std::uint32_t seed)
	{
		Buffer wanted(length);
		wanted.fill(seed);
		auto is = store().peek(offset, length);
		return std::equal(is.begin(), is.end(), wanted.data());
	}

private:
	std::shared_ptr<target::Subsystem> subsystem_;
	std::vector<std::unique_ptr<target::Server>> servers_;
	std::uint32_t seed_ = 1;

	void checkServers()
	{
		for (auto &server : servers_) {
			for (auto &text : server->violations())
				FAIL_CHECK("the host broke the protocol: " << text);
			CHECK(server->counters().digestErrors == 0);
		}
	}

public:
	Host host; // destroyed first
};

} // namespace guest
