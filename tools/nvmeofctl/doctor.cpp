// SPDX-License-Identifier: LGPL-2.1-or-later
#include "doctor.h"

#include <algorithm>
#include <cerrno>
#include <ctime>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nvmeof/address.h>
#include <nvmeof/discovery.h>
#include <nvmeof/error.h>

#include "connect_plan.h"
#include "format.h"
#include "latency.h"
#include "libctl/base/security.h"
#include "libctl/base/text.h"
#include "when.h"

using namespace nvmeof;
using nofctl::counted;
using namespace std::chrono_literals;

namespace doctor {

namespace {

using WallTime = std::chrono::system_clock::time_point;

constexpr std::size_t namesInLine = 3;  // of objects in one finding
constexpr std::size_t linesOfText = 20; // findings in the text output

// The first names, and the number of the others.
std::string listed(const std::vector<std::string> &names)
{
	std::vector<std::string> first(
		names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), namesInLine)));
	std::string text = fmt::format("{}", fmt::join(first, ", "));
	return names.size() > namesInLine ? fmt::format("{} and {} more", text, names.size() - namesInLine) : text;
}

std::string portOf(const Controller &c)
{
	return Address{c.traddr, c.trsvcid}.toString();
}

std::optional<WallTime> timeOfEvent(const Json &event)
{
	return parseUtc(textIn(event, "time"));
}

// A recorded event of a controller
struct Recorded {
	WallTime when;
	const Json *event;
};

class Examination {
public:
	explicit Examination(const Facts &facts);
	Diagnosis run();

private:
	void problem(const char *check, const std::string &object, std::string finding, std::string advice);
	void warning(const char *check, const std::string &object, std::string finding, std::string advice);
	void skip(const char *check, const std::string &object, std::string reason);

	void examineDriver();
	void examineNamespace(const Namespace &ns);
	void examineUsability(const Namespace &ns);
	void examineMissing(const Namespace &ns);
	void examineHold(const Namespace &ns);
	void examineTwins(const Namespace &ns);
	void examineLinks(const Namespace &ns);
	void examineController(const Controller &c);
	void examineConnection(const Controller &c);
	void examineCondition(const Controller &c);
	void examineLosses(const Controller &c);
	void examineSecurity(const Controller &c);
	void examinePath(const Path &path);
	void examineSubsystem(const Subsystem &s);
	void examineQueues(const Controller &c);
	void examineFirmware(const Subsystem &s);
	void examineHosts();
	void examineNetwork();
	void examineProbe(const PathProbe &probe, const Controller &c);
	void examineMtu(const PathProbe &probe, const Controller &c);
	void examineClock();
	void examineDaemon();
	void examineDaemonStatus(const Json &status);
	void examineCdc();
	void examineCdcStatus(const Json &status);

	std::vector<const Controller *> controllersOf(std::uint32_t subsystem) const;
	std::vector<const Path *> pathsThrough(const Controller &c) const;
	const PathProbe *probeOf(const Controller &c) const;
	const std::vector<Recorded> &eventsOf(const Controller &c) const;
	bool isSuspect(const Controller &c) const;
	std::string failureOf(const Controller &c) const;
	std::string thinDisks(const Controller &c) const;
	std::string authenticationAdvice(const Controller &c) const;
	std::string connectAdvice(const Controller &c) const;

	const Facts &facts_;
	const Snapshot &all_;
	std::map<std::pair<std::string, std::string>, std::vector<Recorded>> recorded_; // by name and NQN, oldest first
	SlowPaths slow_;
	Diagnosis result_;
};

Examination::Examination(const Facts &facts)
	: facts_(facts), all_(facts.snapshot), slow_(slowPaths(facts.snapshot.paths))
{
	for (const Json &event : facts.events)
		if (const auto when = timeOfEvent(event); when && textIn(event, "kind") == "controller")
			recorded_[{textIn(event, "name"), textIn(event, "nqn")}].push_back({*when, &event});
}

void Examination::problem(const char *check, const std::string &object, std::string finding, std::string advice)
{
	result_.findings.push_back({Severity::problem, check, object, std::move(finding), std::move(advice)});
}

void Examination::warning(const char *check, const std::string &object, std::string finding, std::string advice)
{
	result_.findings.push_back({Severity::warning, check, object, std::move(finding), std::move(advice)});
}

void Examination::skip(const char *check, const std::string &object, std::string reason)
{
	result_.skipped.push_back({check, object, std::move(reason)});
}

std::vector<const Controller *> Examination::controllersOf(std::uint32_t subsystem) const
{
	std::vector<const Controller *> own;
	for (const Controller &c : all_.controllers)
		if (c.subsystem == subsystem && !isEnding(c.state))
			own.push_back(&c);
	return own;
}

