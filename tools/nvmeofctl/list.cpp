// SPDX-License-Identifier: LGPL-2.1-or-later
// list, list-subsys, and the names for completions.
#include "list.h"

#include <algorithm>
#include <array>
#include <map>
#include <ostream>

#include <fmt/format.h>

#include <nvmeof/snapshot.h>

#include "connect_plan.h"
#include "context.h"
#include "documents.h"
#include "format.h"
#include "libctl/base/text.h"
#include "table.h"

using namespace nvmeof;

namespace {

using Paths = std::vector<const Path *>;

// @key: &Path::nameSpace or &Path::controller
std::map<std::string, Paths> pathsBy(std::string Path::*key, const std::vector<Path> &paths)
{
	std::map<std::string, Paths> groups;
	for (const Path &path : paths)
		groups[path.*key].push_back(&path);
	return groups;
}

// Those of live controllers that are slow or left out, by condition: "suspect", "slow", ...
std::map<std::string, Paths> remarkablePaths(const Paths &paths, const SlowPaths &slow)
{
	std::map<std::string, Paths> found;
	for (const Path *path : paths) {
		if (path->controllerState != ControllerState::live)
			continue;
		const std::string condition = conditionOf(*path, slow);
		if (condition != toString(ControllerState::live))
			found[condition].push_back(path);
	}
	return found;
}

// "2/4": usable of existing paths; "2/3 of 4" if more are expected than exist; "2/2, 1 slow"
std::string pathsCell(const Namespace &ns, const Paths &own, const SlowPaths &slow)
{
	std::string text = fmt::format("{}/{}", ns.usablePaths, ns.paths);
	if (ns.expectedPaths > ns.paths)
		text += fmt::format(" of {}", ns.expectedPaths);
	for (const auto &[condition, those] : remarkablePaths(own, slow))
		text += fmt::format(", {} {}", those.size(), condition);
	return text;
}

// " optimized" if all paths are in one state, else the state of each; " was optimized" if that is not current; empty if
// the target does not report ANA.
std::string formatAnaOf(const Paths &own)
{
	auto state = [](const Path *path) { return path->anaState; };
	if (std::all_of(own.begin(), own.end(), [&](const Path *path) { return state(path) == AnaState::none; }))
		return {};
	if (std::all_of(own.begin(), own.end(), [&](const Path *path) { return state(path) == state(own.front()); }))
		return " " + formatAna(*own.front());
	std::string text = anaIsCurrent(*own.front()) ? "" : " was";
	for (const Path *path : own)
		text += fmt::format(" {}={}", path->nameSpace, toString(path->anaState));
	return text;
}

// ", degraded" if that is all paths, else the disks: ", nvmeof0n1 slow"
std::string formatConditions(const Paths &own, const SlowPaths &slow)
{
	std::string text;
	for (const auto &[condition, those] : remarkablePaths(own, slow)) {
		if (those.size() == own.size())
			return ", " + condition;
		for (const Path *path : those)
			text += fmt::format(", {} {}", path->nameSpace, condition);
	}
	return text;
}

} // namespace

std::string formatNamespaces(const std::vector<Namespace> &namespaces, const std::vector<Subsystem> &subsystems,
			     const std::vector<Path> &paths)
{
	Table table({{"Node"},
		     {"NSID", Align::right},
		     {"Size", Align::right},
		     {"Format", Align::right},
		     {"Paths", Align::right},
		     {"Model"},
		     {"Serial"},
		     {"Subsystem"}});
	const SlowPaths slow = slowPaths(paths);
	std::map<std::string, Paths> pathsOf = pathsBy(&Path::nameSpace, paths);
	for (const Namespace &ns : namespaces) {
		auto of = std::find_if(subsystems.begin(), subsystems.end(),
				       [&](const Subsystem &s) { return s.id == ns.subsystem; });
		Subsystem subsystem = of == subsystems.end() ? Subsystem() : *of;
		bool generic = genericOnly(ns);
		table.add({deviceOf(ns), std::to_string(ns.nsid), generic ? "-" : formatSize(ns.size),
			   generic ? "generic only" : fmt::format("{} B", ns.lbaSize),
			   pathsCell(ns, pathsOf[ns.name], slow), subsystem.model, subsystem.serial, subsystem.nqn});
	}
	return table.render();
}

