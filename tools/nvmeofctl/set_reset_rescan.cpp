// SPDX-License-Identifier: LGPL-2.1-or-later
// reset, rescan and set: commands that change one object.
#include <ostream>

#include <fmt/format.h>

#include <nvmeof/name.h>

#include "context.h"
#include "documents.h"
#include "policy.h"
#include "setting_texts.h"

using namespace nvmeof;

namespace {

int finish(Context &context, const std::string &name, const Result<void> &done, const char *what,
	   const std::string &nextStep = "")
{
	if (!done)
		return context.fail(name, done.error(), nextStep);
	if (context.json())
		context.print(doneDocument(name, what));
	else
		context.out() << fmt::format("{} {}\n", name, what);
	return 0;
}

template <typename F> int withClient(Context &context, const std::string &name, const char *what, F action)
{
	Result<Client> client = Client::open();
	if (!client)
		return context.fail(name, client.error());
	return finish(context, name, action(*client), what);
}

struct Apply {
	Client &client;
	const std::string &name;

	Result<void> operator()(const SubsystemSettings &settings) const
	{
		return setSubsystem(client, name, settings);
	}
	Result<void> operator()(const ControllerSettings &settings) const { return client.set(name, settings); }
};

std::string setNextStep(const Error &error)
{
	return error.sysErrno == EKEYREJECTED ? "compare the keys with those of the target, then set them again" : "";
}

Error noSettings(const std::string &name)
{
	Error error = usageError("'" + name + "' is not the name of a subsystem or controller");
	error.code = ErrorCode::noSuchObject;
	return error;
}

} // namespace

int runReset(Context &context)
{
	std::string name = plainName(context.args().textOr("NAME", ""));
	return withClient(context, name, "reset started", [&](Client &client) { return client.reset(name); });
}

int runRescan(Context &context)
{
	std::string name = plainName(context.args().textOr("NAME", ""));
	return withClient(context, name, "scanned", [&](Client &client) { return client.rescan(name); });
}

int runSet(Context &context)
{
	std::string name = plainName(context.args().textOr("NAME", ""));
	std::optional<ObjectName> parsed = parseName(name);
	if (!parsed)
		return context.fail(name, noSettings(name));
	Result<Settings> settings = parseSettings(parsed->kind(), context.args().all("NAME=VALUE"));
	if (!settings)
		return context.fail(name, settings.error());
	Result<Client> client = Client::open();
	if (!client)
		return context.fail(name, client.error());
	const Result<void> done = std::visit(Apply{*client, name}, *settings);
	return finish(context, name, done, "set", done ? "" : setNextStep(done.error()));
}
