// SPDX-License-Identifier: LGPL-2.1-or-later
// The parsed records of the store, with the discovery log entries made of them
#pragma once

#include <map>
#include <memory>

#include "store.h"

namespace cdc {

// A log entry, created once and shared by all pages. It stays the same object as long as its contents are the same.
using Block = std::shared_ptr<const nofctl::wire::DiscoveryEntry>;

class Model {
public:
	struct Port {
		Target target;
		Block entry;
	};
	struct Service {
		Instance instance;
		std::vector<Block> entries; // one for each address
	};

	// @self: ID of this instance; its entries differ from those of other instances
	explicit Model(std::string self = {}) : self_(std::move(self)) {}

	// Skips invalid records; returns a message for each of them.
	std::vector<std::string> apply(const StoreUpdate &news);

	const std::map<std::string, Port> &targets() const { return targets_; } // by key, like the others
	const std::map<std::string, Zone> &zones() const { return zones_; }
	const std::map<std::string, Host> &hosts() const { return hosts_; }
	const std::map<std::string, Service> &instances() const { return instances_; }
	// Calls @call with the target, zone or host of @key, if it exists.
	template <typename Call> void visit(const std::string &key, Call call) const
	{
		if (auto port = targets_.find(key); port != targets_.end())
			call(port->second.target);
		else if (auto zone = zones_.find(key); zone != zones_.end())
			call(zone->second);
		else if (auto host = hosts_.find(key); host != hosts_.end())
			call(host->second);
	}
	// Number of hosts that have registered from the network of @from
	std::size_t registeredFrom(const std::string &from) const;
	std::uint64_t generation() const { return generation_; }
	const std::string &self() const { return self_; }

private:
	nvmeof::Result<void> put(const Change &change);
	nvmeof::Result<void> putTarget(const std::string &key, const Json &json);
	nvmeof::Result<void> putHost(const std::string &key, const Json &json);
	void removeHost(const std::string &key);
	nvmeof::Result<void> putInstance(const std::string &key, const Json &json);
	void remove(const std::string &key);
	void keepOnly(const std::vector<Change> &current);
	void makeEntries();

	std::string self_;
	std::map<std::string, Port> targets_;
	std::map<std::string, Zone> zones_;
	std::map<std::string, Host> hosts_;
	std::map<std::string, Service> instances_;
	std::map<std::string, std::size_t> hostsFrom_; // by network
	std::uint64_t generation_ = 0;
	std::vector<std::string> changed_; // keys of targets without an entry, during apply()
};

} // namespace cdc