std::vector<const Path *> Examination::pathsThrough(const Controller &c) const
{
	std::vector<const Path *> own;
	for (const Path &path : all_.paths)
		if (path.controller == c.name)
			own.push_back(&path);
	return own;
}

const PathProbe *Examination::probeOf(const Controller &c) const
{
	auto found = std::ranges::find(facts_.probes, c.name, &PathProbe::controller);
	return found == facts_.probes.end() ? nullptr : &*found;
}

const std::vector<Recorded> &Examination::eventsOf(const Controller &c) const
{
	static const std::vector<Recorded> none;
	auto found = recorded_.find({c.name, c.subsysnqn});
	return found == recorded_.end() ? none : found->second;
}

// The driver avoids its paths, because it does not answer.
bool Examination::isSuspect(const Controller &c) const
{
	return std::ranges::any_of(pathsThrough(c), [](const Path *path) { return path->suspect; });
}

// ---- driver, versions

void Examination::examineDriver()
{
	if (facts_.unreadable) {
		const bool module = facts_.unreadable->code == ErrorCode::noModule;
		problem("driver_unreadable", "nvmeof",
			fmt::format("the state of the driver cannot be read: {}", facts_.unreadable->message),
			module ? "'modprobe nvmeof_tcp' as root; 'nvmeofctl version' compares module and tools"
			       : "run this as root");
	}
	for (const BuildFinding &one : facts_.builds)
		warning(one.code.c_str(), "nvmeof", one.message, one.step);
}

// ---- namespaces

void Examination::examineNamespace(const Namespace &ns)
{
	examineUsability(ns);
	examineMissing(ns);
	examineHold(ns);
	examineTwins(ns);
	examineLinks(ns);
}

void Examination::examineUsability(const Namespace &ns)
{
	if (!ns.noPathSince && ns.usablePaths)
		return;
	std::string text = "no usable path";
	if (ns.noPathSince)
		text += fmt::format(" for {}", formatAge(all_.time - *ns.noPathSince));
	text += fmt::format("; {} {}", counted(ns.waiting, "request"), ns.waiting == 1 ? "waits" : "wait");
	std::vector<std::string> down, states;
	std::chrono::milliseconds left{0};
	bool limited = true, anyFastFail = false;
	const Controller *activating = nullptr;
	for (const Controller *c : controllersOf(ns.subsystem)) {
		if (c->state == ControllerState::live) {
			if (c->firmwareLeft)
				activating = c;
			continue;
		}
		down.push_back(c->name);
		anyFastFail = anyFastFail || c->fastIoFail.count() >= 0;
		limited = limited && (c->lossLeft || c->state == ControllerState::lost);
		left = std::max(left, c->lossLeft.value_or(0ms));
	}
	const Path *accessible = nullptr; // at the target
	for (const Path &path : all_.paths)
		if (path.nameSpace == ns.name && path.controllerState == ControllerState::live) {
			states.push_back(fmt::format("{} {}", path.name, toString(path.anaState)));
			if (path.anaState == AnaState::none || path.anaState == AnaState::optimized ||
			    path.anaState == AnaState::nonOptimized)
				accessible = &path;
		}
	if (!down.empty() && states.empty() && anyFastFail)
		text += " until a path returns, or until fast-io-fail-tmo passes";
	else if (!down.empty() && states.empty() && limited && left.count())
		text += fmt::format(" until a path returns, for {} at most", formatSeconds(left));
	if (!states.empty())
		text += fmt::format("; ANA: {}", listed(states));
	if (activating)
		text += fmt::format("; firmware activation on {}, {} at most", activating->name,
				    formatSeconds(*activating->firmwareLeft));
	problem("no_usable_path", ns.name, text,
		activating ? fmt::format("wait: {} takes I/O again after the activation", activating->name)
		: down.empty() && accessible
			? fmt::format("'nvmeofctl rescan {}'; the kernel log ('dmesg') may name the cause",
				      accessible->controller)
		: down.empty() ? "make the namespace accessible at the target: check its ANA states"
		: down.size() == 1
			? fmt::format("restore {}: the finding about it names the cause", down.front())
			: fmt::format("restore one of {}: the findings about them name the cause", listed(down)));
}

// Missing paths that the state of the controllers does not explain.
void Examination::examineMissing(const Namespace &ns)
{
	if (ns.livePaths >= ns.expectedPaths)
		return;
	const std::vector<const Controller *> own = controllersOf(ns.subsystem);
	if (!std::ranges::all_of(own, [](const Controller *c) { return c->state == ControllerState::live; }))
		return; // reported with the controller
	std::vector<std::string> without;
	for (const Controller *c : own)
		if (std::ranges::none_of(all_.paths, [&](const Path &path) {
			    return path.controller == c->name && path.nameSpace == ns.name;
		    }))
			without.push_back(c->name);
	warning("path_missing", ns.name,
		fmt::format("{} of {} expected paths, though all controllers are live{}", ns.livePaths,
			    ns.expectedPaths, without.empty() ? "" : fmt::format("; none through {}", listed(without))),
		without.empty() ? "run 'nvmeofctl rescan' for each of its controllers"
				: fmt::format("'nvmeofctl rescan {}'; check which namespaces the target offers there",
					      without.front()));
}

