// SPDX-License-Identifier: LGPL-2.1-or-later
#include <nvmeof/difference.h>

#include <algorithm>
#include <map>
#include <set>

namespace nvmeof {

namespace {

// Identifies an association, except for the host NQN, local address and interface.
std::string placeKey(const std::string &transport, const Address &address, const std::string &nqn)
{
	return transport + " " + normalTraddr(address.traddr) + " " + address.trsvcid + " " + nqn;
}

class Comparison {
public:
	Comparison(const DifferenceRules &rules, bool complete, const Snapshot &present);

	void want(std::size_t index, const PlannedConnection &wanted);
	void addUnplanned();
	std::vector<Change> take() { return std::move(changes_); }

private:
	const Controller *find(const ConnectOptions &options) const;
	bool isOwn(const Controller &controller) const;
	bool isService(const Controller &controller) const;
	std::string whyKept(const Controller &controller) const;
	std::string openWithout(const Controller &controller) const;
	bool hasOther(const Namespace &ns, const Controller &controller) const;

	const DifferenceRules &rules_;
	const bool complete_;
	const Snapshot &present_;
	std::multimap<std::string, const Controller *> places_;
	std::set<std::string> planned_;       // wanted controllers
	std::set<std::string> disconnecting_; // controllers to disconnect
	std::size_t own_ = 0;
	std::vector<Change> changes_;
};

Comparison::Comparison(const DifferenceRules &rules, bool complete, const Snapshot &present)
	: rules_(rules), complete_(complete), present_(present)
{
	for (const Controller &one : present.controllers) {
		places_.emplace(placeKey(one.transport, {one.traddr, one.trsvcid}, one.subsysnqn), &one);
		own_ += isOwn(one); // one in deletion still uses memory and connections
	}
}

bool Comparison::isOwn(const Controller &controller) const
{
	return !rules_.owner.empty() && controller.owner == rules_.owner;
}

bool Comparison::isService(const Controller &controller) const
{
	return controller.subsysnqn == discoveryNqn ||
	       std::ranges::find(rules_.discoveryNqns, controller.subsysnqn) != rules_.discoveryNqns.end();
}

const Controller *Comparison::find(const ConnectOptions &options) const
{
	auto [first, last] = places_.equal_range(placeKey(options.transport, options.address, options.subsysnqn));
	for (auto at = first; at != last; ++at)
		if (!isEnding(at->second->state) && !planned_.contains(at->second->name) &&
		    isConnection(*at->second, options, rules_.hostnqn))
			return at->second;
	return nullptr;
}

void Comparison::want(std::size_t index, const PlannedConnection &wanted)
{
	Change change;
	change.wanted = index;
	const std::string who = wanted.toldBy.empty() ? "configured" : "reported by a discovery service";
	if (const Controller *there = find(wanted.options)) {
		planned_.insert(there->name);
		change.controller = there->name;
		change.reason = who;
		changes_.push_back(std::move(change));
		return;
	}
	if (own_ >= rules_.connections) {
		change.reason = "not connected: the limit is " + std::to_string(rules_.connections) +
				" connections ([limits] connections)";
	} else {
		own_++;
		change.kind = Change::Kind::connect;
		change.reason = who;
	}
	changes_.push_back(std::move(change));
}

// Whether the disk has another usable path that stays.
bool Comparison::hasOther(const Namespace &ns, const Controller &controller) const
{
	for (const Path *path : present_.pathsOf(ns)) {
		const Controller *other = present_.controller(path->controller);
		if (path->controller != controller.name && path->usable && other && !isEnding(other->state) &&
		    !disconnecting_.contains(path->controller))
			return true;
	}
	return false;
}

// An open disk that would lose its last path; empty: none.
std::string Comparison::openWithout(const Controller &controller) const
{
	for (const Path &path : present_.paths) {
		if (path.controller != controller.name)
			continue;
		const Namespace *ns = present_.nameSpace(path.nameSpace);
		if (ns && ns->openers && !hasOther(*ns, controller))
			return ns->name;
	}
	return {};
}

// Why an unwanted controller is kept; empty: disconnect it.
std::string Comparison::whyKept(const Controller &controller) const
{
	if (rules_.removal == RemovalPolicy::never)
		return "not in the configuration or a discovery log; the removal policy is 'never'";
	if (rules_.removal == RemovalPolicy::own && !isOwn(controller))
		return "not in the configuration or a discovery log; connected by " +
		       (controller.owner.empty() ? "another program" : controller.owner);
	if (!complete_)
		return "not in the configuration or a discovery log, but not every discovery service could be read";
	const std::string disk = rules_.removeOpen ? "" : openWithout(controller);
	return disk.empty() ? ""
			    : "not in the configuration or a discovery log; it is the last path of " + disk +
				      ", which is open";
}

void Comparison::addUnplanned()
{
	for (const Controller &one : present_.controllers) {
		if (planned_.contains(one.name) || isEnding(one.state) || isService(one))
			continue;
		Change change;
		change.controller = one.name;
		change.reason = whyKept(one);
		if (change.reason.empty()) {
			change.kind = Change::Kind::disconnect;
			change.reason = "no longer in the configuration or a discovery log";
			disconnecting_.insert(one.name);
		}
		changes_.push_back(std::move(change));
	}
}

} // namespace

const char *toString(RemovalPolicy policy)
{
	switch (policy) {
	case RemovalPolicy::never:
		return "never";
	case RemovalPolicy::own:
		break;
	case RemovalPolicy::all:
		return "all";
	}
	return "own";
}

const char *toString(Change::Kind kind)
{
	switch (kind) {
	case Change::Kind::connect:
		return "connect";
	case Change::Kind::keep:
		break;
	case Change::Kind::disconnect:
		return "disconnect";
	}
	return "keep";
}

bool isConnection(const Controller &controller, const ConnectOptions &options, const std::string &hostnqn)
{
	auto fits = [](const std::string &wanted, const std::string &has) { return wanted.empty() || wanted == has; };
	return controller.transport == options.transport && controller.subsysnqn == options.subsysnqn &&
	       controller.trsvcid == options.address.trsvcid &&
	       normalTraddr(controller.traddr) == normalTraddr(options.address.traddr) &&
	       fits(options.hostnqn.value_or(hostnqn), controller.hostnqn) &&
	       fits(normalTraddr(options.hostTraddr), normalTraddr(controller.hostTraddr)) &&
	       fits(options.hostIface, controller.hostIface);
}

std::vector<Change> differenceBetween(const DifferenceRules &rules, std::span<const PlannedConnection> wanted,
				      bool complete, const Snapshot &present)
{
	Comparison comparison(rules, complete, present);
	for (std::size_t i = 0; i < wanted.size(); i++)
		comparison.want(i, wanted[i]);
	comparison.addUnplanned();
	return comparison.take();
}

} // namespace nvmeof
