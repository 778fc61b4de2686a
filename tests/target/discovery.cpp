// SPDX-License-Identifier: LGPL-2.1-or-later
#include "discovery.h"

#include "connection.h"

#include <algorithm>

namespace target {
namespace {

// Sends one event to the host; the next one only after the host has read the log; Base 2.0, 5.2
void tell(Association &host)
{
	std::lock_guard guard(host.lock);
	if (!(host.asyncConfig >> 31 & 1) || host.discoveryEventPending || !host.admin)
		return;
	host.discoveryEventPending = true;
	host.admin->post([conn = host.admin] { conn->tell(event_discovery_changed); });
}

} // namespace

// Takes the locks of the hosts only after the lock of the log was dropped.
template <class Fn> void Discovery::change(Fn &&how)
{
	std::vector<std::shared_ptr<Association>> hosts;
	{
		std::lock_guard guard(lock_);
		how();
		generation_++;
		std::erase_if(hosts_, [](auto &h) { return h.expired(); });
		for (auto &h : hosts_)
			if (auto host = h.lock())
				hosts.push_back(std::move(host));
	}
	for (auto &host : hosts)
		tell(*host);
}

void Discovery::setNqn(std::string nqn)
{
	change([&] {
		nqn_ = std::move(nqn);
		for (auto &p : ports_)
			setText(p.current.subnqn, nqn_, 0);
	});
}

std::string Discovery::nqn() const
{
	std::lock_guard guard(lock_);
	return nqn_;
}

bool Discovery::answersTo(const std::string &nqn) const
{
	return nqn == wellKnownDiscoveryNqn || nqn == this->nqn();
}

std::uint16_t Discovery::freePortId() const
{
	auto used = [this](std::uint16_t id) {
		return std::any_of(ports_.begin(), ports_.end(), [id](auto &p) { return p.nvm.portid == id; });
	};
	std::uint16_t id = 1;
	while (used(id))
		id++;
	return id;
}

void Discovery::addPort(const Server &port)
{
	auto &config = port.config();
	auto &address = config.advertised.empty() ? config.address : config.advertised;
	change([&] {
		Port p{&port, makeEntry(sub_nvm, config.nqn, address, port.port()),
		       makeEntry(sub_current, nqn_, address, port.port())};
		if (config.transport == Transport::rdma)
			for (auto *entry : {&p.nvm, &p.current}) {
				entry->trtype = tr_rdma;
				entry->setRdma({qp_connected, pr_none, cms_rdma_cm, {}, 0, {}});
			}
		p.nvm.portid = p.current.portid = freePortId();
		if (config.allowSqflowOff)
			p.nvm.treq = p.current.treq = treq_not_required | treq_sqflow_off;
		p.current.eflags = config.persistentDiscovery ? ef_persistent : 0;
		ports_.push_back(p);
	});
}

bool Discovery::knows(const Server &port) const
{
	std::lock_guard guard(lock_);
	return std::any_of(ports_.begin(), ports_.end(), [&](auto &p) { return p.server == &port; });
}

void Discovery::removePort(const Server &port)
{
	if (knows(port))
		change([&] { std::erase_if(ports_, [&](auto &p) { return p.server == &port; }); });
}

void Discovery::add(const std::vector<DiscoveryEntry> &entries)
{
	change([&] { added_.insert(added_.end(), entries.begin(), entries.end()); });
}

void Discovery::refer(const std::string &address, std::uint16_t port)
{
	add({makeEntry(sub_referral, wellKnownDiscoveryNqn, address, port)});
}

void Discovery::clear()
{
	change([&] { added_.clear(); });
}

void Discovery::setEntryLimit(std::size_t entries)
{
	change([&] { entryLimit_ = entries; });
}

void Discovery::rotate(bool secretly)
{
	if (!secretly)
		return change([&] { rotation_++; });
	std::lock_guard guard(lock_);
	rotation_++;
}

std::uint64_t Discovery::generation() const
{
	std::lock_guard guard(lock_);
	return generation_;
}

void Discovery::setGeneration(std::uint64_t generation)
{
	std::lock_guard guard(lock_);
	generation_ = generation;
}

// Entries that exist without add(): the service itself, at the port that was read, and all ports
std::vector<DiscoveryEntry> Discovery::fixed(const Server &asked) const
{
	std::vector<DiscoveryEntry> list;
	for (auto &p : ports_)
		if (p.server == &asked)
			list.push_back(p.current);
	for (auto &p : ports_)
		list.push_back(p.nvm);
	return list;
}

std::uint64_t Discovery::countLocked(const Server &asked) const
{
	return std::min(fixed(asked).size() + added_.size(), entryLimit_);
}

std::uint64_t Discovery::size(const Server &asked) const
{
	std::lock_guard guard(lock_);
	return (countLocked(asked) + 1) * discoveryBlock;
}

std::vector<Bytes> Discovery::blocks(const Server &asked, std::uint64_t first, std::uint64_t count) const
{
	std::lock_guard guard(lock_);
	auto ports = fixed(asked);
	auto all = ports.size() + added_.size();
	DiscoveryHeader header{};
	header.genctr = generation_;
	header.numrec = countLocked(asked);
	std::vector<Bytes> out;
	for (auto i = first; i < first + count; i++) {
		auto entry = all ? (i - 1 + rotation_) % all : 0;
		if (i == 0)
			out.push_back(encode(header));
		else if (i > header.numrec)
			out.emplace_back(discoveryBlock);
		else
			out.push_back(encode(entry < ports.size() ? ports[entry] : added_[entry - ports.size()]));
	}
	return out;
}

void Discovery::registerHost(const Registration &host)
{
	std::lock_guard guard(lock_);
	registered_[host.nqn] = host;
}

std::vector<Registration> Discovery::registered() const
{
	std::lock_guard guard(lock_);
	std::vector<Registration> all;
	for (auto &[nqn, host] : registered_)
		all.push_back(host);
	return all;
}

void Discovery::forgetHosts()
{
	std::lock_guard guard(lock_);
	registered_.clear();
}

void Discovery::interruptRegistrations(unsigned count)
{
	std::lock_guard guard(lock_);
	interruptions_ = count;
}

bool Discovery::consumeInterruption()
{
	std::lock_guard guard(lock_);
	return interruptions_ > 0 && interruptions_-- > 0;
}

void Discovery::subscribe(const std::shared_ptr<Association> &host)
{
	std::lock_guard guard(lock_);
	hosts_.push_back(host);
}

} // namespace target