void Examination::examineHold(const Namespace &ns)
{
	if (!ns.held || !ns.hold)
		return;
	const Subsystem *s = all_.subsystem(ns.subsystem);
	problem("requests_held", ns.name,
		fmt::format("{} held for {} at most (until {}): the association of {} was lost, and the target may "
			    "still execute them",
			    counted(ns.held, "request"), formatSeconds(ns.hold->left),
			    clockTime(facts_.now +
				      std::chrono::duration_cast<std::chrono::system_clock::duration>(ns.hold->left)),
			    ns.hold->controller),
		s && s->fencing == Fencing::safe
			? fmt::format("wait; for shorter holds in future: 'nvmeofctl set {} fencing=auto' (see "
				      "Documentation/fencing.md)",
				      s->name)
			: "wait; they are retried on another path then (Documentation/fencing.md)");
}

void Examination::examineTwins(const Namespace &ns)
{
	const Subsystem *s = all_.subsystem(ns.subsystem);
	const bool told = s && facts_.inTree.contains(s->nqn); // reported with the subsystem
	const std::vector<std::string> nodes = twinsOf(ns, facts_.disks), same = sameIdentifiers(ns, all_.namespaces);
	if (!nodes.empty() && !told)
		problem("other_driver", ns.name,
			fmt::format("the in-tree NVMe driver has the same namespace as {}", listed(nodes)),
			"mount only one of them, and disconnect the other");
	if (!same.empty())
		warning("same_identifiers", ns.name,
			fmt::format("{}, of another subsystem, has the same identifiers", listed(same)),
			"if it is a copy, give it identifiers of its own at the target; links in /dev/disk/by-id name "
			"one of them only");
}

void Examination::examineLinks(const Namespace &ns)
{
	if (!facts_.linked || ns.wwid.empty() || genericOnly(ns) || facts_.linked->contains(ns.name))
		return;
	// The links of a namespace that is several disks belong to one of them.
	if (!foreignTwins(ns.name, facts_.disks).empty() ||
	    std::ranges::any_of(all_.namespaces,
				[&](const Namespace &other) { return other.name != ns.name && other.wwid == ns.wwid; }))
		return;
	warning("links_missing", ns.name, "no link in /dev/disk/by-id names the disk",
		fmt::format("'udevadm trigger --action=add --settle /dev/{}'; 'udevadm test /sys/block/{}' shows the "
			    "rules",
			    ns.name, ns.name));
}

// ---- controllers

// The last error of @c and its time, or an empty text.
std::string Examination::failureOf(const Controller &c) const
{
	std::string text;
	if (!c.lastError.empty() || c.lastErrno)
		text = describeFailure(c.lastError, c.lastErrno);
	if (c.lastStatus)
		text += fmt::format("{}{}", text.empty() ? "" : ", ", describeStatus(*c.lastStatus));
	if (text.empty())
		return {};
	const std::vector<Recorded> &events = eventsOf(c);
	for (auto one = events.rbegin(); one != events.rend(); ++one) {
		const std::string event = textIn(*one->event, "event");
		if (event == "connect_failed" || (event == "state" && textIn(*one->event, "state") != "live" &&
						  !textIn(*one->event, "last_error").empty()))
			return fmt::format("{}, at {}", text, localTime(textIn(*one->event, "time")));
	}
	return text;
}

// The disks that have fewer paths because @c is not connected.
std::string Examination::thinDisks(const Controller &c) const
{
	std::vector<std::string> disks;
	for (const Namespace &ns : all_.namespaces)
		if (ns.subsystem == c.subsystem && ns.livePaths < ns.expectedPaths)
			disks.push_back(fmt::format("{} has {} of {} paths", ns.name, ns.livePaths, ns.expectedPaths));
	return listed(disks);
}

std::string Examination::authenticationAdvice(const Controller &c) const
{
	if (c.tls && !c.authentication)
		return fmt::format(
			"compare the TLS keys of this host ('nvmeofctl key list') and of the target; 'nvmeofctl "
			"set {} tls-key=FILE' gives it another one (Documentation/tls.md)",
			c.name);
	if (c.lastErrno == ENOKEY)
		return fmt::format("give the key that the target has for {}: 'nvmeofctl set {} dhchap-key=FILE'",
				   c.hostnqn, c.name);
	if (c.lastErrno == EKEYREVOKED || c.lastErrno == EKEYEXPIRED)
		return fmt::format("give it a new key: 'nvmeofctl set {} dhchap-key=FILE'", c.name);
	return fmt::format("compare the keys of this host and of the target; 'nvmeofctl set {} dhchap-key=FILE' reads "
			   "a changed file (Documentation/authentication.md)",
			   c.name);
}

