// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Local socket for inspection and control of an instance. Both directions carry one JSON object per line. A response is
 * a document of status.h, {"done": ...}, or {"error": {"code", "message"}}. A client that follows changes receives the
 * recorded ones as {"change": ...}, one per line, then {"synced": true}, then new changes as they occur, and
 * {"dropped": N} if it did not read fast enough.
 *
 * Every user with access to the socket (its group) may read. Changes are reserved to root and the user of the service.
 */
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string_view>
#include <sys/types.h>
#include <unordered_map>
#include <vector>

#include <nvmeof/result.h>

#include "libctl/runtime/loop.h"
#include "model.h"
#include "reload.h"
#include "status.h"

namespace cdc {

/*
 * Requests on the control socket, one JSON object per line:
 *   {"command": "status"}, and likewise "hosts", "targets", "zones", "instances", "changes", "backup"
 *   {"command": "changes", "follow": true}
 *   {"command": "set", "targets": [{"nqn": ..., "traddr": ...}], "zones": [{"name": ..., "hosts": [...]}]}
 *   {"command": "remove", "targets": [...], "zones": ["NAME"], "hosts": ["NQN"]}
 *   {"command": "drain"}, {"command": "reload"}
 * set, remove and reload also with "force": true and "dry_run": true
 */

constexpr std::size_t maxRequestSize = 1u << 20; // bytes

struct ControlRequest {
	enum class What { status, hosts, targets, zones, instances, changes, backup, set, remove, drain, reload };

	What what;
	bool follow = false;                // changes: also send new changes as they occur
	bool force = false;                 // skips the checks for large losses and for records that would return
	bool dryRun = false;                // set, remove, reload: write nothing
	std::vector<Target> targets = {};   // set
	std::vector<Json> given = {};       // the members of each target that the request has; empty: all
	std::vector<Zone> zones = {};       // set
	std::vector<std::string> keys = {}; // remove

	bool changes() const { return what >= What::set; } // changes need privileges
};

nvmeof::Result<ControlRequest> parseControlRequest(std::string_view line);

// The record changes of a set or remove request. Members that a target of a request lacks are those of the record that
// it replaces. Errors: a stronger source defines the record, or it does not exist;
// nothing may be written then.
nvmeof::Result<std::vector<Change>> controlChanges(const Model &model, const ControlRequest &request);

class Control {
public:
	struct Hooks {
		std::function<void(ReloadMode, std::function<void(const nvmeof::Result<Reloaded> &)> done)> reload;
		std::function<void(std::function<void()> done)> drain;
	};
	struct Limits {
		std::size_t clients = 32, waiting = 256u << 10; // bytes of changes that a client has not read
		std::chrono::milliseconds idle{60000}, stalled{30000};
	};

	Control(runtime::Loop &loop, Service &service, Hooks hooks);
	Control(runtime::Loop &loop, Service &service, Hooks hooks, Limits limits);
	~Control();

	// Errors: another process serves the socket, or it cannot be created.
	nvmeof::Result<void> start(const std::filesystem::path &path);

private:
	class Client;
	using Clock = std::chrono::steady_clock;

	void accept();
	void take(std::uint64_t id, std::string_view line);
	void run(std::uint64_t id, const ControlRequest &request);
	void reload(std::uint64_t id, const ControlRequest &request);
	void change(std::uint64_t id, const ControlRequest &request);
	Model changedBy(const std::vector<Change> &changes) const;
	void write(std::uint64_t id, const ControlRequest &request, std::vector<Change> changes);
	void show(std::uint64_t id, const ControlRequest &request);
	void follow(std::uint64_t id);
	void answer(std::uint64_t id, const Json &json);
	void refuse(std::uint64_t id, const nvmeof::Error &error);
	void drain(std::uint64_t id);
	void onChange(const ChangeEvent &changeEvent);
	void end(std::uint64_t id);   // deferred
	void again(std::uint64_t id); // deferred: processes its next line
	void runDeferred();
	void sweep();

	runtime::Loop &loop_;
	Service &service_;
	Hooks hooks_;
	Limits limits_;
	std::filesystem::path path_;
	int socket_ = -1;
	std::unique_ptr<runtime::Readable> accepting_;
	std::unordered_map<std::uint64_t, std::unique_ptr<Client>> clients_;
	std::vector<std::uint64_t> closed_, again_;
	std::uint64_t lastId_ = 0;
	runtime::Timer deferredTimer_, sweep_;
	std::shared_ptr<bool> alive_ = std::make_shared<bool>(true); // expires before late callbacks run
};

} // namespace cdc