std::string formatSubsystems(const std::vector<Subsystem> &subsystems, const std::vector<Controller> &controllers,
			     const std::vector<Path> &paths, Detail detail, std::chrono::nanoseconds now)
{
	std::string text;
	const SlowPaths slow = slowPaths(paths);
	std::map<std::string, Paths> pathsOf = pathsBy(&Path::controller, paths);
	auto security = [&](Controller controller) {
		readKeyNames(controller);
		for (const auto &[key, note] : {std::pair{"authenticated", authenticationNote(controller, now)},
						{"tls", tlsNote(controller, now)}})
			text += nofctl::printable(fmt::format("     {}: {}", key, note)) + "\n";
	};
	for (const Subsystem &subsystem : subsystems) {
		std::string indent(subsystem.name.size() + 3, ' ');
		text += nofctl::printable(fmt::format("{} - NQN={}", subsystem.name, subsystem.nqn)) + "\n";
		text += nofctl::printable(fmt::format("{}hostnqn={}", indent, subsystem.hostnqn)) + "\n";
		text += nofctl::printable(fmt::format("{}iopolicy={}", indent, subsystem.iopolicy)) + "\n\\\n";
		for (const Controller &controller : controllers) {
			if (controller.subsystem != subsystem.id)
				continue;
			const bool live = controller.state == ControllerState::live;
			text += nofctl::printable(
					fmt::format(" +- {} {} {}{}{}", controller.name, formatAddress(controller),
						    toString(controller.state), formatAnaOf(pathsOf[controller.name]),
						    live ? formatConditions(pathsOf[controller.name], slow) : "")) +
				"\n";
			if (detail == Detail::verbose)
				security(controller);
		}
	}
	return text;
}

// ---- commands

namespace {

// The disks of a lost controller have fewer paths, or are not listed any more.
Json warnOfLost(Context &context, const std::vector<Controller> &controllers)
{
	Json names = Json::array();
	for (const Controller &one : controllers) {
		if (one.state != ControllerState::lost)
			continue;
		names.push_back(one.name);
		Error error;
		error.message = "lost: " + formatAddress(one) + " was not reachable within its ctrl-loss-tmo";
		context.warn(one.name, error, lostNextStep(one.name));
	}
	return names;
}

// Names each interface that has no carrier, or is down, and that controllers should be connected over.
void warnOfLinks(Context &context, const std::vector<Controller> &controllers)
{
	std::map<std::array<std::string, 3>, std::string> known;  // of addresses, which many controllers share
	std::map<std::string, std::vector<std::string>> troubles; // with the controllers
	for (const Controller &one : controllers) {
		if (one.state == ControllerState::live)
			continue;
		const auto [at, added] = known.try_emplace({one.hostIface, one.hostTraddr, one.traddr});
		auto &trouble = at->second;
		if (added)
			trouble = networkInterfaceOf(one).trouble;
		if (!trouble.empty())
			troubles[trouble].push_back(one.name);
	}
	for (const auto &[trouble, names] : troubles) {
		Error error;
		error.message = trouble + ": " + names.front();
		if (names.size() > 1)
			error.message += " and " + std::to_string(names.size() - 1) + " more controllers";
		error.message += " cannot be connected over it";
		context.warn("", error, "check its cable, the port of the switch, and 'ip link'");
	}
}

void printEach(std::ostream &out, const std::vector<std::string> &names)
{
	for (const std::string &name : names)
		out << name << "\n";
}

} // namespace

int runList(Context &context)
{
	Result<Snapshot> all = readSnapshot();
	if (!all)
		return context.fail("", all.error());
	if (!context.json())
		context.out() << formatNamespaces(all->namespaces, all->subsystems, all->paths) << std::flush;
	Json twins = warnInTreeDuplicates(context, all->namespaces, nvmeDisks());
	Json same = warnDuplicateIdentifiers(context, all->namespaces);
	Json lost = warnOfLost(context, all->controllers);
	warnOfLinks(context, all->controllers);
	if (context.json()) {
		Json document = listDocument(*all);
		document["other_driver"] = twins;
		document["same_identifiers"] = same;
		document["lost_controllers"] = lost;
		context.print(document);
	}
	return 0;
}

int runListSubsys(Context &context)
{
	Result<Snapshot> all = readSnapshot();
	if (!all)
		return context.fail("", all.error());
	if (context.json())
		context.print(subsystemsDocument(*all));
	else
		context.out() << formatSubsystems(all->subsystems, all->controllers, all->paths,
						  context.args().has("verbose") ? Detail::verbose : Detail::brief)
			      << std::flush;
	warnOfLinks(context, all->controllers);
	return 0;
}

// For completion scripts: prints no error if the objects cannot be read.
int runNames(Context &context)
{
	Result<Snapshot> all = readSnapshot();
	if (!all)
		return 0;
	std::string kind = context.args().textOr("KIND", "");
	std::vector<std::string> names;
	for (const Subsystem &subsystem : all->subsystems)
		if (kind != "controllers")
			names.push_back(kind == "nqns" ? subsystem.nqn : subsystem.name);
	for (const Controller &controller : all->controllers)
		if (kind != "nqns")
			names.push_back(controller.name);
	if (kind == "objects") {
		for (const Namespace &ns : all->namespaces)
			names.push_back(ns.name);
		for (const Path &path : all->paths)
			names.push_back(path.name);
	}
	printEach(context.out(), names);
	return 0;
}