std::string Examination::connectAdvice(const Controller &c) const
{
	if (const PathProbe *probe = probeOf(c); probe && probe->routeErrno)
		return fmt::format("there is no route to {}: check addresses and routes of this host", c.traddr);
	else if (probe && !probe->carrier && !probe->local)
		return fmt::format("{} has no carrier, or is down: check cable, switch port and 'ip link'",
				   probe->interface);
	std::string step;
	if (connectCodeOf(c.lastErrno) == ErrorCode::authentication)
		step = authenticationAdvice(c);
	else if (c.lastErrno == EOPNOTSUPP)
		step = "target or kernel lack a function that the settings of this controller need: see the target's "
		       "log";
	else if (c.lastErrno == EPROTO)
		step = "the target violates the protocol: see its log, and update it";
	else if (c.lastStatus)
		step = fmt::format("the target refuses: check that it has {} and allows {}", c.subsysnqn, c.hostnqn);
	else if (c.lastErrno == ECONNREFUSED)
		step = fmt::format("check that the target listens on {}", portOf(c));
	else
		step = fmt::format("check target and network: 'ping {}'", c.traddr);
	return c.state == ControllerState::lost ? fmt::format("{}; {}", step, lostNextStep(c.name))
						: fmt::format("{}; history: 'nvmeofctl events {}'", step, c.name);
}

void Examination::examineConnection(const Controller &c)
{
	std::vector<std::string> words{
		fmt::format("no connection to {} {}: {}", c.transport, portOf(c), toString(c.state))};
	if (c.attempts && c.state != ControllerState::lost)
		words.back() += fmt::format(", {} so far", counted(c.attempts, "attempt"));
	if (const std::string failure = failureOf(c); !failure.empty())
		words.push_back("last error: " + failure);
	if (c.lossLeft)
		words.push_back(fmt::format("its paths are removed in {}", formatSeconds(*c.lossLeft)));
	if (const std::string disks = thinDisks(c); !disks.empty())
		words.push_back(disks);
	warning(c.state == ControllerState::lost ? "controller_lost" : "controller_down", c.name,
		fmt::format("{}", fmt::join(words, "; ")), connectAdvice(c));
}

// Conditions that all paths of a live controller share.
void Examination::examineCondition(const Controller &c)
{
	std::vector<std::string> suspect, probation;
	for (const Path *path : pathsThrough(c)) {
		if (path->suspect)
			suspect.push_back(path->name);
		else if (path->probation)
			probation.push_back(path->name);
	}
	const std::string failure = failureOf(c);
	const std::string last = failure.empty() ? "" : "; last error: " + failure;
	if (!suspect.empty())
		warning("path_suspect", c.name,
			fmt::format("{} does not answer; no new I/O goes to {}{}", portOf(c), listed(suspect), last),
			fmt::format("check target and network: 'ping {}'", c.traddr));
	if (!probation.empty())
		warning("path_probation", c.name,
			fmt::format(
				"connection lost repeatedly; on probation: {}, each with one request at a time until "
				"eight are answered{}",
				listed(probation), last),
			fmt::format("check the network to {}: MTU, errors in 'ip -s link'; history: 'nvmeofctl events "
				    "{}'",
				    c.traddr, c.name));
}

void Examination::examineLosses(const Controller &c)
{
	constexpr auto window = 10min;
	constexpr std::size_t many = 3;
	std::size_t losses = 0;
	for (const auto &[when, event] : eventsOf(c))
		losses += when > facts_.now - window && when <= facts_.now && textIn(*event, "event") == "state" &&
			  textIn(*event, "old_state") == "live" && textIn(*event, "state") == "recovering";
	if (losses < many)
		return;
	const std::string failure = failureOf(c);
	warning("path_flapping", c.name,
		fmt::format("lost its connection to {} {} times within 10 minutes{}", portOf(c), losses,
			    failure.empty() ? "" : "; last error: " + failure),
		fmt::format("check cable, switch port and target; history: 'nvmeofctl events {} --since 10m'", c.name));
}

