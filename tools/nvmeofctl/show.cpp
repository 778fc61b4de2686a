// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ostream>

#include <nvmeof/name.h>

#include "context.h"
#include "documents.h"
#include "format.h"
#include "table.h"

using namespace nvmeof;

namespace {

// What belongs to it. That of an object that goes meanwhile is nothing.
Result<Snapshot> relatedTo(const std::string &name)
{
	Result<Snapshot> all = readSnapshot();
	if (all && !narrow(*all, name))
		return Snapshot();
	return all;
}

std::string textOf(const AnyObject &object, const Snapshot &related)
{
	std::string text = renderFields(std::visit([&](const auto &one) { return shownFields(one, related); }, object));
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
	if (context.json())
		context.print(showDocument(*object, *related));
	else
		context.out() << textOf(*object, *related);
	return 0;
}
