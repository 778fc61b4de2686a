// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Pull: reads and watches the logs of other discovery services, those of targets mostly, and those that they refer to,
 * and has the model be what they tell. Records have the source "pull" and their owner: the address of the service, or
 * "ADDRESS via ADDRESS" of one that was referred to by a source. Of several instances each source is read by one.
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

// For people
struct PullState {
	std::string owner;
	bool read = false, watched = false;
	std::int64_t readAt = 0; // seconds since 1970
	std::uint64_t generation = 0;
	std::size_t entries = 0, usable = 0; // of its log; of these, that are records
	std::string trouble;
};

// The address of the source that leads to the owner of a record
std::string rootOf(const std::string &owner);

class Pull {
public:
	// Has changes written, and says whether they were; the model has them by then.
	using Write = std::function<void(std::vector<Change> changes, std::function<void(bool written)> done)>;

	// The model has to be the same object, and up to date whenever modelChanged() is called.
	Pull(serving::Loop &loop, initiator::Who who, const Model &model, Write write, WatchTimes times = {});

	void setSources(std::vector<PullSource> sources);
	// Of those that share the store; @self reads what is its own by rendezvous hashing of the address.
	void setInstances(std::vector<std::string> ids, std::string self);
	void modelChanged();
	std::vector<PullState> state() const;

	static constexpr std::size_t most_services = 256; // that one source leads to, and it
	static constexpr std::size_t most_ports = 4096;   // whose states are read
	static constexpr unsigned most_depth = 4;         // of referrals

private:
	// A service of a tree
	struct Node {
		std::string owner;
		unsigned depth;
		std::unique_ptr<PullService> service;
		std::string trouble = {}; // that was told
	};
	// A source, and what it leads to, by address
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
	Pulled pulled() const;
	void tellTrouble(Node &node);
	void soon();
	void evaluate();
	void written(bool good);

	initiator::Shared shared_;
	const initiator::Who who_;
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
	std::shared_ptr<Pull *> alive_ = std::make_shared<Pull *>(this); // for answers that come when it is gone
};

} // namespace cdc
