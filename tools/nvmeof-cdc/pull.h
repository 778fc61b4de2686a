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

#include "config.h"
#include "pull_difference.h"
#include "pull_port.h"
#include "pull_service.h"

namespace cdc {

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
	// Writes changes and reports whether that succeeded. The model includes the changes when @done is called.
	using Write = std::function<void(std::vector<Change> changes, std::function<void(bool written)> done)>;

	// @model has to outlive this object and to be current whenever modelChanged() is called.
	Pull(serving::Loop &loop, initiator::HostIdentity who, const Model &model, Write write, WatchTimes times = {});

	void setSources(std::vector<PullSource> sources);
	// @ids: the instances that share the store; @self reads the sources that rendezvous hashing of the address
	// assigns to it.
	void setInstances(std::vector<std::string> ids, std::string self);
	void modelChanged();
	std::vector<PullState> state() const;

	static constexpr std::size_t maxServices = 256; // per source, including the source
	static constexpr std::size_t maxPorts = 4096;   // whose ANA states are read
	static constexpr unsigned maxDepth = 4;         // of referrals

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
	void addState(Target &target) const;
	bool isKnown(const Tree &tree) const;
	bool isGone(const std::string &owner) const;
	PullResult pullResult() const;
	void logTrouble(Node &node);
	void soon();
	void evaluate();
	void written(bool good);

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
	serving::Timer timer_;
	nofctl::Backoff backoff_{std::chrono::milliseconds(200), std::chrono::seconds(10)}; // of writes
	bool writing_ = false;
	std::shared_ptr<Pull *> alive_ = std::make_shared<Pull *>(this); // expires before late callbacks run
};

} // namespace cdc