void Examination::examineSecurity(const Controller &c)
{
	const auto rule = facts_.rules.find(c.subsysnqn);
	const std::string lacking = rule == facts_.rules.end() ? "" : nofctl::missingSecurity(rule->second, c);
	if (lacking.empty())
		return;
	const bool tls = lacking == "tls";
	warning("security_rule", c.name,
		fmt::format("connected without {}, which [[security]] at {} requires for {}",
			    tls ? "TLS" : "authentication", rule->second.place, c.subsysnqn),
		fmt::format("'nvmeofctl disconnect {}', while its disks have another path or are not in use, then "
			    "connect again with {}; or change the rule",
			    c.name, tls ? "tls-key" : "dhchap-key"));
}

void Examination::examineQueues(const Controller &c)
{
	if (!c.ioQueues)
		return; // a discovery controller
	if (c.pollQueues < c.wantedPollQueues)
		warning("queues_not_granted", c.name,
			fmt::format("{} of {} requested poll queues granted", c.pollQueues, c.wantedPollQueues),
			"raise the target's limit of queues, or connect with fewer; the first controller of a "
			"subsystem limits their number");
	const Controller *max = &c;
	for (const Controller *other : controllersOf(c.subsystem))
		if (other->state == ControllerState::live && other->transport == c.transport &&
		    other->ioQueues > max->ioQueues)
			max = other;
	if (c.ioQueues < max->ioQueues)
		warning("fewer_io_queues", c.name,
			fmt::format("{}, {} has {}: the target granted fewer, or fewer were requested",
				    counted(c.ioQueues, "I/O queue"), max->name, max->ioQueues),
			fmt::format("compare the target's limits of queues; then 'nvmeofctl reset {}'", c.name));
}

void Examination::examineController(const Controller &c)
{
	if (isEnding(c.state))
		return;
	const bool failed = !c.lastError.empty() || c.lastErrno || c.lastStatus;
	const bool connecting = c.state == ControllerState::created || c.state == ControllerState::connecting;
	if (connecting && c.attempts <= 1 && !failed)
		return; // its first attempt still runs
	if (c.state != ControllerState::live) {
		examineConnection(c);
	} else {
		examineCondition(c);
		examineQueues(c);
	}
	examineLosses(c);
	examineSecurity(c);
}

// ---- paths

void Examination::examinePath(const Path &path)
{
	if (path.controllerState != ControllerState::live)
		return;
	const auto found = slow_.find(path.name);
	const Slowness *slow = found == slow_.end() ? nullptr : &found->second;
	if (path.degraded && !path.suspect && !path.probation)
		warning("path_degraded", path.name,
			fmt::format("avoided as an outlier: latency or errors differ from the other paths'{}",
				    slow ? fmt::format("; half of the {} took over {}, {} on {}", slow->op,
						       formatLatency(slow->p50), formatLatency(slow->fastestP50),
						       slow->fastest)
					 : ""),
			fmt::format("check the link of {}; 'nvmeofctl top' compares the paths", path.controller));
	else if (slow && !path.suspect && !path.probation)
		warning("path_slow", path.name,
			fmt::format("slow: half of the {} took over {}, {} on {}", slow->op, formatLatency(slow->p50),
				    formatLatency(slow->fastestP50), slow->fastest),
			fmt::format("check the link of {}; iopolicy=latency or degrade=on ('nvmeofctl set') avoids the "
				    "path",
				    path.controller));
	constexpr auto longChange = 60s; // more than targets usually report as ANATT
	if (path.anaState == AnaState::persistentLoss)
		warning("ana_persistent_loss", path.name, "the target reports ANA state persistent-loss",
			"check the target: this path does not return by itself");
	if (path.anaState == AnaState::change && path.anaSince && all_.time - *path.anaSince > longChange)
		warning("ana_change", path.name,
			fmt::format("the target reports ANA state change for {}",
				    formatAge(all_.time - *path.anaSince)),
			"check the target: the change does not complete");
}

// ---- subsystems

void Examination::examineSubsystem(const Subsystem &s)
{
	examineFirmware(s);
	auto others = facts_.inTree.find(s.nqn);
	if (others == facts_.inTree.end() || others->second.empty())
		return;
	problem("other_driver", s.name,
		fmt::format("the in-tree NVMe driver is connected to {}, too: {}; a file system mounted through both "
			    "is corrupted",
			    s.nqn, listed(connectionTexts(others->second))),
		inTreeStep(s.nqn));
}

void Examination::examineFirmware(const Subsystem &s)
{
	if (s.nqn == discoveryNqn)
		return; // independent discovery services share this NQN
	std::map<std::string, std::vector<std::string>> versions;
	for (const Controller *c : controllersOf(s.id))
		if (c->state == ControllerState::live && !c->firmware.empty())
			versions[c->firmware].push_back(c->name);
	if (versions.size() < 2)
		return;
	std::vector<std::string> words;
	for (const auto &[version, names] : versions)
		words.push_back(fmt::format("{} on {}", version, listed(names)));
	warning("firmware_differs", s.name, fmt::format("its controllers have different firmware: {}", listed(words)),
		"update the target's controllers to one version");
}

