// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * nvmeofd: keeps this host connected to what its configuration and discovery services tell. Data flow one way: events
 * and logs make what is known, that makes a plan, the plan and what is connected make a difference, and that is
 * applied. All that outlives the daemon is in the kernel and in the file of what was known last.
 */
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <nvmeof/client.h>
#include <nvmeof/config.h>
#include <nvmeof/discovery_plan.h>
#include <nvmeof/topology.h>

#include "connections.h"
#include "event_log.h"
#include "found.h"
#include "last_known.h"
#include "serving/loop.h"
#include "mdns.h"
#include "reload.h"
#include "resolver.h"
#include "service.h"
#include "status.h"
#include "stripes.h"

namespace nvmeofd {

struct Places {
	nvmeof::ConfigFiles config;
	std::filesystem::path state = "/var/lib/nvmeof"; // what was known last
};

class Daemon {
public:
	// @config: as read from the places
	Daemon(serving::Loop &loop, Places places, nvmeof::Config config, nvmeof::Client client,
	       nvmeof::Topology topology);

	// The journal has the difference, too. An error leaves everything as it was.
	nvmeof::Result<Reloaded> reload();
	// Every log is read anew, and what failed is tried at once.
	void rescan();
	// Nothing is connected or disconnected meanwhile.
	void pause(bool on);
	// The process ends: what is known is kept for the next one.
	void end();
	const nvmeof::Config &config() const { return config_; }

	// For who tells of it; good until the loop goes on.
	Status status() const;

private:
	using Services = std::map<std::string, std::unique_ptr<Service>>; // by key

	void prepare(nvmeof::Config config);
	void follow();
	void announced(const std::vector<FoundService> &services);
	void configured();
	bool topologyChanged(); // false: the module is gone
	void event(const nvmeof::Event &event);
	void reconcileSoon();
	void reconcile();
	void save();
	void keepEvents();
	void serve(const nvmeof::Plan &plan);
	void forget(bool kept);
	void forgetBygone();
	void makeService(const nvmeof::PlannedService &planned);
	void told(const std::string &key, nvmeof::DiscoveryLog log);
	std::vector<nvmeof::Change> difference();
	bool fresh() const;
	nvmeof::PlanRules rules() const;
	nvmeof::Plan makePlan() const;
	void tell(const Reloaded &reloaded) const;
	std::optional<bool> hold(const std::string &key) const;
	std::filesystem::path file() const;
	LastKnown load();

	serving::Loop &loop_;
	Places places_;
	nvmeof::Config config_;
	std::string configText_; // as it was read, before rails made more of it
	nvmeof::Client client_;
	nvmeof::Topology topology_;
	bool paused_ = false;
	bool ready_ = false;

	LastKnown remembered_; // as read at the start; only that
	std::string saved_;    // as written last
	nvmeof::KnownServices known_;
	std::set<std::string> read_; // keys of services that were read since the start
	FoundServices found_;
	std::vector<nvmeof::ConnectOptions> wantedServices_, fixed_; // configured, with addresses
	std::map<std::string, std::optional<bool>> holds_;           // of configured services, by key
	nvmeof::Plan plan_;
	Services services_;
	EventLog eventLog_;

	Resolver resolver_;
	Connections connections_;
	Mdns mdns_;
	Stripes stripes_;
	serving::Timer soon_, openTimer_, saveTimer_, eventTimer_;
	serving::Readable clientReadable_, topologyReadable_;
};

} // namespace nvmeofd
