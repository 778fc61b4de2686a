// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ostream>

#include <nvmeof/name.h>

#include "context.h"
#include "format.h"
#include "table.h"

using namespace nvmeof;

namespace {

// The paths of an object other than a path. One that goes meanwhile has none.
struct PathsOf {
	Client &client;

	Result<std::vector<Path>> operator()(const Controller &controller) const
	{
		return client.paths({{}, controller.name});
	}
	Result<std::vector<Path>> operator()(const Namespace &ns) const { return client.paths({ns.name, {}}); }
	Result<std::vector<Path>> operator()(const Path &) const { return std::vector<Path>(); }
	Result<std::vector<Path>> operator()(const Subsystem &subsystem) const
	{
		Result<std::vector<Path>> paths = client.paths();
		if (paths)
			std::erase_if(*paths, [&](const Path &path) {
				std::optional<ObjectName> name = parseName(path.name);
				return !name || name->subsystem != subsystem.id;
			});
		return paths;
	}
};

Json documentOf(const AnyObject &object, const std::vector<Path> &paths)
{
	Json document{{"object", toJson(object)}};
	if (std::holds_alternative<Path>(object))
		return document;
	document["paths"] = Json::array();
	for (const Path &path : paths)
		document["paths"].push_back(toJson(path));
	return document;
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
	Result<std::vector<Path>> read = std::visit(PathsOf{*client}, *object);
	if (!read && read.error().code != ErrorCode::noSuchObject) // that one: it went meanwhile
		return context.fail(name, read.error());
	std::vector<Path> paths = read ? *read : std::vector<Path>();
	if (context.json()) {
		context.print(documentOf(*object, paths));
		return 0;
	}
	context.out() << renderFields(std::visit([](const auto &one) { return fieldsOf(one); }, *object));
	if (!paths.empty())
		context.out() << "\n" << formatPaths(paths);
	return 0;
}