// One host NQN belongs to one host ID.
void Examination::examineHosts()
{
	std::map<std::string, std::set<std::string>> ids, nqns;
	for (const Subsystem &s : all_.subsystems) {
		if (!s.hostid)
			continue;
		ids[s.hostnqn].insert(s.hostid->toString());
		nqns[s.hostid->toString()].insert(s.hostnqn);
	}
	auto report = [&](const std::string &object, const char *what, const std::set<std::string> &values) {
		if (values.size() > 1)
			problem("host_identity", object,
				fmt::format("used with several {}: {}", what,
					    listed(std::vector<std::string>(values.begin(), values.end()))),
				"targets take that for several hosts: disconnect, and connect with one --hostnqn and "
				"one --hostid");
	};
	for (const auto &[nqn, values] : ids)
		report(nqn, "host IDs", values);
	for (const auto &[id, values] : nqns)
		report(id, "host NQNs", values);
}

// ---- network

void Examination::examineNetwork()
{
	std::map<std::string, std::vector<std::string>> dark; // controllers by interface
	for (const Controller &c : all_.controllers) {
		if (isEnding(c.state))
			continue;
		if (c.transport == "rdma") {
			skip("mtu", c.name, "over RDMA the devices agree on the MTU when they connect");
			continue;
		}
		const PathProbe *probe = probeOf(c);
		if (!facts_.probed)
			skip("mtu", c.name, "--no-probe is given");
		else if (probe)
			examineProbe(*probe, c);
		if (probe && !probe->carrier && !probe->local && !probe->routeErrno)
			dark[probe->interface].push_back(c.name);
	}
	for (const auto &[interface, controllers] : dark)
		warning("no_carrier", interface, fmt::format("no carrier, or down; used by {}", listed(controllers)),
			fmt::format("check cable and switch port; 'ip link show {}'", interface));
}

void Examination::examineProbe(const PathProbe &probe, const Controller &c)
{
	// Of a controller that is not live, the finding about its connection has the advice.
	// A live one without a route was connected in another network namespace.
	if (probe.routeErrno && c.state == ControllerState::live && !isSuspect(c))
		skip("mtu", c.name, "no route from this network namespace");
	else if (probe.routeErrno && c.state == ControllerState::live)
		warning("no_route", c.name, fmt::format("there is no route to {} any more", c.traddr),
			"check addresses and routes of this host");
	if (!probe.routeErrno && probe.carrier && !probe.local)
		examineMtu(probe, c);
}

void Examination::examineMtu(const PathProbe &probe, const Controller &c)
{
	if (!probe.skipped.empty()) {
		skip("mtu", c.name, probe.skipped);
	} else if (probe.echo == Echo::none) {
		skip("mtu", c.name, fmt::format("{} does not answer ping", c.traddr));
	} else if (probe.echo == Echo::small) {
		const std::string router = probe.pathMtu && probe.pathMtu < probe.mtu
						   ? fmt::format("; a router reports an MTU of {}", probe.pathMtu)
						   : "";
		warning("mtu_mismatch", c.name,
			fmt::format(
				"packets of {} bytes, the MTU of {} here, do not get through to {}, small ones do{}",
				probe.mtu, probe.interface, c.traddr, router),
			"set one MTU on this host, on all switches and on the target; lost long packets stall the "
			"connection");
	}
}

// ---- clock

void Examination::examineClock()
{
	const bool used = facts_.daemon.runs.value_or(false) || facts_.cdc.runs.value_or(false);
	if (used && facts_.clockSynchronized == false)
		warning("clock_unsynchronized", "clock", "not synchronized: times in logs and records may be wrong",
			"start chrony or systemd-timesyncd; 'timedatectl' shows the state");
	constexpr auto jump = 60s; // recorded times of events may differ by the delay of their recording
	std::optional<WallTime> latest;
	std::chrono::seconds back{0};
	std::string at;
	for (const Json &event : facts_.events) {
		const std::optional<WallTime> when = timeOfEvent(event);
		if (!when)
			continue;
		if (latest && *when < *latest - jump) {
			back = std::chrono::duration_cast<std::chrono::seconds>(*latest - *when);
			at = textIn(event, "time");
			latest.reset(); // compare later events with this one
		}
		latest = latest ? std::max(*latest, *when) : *when;
	}
	if (latest && *latest > facts_.now + jump) {
		back = std::chrono::duration_cast<std::chrono::seconds>(*latest - facts_.now);
		at.clear();
	}
	constexpr auto recent = 24h;
	const std::optional<WallTime> when = at.empty() ? facts_.now : parseUtc(at);
	if (back.count() && when && *when > facts_.now - recent)
		warning("clock_jump", "clock",
			fmt::format("was set back by {}{}: times of recorded events overlap", formatAge(back),
				    at.empty() ? "" : " before " + localTime(at)),
			"check time synchronization: 'timedatectl', 'journalctl -u chrony -u systemd-timesyncd'");
}

