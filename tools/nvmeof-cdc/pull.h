// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads and watches the discovery logs of other services, mostly of targets, and of the services that they refer to,
 * and keeps the model up to date with them. The records have the source "pull" and an owner: the address of the
 * service, or "ADDRESS via ADDRESS" for a service that a source refers to. Each source is read by one of the instances
 * that share the store.
 */
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config.h"
#include "libctl/initiator/discovery_reader.h"
#include "libctl/wire/log_page.h"
#include "model.h"
#include "watcher.h"

namespace cdc {

// The records of one service
struct ServiceRecords {
	std::string owner;
	std::optional<std::vector<Target>> targets; // absent: not known
};

// The known state of all services. Records of services that are in neither list belong to other instances.
struct PullResult {
	std::vector<ServiceRecords> services; // the first that reports a target owns its record, unless another owns it
	// Owners that no longer exist; their records are removed
	std::vector<std::string> gone;
};

/*
 * Computes the changes that make the model match what the services report, and that remove what they no longer report.
 * For a service that could not be read, nothing is removed. Records of other sources are not changed: a manual entry
 * takes precedence.
 */
std::vector<Change> difference(const PullResult &pullResult, const Model &model);

// The best state that any namespace has according to the ANA log of a port of a subsystem. Without namespaces:
// optimized, as a new namespace may be.
nofctl::wire::AnaState bestState(const nofctl::wire::AnaLog &log);

// Reads and watches the ANA log of a port of a subsystem.
class PullPort final : public Watcher {
public:
	// @onRead: called after each read. It may destroy this object.
	PullPort(initiator::Shared &shared, const WatchTimes &times, const initiator::HostIdentity &who,
		 const initiator::Endpoint &endpoint, const std::string &nqn, std::function<void()> onRead);

	// Absent: not read yet
	const std::optional<nofctl::wire::AnaState> &state() const { return state_; }

private:
	void read() override;
	void data(std::uint32_t offset, Data data) override;
	Outcome part(const nofctl::wire::Completion &completion) override;
	initiator::Failure failure() const override { return failure_; }
	std::uint32_t wanted() const override { return nofctl::wire::event_ana_changed.result(); }
	void changed() override { onRead_(); }
	void troubled() override {}
	Outcome fail(const initiator::Failure &failure);

	nofctl::wire::Bytes log_;
	initiator::Failure failure_;
	std::optional<nofctl::wire::AnaState> state_;
	std::function<void()> onRead_;
};

// Reads and watches the discovery log of another service.
class PullService final : public Watcher, initiator::DiscoveryReader::User {
public:
	using Entries = std::vector<nofctl::wire::DiscoveryEntry>;

	// @onRead: called after each read and each failure. It may destroy this object.
	PullService(initiator::Shared &shared, const WatchTimes &times, const initiator::HostIdentity &who,
		    const initiator::Endpoint &endpoint, const std::string &nqn, std::function<void()> onRead);

	// Absent: not read yet
	const std::optional<Entries> &entries() const { return entries_; }
	std::uint64_t generation() const { return reader_.generation(); }

private:
	void read() override;
	void data(std::uint32_t offset, Data data) override { reader_.data(offset, data); }
	Outcome part(const nofctl::wire::Completion &completion) override;
	initiator::Failure failure() const override { return reader_.failure(); }
	std::uint32_t wanted() const override { return nofctl::wire::event_discovery_changed.result(); }
	void changed() override;
	void troubled() override { onRead_(); }
	void header(Data) override {}
	void entries(std::uint64_t, Data data) override { nofctl::wire::append(reading_, data); }

	initiator::DiscoveryReader reader_;
	nofctl::wire::Bytes reading_;
	std::optional<Entries> entries_;
	std::function<void()> onRead_;
};

// Status of one service, for display
struct PullState {
	std::string owner;
	bool read = false, watched = false;
	std::int64_t readAt = 0; // seconds since 1970
	std::uint64_t generation = 0;
	std::size_t entries = 0, usable = 0; // in its log; of these, usable as records
	std::string trouble;
};

// The address of the source through which the owner of a record was found
std::string rootOf(const std::string &owner);

class Pull {
public:
	// Writes any number of changes. Those that were written are in the model when @done is called.
	using Write =
		std::function<void(std::vector<Change> changes, std::function<void(const nvmeof::Result<void> &)>)>;

	// @model has to outlive this object and to be current whenever modelChanged() is called.
	Pull(runtime::Loop &loop, initiator::HostIdentity who, const Model &model, Write write, WatchTimes times = {});

	void setSources(std::vector<PullSource> sources);
	// @ids: the instances that share the store; @self reads the sources that rendezvous hashing of the address
	// assigns to it.
	void setInstances(std::vector<std::string> ids, std::string self);
	void modelChanged();
	std::vector<PullState> state() const;

	static constexpr std::size_t maxServices = 256;  // per source, including the source
	static constexpr std::size_t maxTargets = 16384; // per source, including those of the services it refers to
	static constexpr std::size_t maxPorts = 4096;    // whose ANA states are read
	static constexpr unsigned maxDepth = 4;          // of referrals

private:
	// A service in a tree of referrals
	struct Node {
		std::string owner;
		unsigned depth;
		std::unique_ptr<PullService> service;
		std::string trouble = {}; // last one logged
	};
	// A source and the services that it leads to, by address
	struct Tree {
		PullSource source;
		std::map<std::string, Node> nodes;
		bool cut = false; // it has more than maxTargets; the rest is left out
	};
	using PortKey = std::pair<std::string, std::string>; // NQN, address
	using Ports = std::map<PortKey, std::unique_ptr<PullPort>>;

	bool isOurs(const std::string &address) const;
	bool isSource(const std::string &address) const;
	bool isInstance(const std::string &address) const;
	void chooseTrees();
	void addNode(Tree &tree, const std::string &address, unsigned depth);
	void follow(Tree &tree);
	void keepPort(Ports &kept, const Target &target);
	void choosePorts();
	std::vector<Target> targetsOf(const Tree &tree, const Node &node) const;
	std::vector<ServiceRecords> recordsOf(const Tree &tree, bool &cut) const;
	void addState(Target &target) const;
	bool isKnown(const Tree &tree) const;
	bool isGone(const std::string &owner) const;
	PullResult pullResult();
	void logTrouble(Node &node);
	void soon();
	void evaluate();
	void written(const nvmeof::Result<void> &done);

	initiator::Shared shared_;
	const initiator::HostIdentity identity_;
	const Model &model_;
	Write write_;
	const WatchTimes times_;
	std::vector<PullSource> sources_;
	std::vector<std::string> instances_;
	std::string self_;
	std::map<std::string, Tree> trees_; // by address of the source
	Ports ports_;
	runtime::Timer timer_;
	nofctl::Backoff backoff_{std::chrono::milliseconds(200), std::chrono::seconds(10)}; // of writes
	bool writing_ = false;
	std::string writeTrouble_; // why the last write failed; empty: it succeeded
	std::shared_ptr<Pull *> alive_ = std::make_shared<Pull *>(this); // expires before late callbacks run
};

} // namespace cdc
