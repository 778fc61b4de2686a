// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ostream>

#include "context.h"
#include "format.h"
#include "snapshot.h"

using namespace nvmeof;

namespace {

template <typename T> Json arrayOf(const std::vector<T> &objects, auto keep)
{
	Json array = Json::array();
	for (const T &object : objects)
		if (keep(object))
			array.push_back(toJson(object));
	return array;
}

Json controllersOf(const Subsystem &subsystem, const Snapshot &all)
{
	Json array = Json::array();
	for (const Controller &controller : all.controllers) {
		if (controller.subsystem != subsystem.id)
			continue;
		Json json = toJson(controller);
		json["paths"] =
			arrayOf(all.paths, [&](const Path &path) { return path.controller == controller.name; });
		array.push_back(json);
	}
	return array;
}

} // namespace

int runList(Context &context)
{
	Result<Snapshot> all = readSnapshot();
	if (!all)
		return context.fail("", all.error());
	if (context.json())
		context.print(Json{{"namespaces", arrayOf(all->namespaces, [](const Namespace &) { return true; })}});
	else
		context.out() << formatNamespaces(all->namespaces, all->subsystems);
	return 0;
}

int runListSubsys(Context &context)
{
	Result<Snapshot> all = readSnapshot();
	if (!all)
		return context.fail("", all.error());
	if (!context.json()) {
		context.out() << formatSubsystems(all->subsystems, all->controllers, all->paths);
		return 0;
	}
	Json array = Json::array();
	for (const Subsystem &subsystem : all->subsystems) {
		Json json = toJson(subsystem);
		json["controllers"] = controllersOf(subsystem, *all);
		json["namespaces"] =
			arrayOf(all->namespaces, [&](const Namespace &ns) { return ns.subsystem == subsystem.id; });
		array.push_back(json);
	}
	context.print(Json{{"subsystems", array}});
	return 0;
}

static void printEach(std::ostream &out, const std::vector<std::string> &names)
{
	for (const std::string &name : names)
		out << name << "\n";
}

// For completion scripts: no names, and no noise, when there is nothing to ask.
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