// ---- services

void Examination::examineDaemon()
{
	const ServiceFacts &daemon = facts_.daemon;
	constexpr const char *log = "its log: 'journalctl -u nvmeofd'";
	if (daemon.enabled && daemon.runs == false)
		warning("daemon_down", "nvmeofd", "enabled, but does not run: changes at the targets go unnoticed",
			fmt::format("'systemctl start nvmeofd'; {}", log));
	else if (daemon.enabled && !daemon.runs)
		warning("daemon_silent", "nvmeofd", "cannot be asked: the system bus does not answer",
			fmt::format("first read {}; then 'systemctl status dbus nvmeofd'", log));
	if (daemon.status)
		examineDaemonStatus(*daemon.status);
	else if (daemon.runs == true && !daemon.error.empty())
		warning("daemon_silent", "nvmeofd", fmt::format("runs, but does not answer: {}", daemon.error),
			fmt::format("first read {}; then 'systemctl restart nvmeofd': connections stay", log));
}

void Examination::examineDaemonStatus(const Json &status)
{
	if (isTrue(status, "paused"))
		warning("daemon_paused", "nvmeofd", "paused: nothing is connected or disconnected",
			"'nvmeofctl daemon resume'");
	for (const Json &one : listOf(status, "services")) {
		const std::string error = textIn(one, "error"), state = textIn(one, "state");
		if (error.empty() || state == "watching" || state == "polling" || state == "standby")
			continue;
		const auto age = std::chrono::seconds(static_cast<std::int64_t>(numberOf(one, "age_s")));
		const std::string old = member(one, "age_s").is_number()
						? fmt::format("its log was read {} ago", formatAge(age))
						: "its log was never read";
		warning("discovery_failed", textIn(one, "service"),
			fmt::format("discovery service, {}: {}; {}", state, error, old),
			"check address and network of the service; 'nvmeofctl daemon status' shows all");
	}
	for (const Json &one : listOf(status, "connections"))
		if (textIn(one, "state") == "missing" && !textIn(one, "error").empty())
			warning("connection_missing", textIn(one, "nqn"),
				fmt::format("nvmeofd cannot connect to {} {}: {}", textIn(one, "transport"),
					    textIn(one, "address"), textIn(one, "error")),
				"nvmeofd tries again; check target and network, or remove it from the configuration");
	if (const Json &names = member(status, "unresolved"); names.is_object())
		for (const auto &[name, why] : names.items())
			warning("name_unresolved", name,
				fmt::format("no address{}", why.is_string() ? ": " + why.get<std::string>() : ""),
				"check the name in the configuration, and the resolver");
	for (const Json &one : listOf(status, "stripes"))
		if (textIn(one, "state") == "failed")
			warning("stripe_failed", textIn(one, "name"),
				fmt::format("the stripe cannot be created: {}", textIn(one, "error")),
				"'nvmeofctl stripe show'; 'journalctl -u nvmeofd'");
}

void Examination::examineCdc()
{
	const ServiceFacts &cdc = facts_.cdc;
	constexpr const char *log = "its log: 'journalctl -u nvmeof-cdc'";
	if (cdc.enabled && cdc.runs == false)
		warning("cdc_down", "nvmeof-cdc", "enabled, but does not run: hosts receive no changes",
			fmt::format("'systemctl start nvmeof-cdc'; {}", log));
	if (cdc.status)
		examineCdcStatus(*cdc.status);
	else if (cdc.runs == true && !cdc.error.empty())
		warning("cdc_silent", "nvmeof-cdc", fmt::format("does not answer: {}", cdc.error),
			fmt::format("first read {}; then 'systemctl restart nvmeof-cdc'", log));
	else if (!cdc.error.empty())
		skip("cdc", "nvmeof-cdc", cdc.error);
}

