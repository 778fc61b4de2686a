// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host.h"

#include "tls.h"
#include "transport.h"

#include <catch2/catch.hpp>

#include <algorithm>

namespace guest {

using nvmeof::ControllerState;

Host::Host()
{
	load();
	reopen();
}

// CHECK, because it does not throw: a test that has already failed is reported as it was.
Host::~Host()
{
	if (!client_)
		return;
	CHECK(eventually([this] { return busy() == 0; }, 5s));
	auto removal = client_->disconnectAll();
	CHECK((removal && removal->outcome()));
}

void Host::load()
{
	loadModules({"nvmeof_" + transport()});
}

bool Host::loaded()
{
	return exists("/sys/module/nvmeof");
}

Output Host::unload()
{
	return run("for transport in nvmeof_tcp nvmeof_rdma; do "
		   "[ ! -e /sys/module/$transport ] || rmmod $transport || exit; done; rmmod nvmeof");
}

void Host::reopen()
{
	client_.emplace(take(nvmeof::Client::open()));
}

bool Host::releaseLockdepReferences()
{
	if (!exists("/proc/lockdep"))
		return false;
	reopen();
	disconnectAll();
	forget();
	return true;
}

nvmeof::ConnectOptions Host::options(const std::string &address, const std::string &service, const std::string &nqn)
{
	nvmeof::ConnectOptions o;
	o.transport = transport();
	o.address = {address, service};
	o.subsysnqn = nqn;
	if (overTls())
		o.tlsKey = sharedTlsKey();
	o.reconnectDelay = 500ms; // bound of the back-off
	return o;
}

nvmeof::Controller Host::connect(const nvmeof::ConnectOptions &options, Millis timeout)
{
	return take(client_->connect(options, nvmeof::WaitFor::namespaces, scaled(timeout)));
}

nvmeof::Controller Host::controller(const std::string &name)
{
	auto found = client_->controller(name);
	if (found)
		return *found;
	nvmeof::Controller gone;
	gone.state = ControllerState::dead;
	return gone;
}

ControllerState Host::state(const std::string &name)
{
	return controller(name).state;
}

bool Host::waitState(const std::string &name, ControllerState wanted, Millis timeout)
{
	return eventually([&] { return state(name) == wanted; }, timeout);
}

bool Host::waitGone(const std::string &name, Millis timeout)
{
	return waitState(name, ControllerState::dead, timeout);
}

bool Host::waitLost(const std::string &name, Millis timeout)
{
	return waitState(name, ControllerState::lost, timeout);
}

std::optional<nvmeof::Namespace> Host::nameSpace(std::uint32_t nsid, const std::string &nqn)
{
	for (auto &s : take(client_->subsystems())) {
		if (s.nqn != nqn)
			continue;
		for (auto &n : take(client_->namespaces(s.id)))
			if (n.nsid == nsid)
				return n;
	}
	return {};
}

std::string Host::disk(std::uint32_t nsid, Millis timeout, const std::string &nqn)
{
	std::string node;
	eventually(
		[&] {
			auto n = nameSpace(nsid, nqn);
			node = n ? "/dev/" + n->name : "";
			return n && exists(node);
		},
		timeout);
	return exists(node) ? node : "";
}

std::vector<nvmeof::Path> Host::paths()
{
	return take(client_->paths());
}

std::uint32_t Host::busy()
{
	std::uint32_t sum = 0;
	for (auto &p : paths())
		sum += p.inflight;
	for (auto &n : take(client_->namespaces()))
		sum += n.waiting;
	return sum;
}

void Host::disconnectAll()
{
	REQUIRE(take(client_->disconnectAll()).outcome());
}

Watch::Watch() : stream_(take(nvmeof::EventStream::subscribe())) {}

std::optional<nvmeof::Event> Watch::find(const std::function<bool(const nvmeof::Event &)> &wanted, Millis timeout)
{
	auto end = Clock::now() + scaled(timeout);
	while (Clock::now() < end) {
		auto event = take(stream_.next(100ms));
		if (event && wanted(*event))
			return event;
	}
	return {};
}

std::vector<nvmeof::Event> Watch::drain(Millis quiet)
{
	std::vector<nvmeof::Event> events;
	while (auto event = take(stream_.next(quiet)))
		events.push_back(*std::move(event));
	return events;
}

ModuleParameter::ModuleParameter(const std::string &name, const std::string &value)
	: file_("/sys/module/nvmeof/parameters/" + name), before_(readFile(file_))
{
	writeFile(file_, value);
}

ModuleParameter::~ModuleParameter()
{
	writeFile(file_, before_);
}

} // namespace guest
