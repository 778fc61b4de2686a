// SPDX-License-Identifier: LGPL-2.1-or-later
// show: one object in detail.
#include <algorithm>
#include <filesystem>

#include <nvmeof/name.h>
#include <nvmeof/snapshot.h>

#include "connect_plan.h"
#include "context.h"
#include "documents.h"
#include "format.h"
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
