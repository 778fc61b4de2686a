// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * nvmeofd keeps this host connected to the controllers that its configuration and discovery services list. Data flow in
 * one direction: events and logs update the known services, these make a plan, and the difference between the plan and
 * the kernel's state is applied. Only the kernel and the last-known file outlive the daemon.
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
#include "discovery_service.h"
#include "event_log.h"
#include "key_updates.h"
#include "last_known.h"
#include "libctl/gpu/rails.h"
#include "libctl/runtime/journal.h"
#include "libctl/runtime/loop.h"
#include "mdns.h"
#include "mdns_services.h"
#include "reload_report.h"
#include "resolver.h"
#include "status.h"
#include "stripes.h"

namespace nvmeofd {

struct Places {
	nvmeof::ConfigFiles config;
	std::filesystem::path state = "/var/lib/nvmeof"; // last-known file and event log
};

// Limit of the entries in the logs of a configured service and its referrals together
inline constexpr std::size_t maxLogEntries = 65536;

// @log of the service with @key, with 256 unusable entries at most. Error: there are too many entries.
nvmeof::Result<nvmeof::DiscoveryLog> boundedLog(const nvmeof::Plan &plan, const nvmeof::KnownServices &known,
						const std::string &key, nvmeof::DiscoveryLog log);

class Daemon {
public:
	// @config: read from @places
	Daemon(runtime::Loop &loop, Places places, nvmeof::Config config, nvmeof::Client client,
	       nvmeof::Topology topology);

	// Also logs the changes, and passes changed keys on in the background. On an error everything stays as it was.
	nvmeof::Result<Reloaded> reload();
	// Reads all logs again and retries failed connections at once.
	void rescan();
	// While paused, nothing is connected or disconnected.
	void pause(bool on);
	// Called before the process exits: saves the state for the next start.
	void end();
	const nvmeof::Config &config() const { return config_; }

	// For status output; valid until the loop continues.
	Status status() const;

private:
	using Services = std::map<std::string, std::unique_ptr<DiscoveryService>>; // by key

	void prepare(nvmeof::Config config);
	void spread();
	void follow();
	void announced(const std::vector<MdnsService> &services);
	bool silent(const std::string &key) const;
	void configured();
	bool topologyChanged(); // false: the module was unloaded
	void event(const nvmeof::Event &event);
	void reconcileSoon();
	void reconcile();
	void saveSoon();
	void save();
	void keepEvents();
	void serve(const nvmeof::Plan &plan);
	bool replaces(const nvmeof::PlannedService &planned, const DiscoveryService &service) const;
	SecurityRules serviceRules() const;
	void forget(bool kept);
	void pruneKnownServices();
	void makeService(const nvmeof::PlannedService &planned, std::chrono::milliseconds delay);
	nvmeof::Result<void> told(const std::string &key, nvmeof::DiscoveryLog log);
	std::vector<nvmeof::Change> difference();
	bool fresh() const;
	nvmeof::PlanRules rules() const;
	nvmeof::Plan makePlan() const;
	void tell(const Reloaded &reloaded) const;
	std::optional<bool> hold(const std::string &key) const;
	LastKnown load();

	runtime::Loop &loop_;
	Places places_;
	nvmeof::Config config_;          // with the interfaces of rails
	nvmeof::Config asRead_;          // with rails
	nofctl::gpu::SpreadRails rails_; // since the configuration was read
	std::vector<std::string> railNotes_;
	std::string configText_; // of asRead_
	nvmeof::Client client_;
	nvmeof::Topology topology_;
	bool paused_ = false;
	bool ready_ = false;

	LastKnownFile file_;
	bool unsaved_ = false;
	LastKnown remembered_; // as read at the start
	nvmeof::KnownServices known_;
	std::set<std::string> read_; // keys of services read since the start
	MdnsServices mdnsServices_;
	runtime::LogLimit mdnsLimit_;
	std::vector<nvmeof::ConnectOptions> wantedServices_, fixed_; // from the configuration, with resolved addresses
	std::map<std::string, std::optional<bool>> holds_;           // 'persistent' of configured services, by key
	nvmeof::Plan plan_;
	Services services_;
	Restarts restarts_;
	bool reloaded_ = false; // since services were made last
	runtime::LogLimit servicesLimit_;
	EventLog eventLog_;

	Resolver resolver_;
	KeyUpdates keys_;
	Connections connections_;
	Mdns mdns_;
	Stripes stripes_;
	runtime::Timer soon_, openTimer_, saveTimer_, eventTimer_, railTimer_;
	runtime::Readable clientReadable_, topologyReadable_;
};

} // namespace nvmeofd