void Examination::examineCdcStatus(const Json &status)
{
	if (member(status, "serving") == false)
		warning("cdc_not_serving", "nvmeof-cdc", "has no records yet, and serves no host",
			"'nvmeofctl cdc status'; check its store");
	const Json &store = member(status, "store");
	const auto since = static_cast<std::time_t>(numberOf(store, "stale_since"));
	const auto age = facts_.now - std::chrono::system_clock::from_time_t(since);
	if (const std::string trouble = textIn(store, "trouble"); !trouble.empty() || since)
		warning("cdc_store", "nvmeof-cdc",
			fmt::format("its store: {}{}", trouble.empty() ? "cannot be reached" : trouble,
				    since ? fmt::format("; its records are {} old", formatAge(age)) : ""),
			fmt::format("check {}; 'nvmeofctl cdc status'", textIn(store, "place")));
	if (const double cloned = numberOf(member(status, "counts"), "cloned"); cloned > 0)
		warning("hostnqn_shared", "nvmeof-cdc",
			fmt::format("{} used by more than one machine",
				    cloned == 1 ? "1 host NQN is" : fmt::format("{:.0f} host NQNs are", cloned)),
			"'nvmeofctl cdc host list' names them; on a cloned machine remove /etc/nvme/hostnqn and "
			"/etc/nvme/hostid, and connect again");
}

Diagnosis Examination::run()
{
	result_.subsystems = all_.subsystems.size();
	result_.controllers = all_.controllers.size();
	result_.namespaces = all_.namespaces.size();
	result_.paths = all_.paths.size();
	examineDriver();
	for (const Namespace &ns : all_.namespaces)
		examineNamespace(ns);
	for (const Subsystem &s : all_.subsystems)
		examineSubsystem(s);
	examineHosts();
	for (const Controller &c : all_.controllers)
		examineController(c);
	for (const Path &path : all_.paths)
		examinePath(path);
	examineNetwork();
	if (!facts_.eventsUnread.empty())
		skip("events", "nvmeofd", facts_.eventsUnread);
	if (!facts_.linked && !all_.namespaces.empty())
		skip("links", "udev", "udev does not run");
	examineDaemon();
	examineCdc();
	examineClock();
	std::ranges::stable_sort(result_.findings, {}, &Finding::severity);
	return std::move(result_);
}

// The skipped checks, objects with the same reason together.
std::string skippedText(const std::vector<Skipped> &skipped)
{
	std::vector<std::pair<std::pair<std::string, std::string>, std::vector<std::string>>> groups;
	for (const Skipped &one : skipped) {
		const std::pair key(one.check, one.reason);
		auto group = std::ranges::find(groups, key, [](const auto &each) { return each.first; });
		if (group == groups.end())
			group = groups.insert(groups.end(), {key, {}});
		group->second.push_back(one.object);
	}
	std::string text;
	for (const auto &[key, objects] : groups)
		text += nofctl::printable(
				fmt::format("not checked: {} of {}: {}", key.first, listed(objects), key.second)) +
			"\n";
	return text;
}

} // namespace

const char *toString(Severity severity)
{
	return severity == Severity::problem ? "problem" : "warning";
}

int Diagnosis::exitCode() const
{
	if (findings.empty())
		return 0;
	return findings.front().severity == Severity::problem ? 2 : 1;
}

Diagnosis diagnose(const Facts &facts)
{
	return Examination(facts).run();
}

std::string textOf(const Diagnosis &diagnosis)
{
	std::string text;
	const std::vector<Finding> &all = diagnosis.findings;
	for (std::size_t i = 0; i < std::min(all.size(), linesOfText); i++)
		text += nofctl::printable(fmt::format("{}: {}: {} ({})", toString(all[i].severity), all[i].object,
						      all[i].finding, all[i].advice)) +
			"\n";
	if (all.size() > linesOfText)
		text += fmt::format("and {} more; --json prints all\n", all.size() - linesOfText);
	const auto problems = static_cast<std::size_t>(std::ranges::count(all, Severity::problem, &Finding::severity));
	std::string summary = "no problems found";
	if (!all.empty())
		summary =
			fmt::format("{}, {}", counted(problems, "problem"), counted(all.size() - problems, "warning"));
	return text + skippedText(diagnosis.skipped) +
	       fmt::format("{}; checked: {}, {}, {}, {}\n", summary, counted(diagnosis.subsystems, "subsystem"),
			   counted(diagnosis.controllers, "controller"), counted(diagnosis.namespaces, "namespace"),
			   counted(diagnosis.paths, "path"));
}

Json documentOf(const Diagnosis &diagnosis)
{
	Json findings = Json::array(), skipped = Json::array();
	for (const Finding &one : diagnosis.findings)
		findings.push_back({{"severity", toString(one.severity)},
				    {"check", one.check},
				    {"object", one.object},
				    {"finding", one.finding},
				    {"advice", one.advice}});
	for (const Skipped &one : diagnosis.skipped)
		skipped.push_back({{"check", one.check}, {"object", one.object}, {"reason", one.reason}});
	return {{"findings", findings},
		{"skipped", skipped},
		{"checked",
		 {{"subsystems", diagnosis.subsystems},
		  {"controllers", diagnosis.controllers},
		  {"namespaces", diagnosis.namespaces},
		  {"paths", diagnosis.paths}}}};
}

} // namespace doctor
