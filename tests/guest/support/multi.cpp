// SPDX-License-Identifier: LGPL-2.1-or-later
#include "multi.h"

namespace guest {
namespace {

// 10.N.0.0 of the first lane; other tests use lower numbers
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

Multi::Multi(const MultiOptions &options) : MultipathRig(host), subsystem_(testNqn)
{
	std::vector<std::string> devices;
	if (options.device.empty())
		for (auto size : options.namespaces)
			devices.push_back(backing_.emplace_back(std::make_unique<Loop>(size))->device());
	else
		devices.push_back(options.device);
	for (auto &device : devices) {
		namespaces_++;
		subsystem_.addNamespace(namespaces_, device, {.anaGroup = namespaces_});
	}
	for (unsigned n = 0; n < options.lanes; n++) {
		auto transport = n < options.transports.size() ? options.transports[n] : guest::transport();
		lanes_.push_back(std::make_unique<Lane>(n, subsystem_, transport));
		// in nvmet, groups other than the first start as inaccessible
		for (unsigned group = 1; group <= namespaces_; group++)
			lanes_.back()->setAna(group, "optimized");
	}
}

void Multi::setAna(unsigned group, const std::string &state)
{
	for (auto &l : lanes_)
		l->setAna(group, state);
}

// Repairs all links first, so that the host, destroyed next, can disconnect.
Multi::~Multi()
{
	for (auto &l : lanes_)
		l->repair();
}

nvmeof::ConnectOptions Multi::options(unsigned lane) const
{
	auto o = Host::options(lanes_[lane]->address(), "4420");
	o.transport = lanes_[lane]->transport();
	o.ctrlLoss = scaled(90s); // ends a test that fails
	return o;
}

} // namespace guest
