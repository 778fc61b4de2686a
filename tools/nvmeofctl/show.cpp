// SPDX-License-Identifier: LGPL-2.1-or-later
// show, list, list-subsys, and the names for completions.
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <ostream>

#include <nvmeof/name.h>
#include <nvmeof/snapshot.h>

#include "connect_plan.h"
#include "context.h"
#include "documents.h"
#include "format.h"
#include "libctl/gpu/tree.h"
#include "table.h"

using namespace nvmeof;

namespace {

// The objects that belong to @name; empty if it was removed meanwhile.
Result<Snapshot> relatedTo(const std::string &name)
{
	Result<Snapshot> all = readSnapshot();
	if (all && !narrow(*all, name))
		return Snapshot();
	return all;
}

// Devices of md, dm and LVM on a disk. No kernel so far passes on to them that the disk takes peer-to-peer memory.
std::vector<std::string> stackedOn(const std::string &disk)
{
	std::vector<std::string> names;
	std::error_code none;
	for (const auto &entry : std::filesystem::directory_iterator("/sys/block/" + disk + "/holders", none))
		names.push_back(entry.path().filename());
	std::ranges::sort(names);
	return names;
}

// The controller that is shown, or the one of the path that is shown.
const Controller *controllerOf(const AnyObject &object, const Snapshot &related)
{
	const auto *path = std::get_if<Path>(&object);
	return path ? related.controller(path->controller) : std::get_if<Controller>(&object);
}

struct NetworkInterface {
	std::string name, trouble;
};

// The network interface of a controller, and what is wrong with it.
NetworkInterface networkInterfaceOf(const Controller &controller)
{
	const nofctl::gpu::FolderTree tree;
	const std::string interface = interfaceOf(tree, controller.hostIface, controller.hostTraddr, controller.traddr);
	return {interface, interfaceTrouble(tree, interface)};
}

std::string textOf(const AnyObject &object, const Snapshot &related)
{
	Fields fields = std::visit([&](const auto &one) { return shownFields(one, related); }, object);
	const auto *ns = std::get_if<Namespace>(&object);
	if (ns)
		fields.emplace_back("peer-to-peer", peerToPeerNote(*ns, related.paths, stackedOn(ns->name)));
	if (const Controller *controller = controllerOf(object, related)) {
		const NetworkInterface link = networkInterfaceOf(*controller);
		if (!link.name.empty())
			fields.emplace_back("interface", link.trouble.empty() ? link.name : link.trouble);
	}
	std::string text = renderFields(fields);
	if (!std::holds_alternative<Path>(object) && !related.paths.empty())
		text += "\n" + formatPaths(related.paths);
	return text;
}

} // namespace

int runShow(Context &context)
{
	std::string name = context.args().textOr("NAME", "");
	Result<Client> client = Client::open();
	if (!client)
		return context.fail(name, client.error());
	Result<AnyObject> object = client->find(name);
	if (!object)
		return context.fail(name, object.error());
	Result<Snapshot> related = relatedTo(plainName(name));
	if (!related)
		return context.fail(name, related.error());
	if (!context.json()) {
		context.out() << textOf(*object, *related);
		return 0;
	}
	Json document = showDocument(*object, *related);
	if (const Controller *controller = controllerOf(*object, *related)) {
		const NetworkInterface link = networkInterfaceOf(*controller);
		if (!link.name.empty())
			document["interface"] = {{"name", link.name}, {"trouble", link.trouble}};
	}
	context.print(document);
	return 0;
}

// ---- lists

// The disks of a lost controller have fewer paths, or are not listed any more.
static Json warnOfLost(Context &context, const std::vector<Controller> &controllers)
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
static void warnOfLinks(Context &context, const std::vector<Controller> &controllers)
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

static void printEach(std::ostream &out, const std::vector<std::string> &names)
{
	for (const std::string &name : names)
		out << name << "\n";
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
