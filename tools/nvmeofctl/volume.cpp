// SPDX-License-Identifier: LGPL-2.1-or-later
// volume: commands for orchestrators, which use libctl/volume.
#include "volume.h"

#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "configuration.h"
#include "connect_plan.h"
#include "context.h"
#include "libctl/volume/grpc_code.h"
#include "libctl/volume/volume.h"
#include "table.h"
#include "terminal.h"

using namespace nvmeof;
using namespace nofctl::volume;

namespace {

// A volume in use has a code of its own, in the document and as exit code.
int refuseInUse(Context &context, const Error &error, std::string_view step)
{
	Json json = toJson(error);
	json["code"] = "in_use";
	json["exit_code"] = static_cast<int>(ExitCode::inUse);
	if (context.json())
		context.print({{"error", json}});
	context.complain("", error, step);
	return static_cast<int>(ExitCode::inUse);
}

// Fails unless exactly one of --uuid, --nguid, --eui64 and --nsid is given.
Result<Entry> entryOf(const Args &args)
{
	std::vector<std::string> ids;
	for (const auto &[option, kind] :
	     {std::pair{"uuid", "uuid"}, {"nguid", "nguid"}, {"eui64", "eui"}, {"nsid", "nsid"}})
		if (std::optional<std::string> text = args.text(option))
			ids.push_back(fmt::format("{}.{}", kind, *text));
	if (ids.size() != 1)
		return usageError("give one of --uuid, --nguid, --eui64 and --nsid");
	std::optional<VolumeId> id = VolumeId::parse(ids.front());
	return id ? Result<Entry>(Entry{args.textOr("nqn", ""), *id})
		  : Result<Entry>(usageError("--uuid needs a UUID other than all zeros, --nguid 32 and --eui64 16 "
					     "hexadecimal digits, --nsid a number from 1"));
}

void report(Context &context, const Attached &volume, const ConnectPlan &plan)
{
	for (std::size_t i = 0; i < volume.paths.size(); i++)
		if (const AttachedPath &path = volume.paths[i]; path.error)
			context.warn(path.address, *path.error, connectNextStep(*path.error, plan.options[i]));
	if (context.json())
		return context.print(attachedDocument(volume));
	context.out() << "/dev/" << volume.ns.name << "\n";
}

} // namespace

int runVolumeAttach(Context &context)
{
	Result<Entry> entry = entryOf(context.args());
	if (!entry)
		return context.fail("", entry.error());
	Result<ConnectPlan> plan = planConnect(context.args());
	if (!plan)
		return context.fail("", plan.error(), nameStep(plan.error()));
	noteNames(context, *plan);
	if (Result<void> taken = takeDefaults(context, *plan); !taken)
		return context.fail("", taken.error(), configStep(taken.error()));
	if (std::optional<std::string> held = inTreeConflict(entry->nqn, foreignControllers(entry->nqn)))
		return reportInTreeConflict(context, entry->nqn, *held);
	Result<Client> client = Client::open({"nvmeof_" + plan->options.front().transport});
	if (!client)
		return context.fail("", client.error());
	Interruption interruption;
	Result<Attached> done =
		attach(*client, {plan->options, entry->id, {}, plan->timeout}, {}, interruption.token());
	if (int signal = interruption.caught())
		exitBySignal(signal);
	if (!done)
		return context.fail("", done.error(), connectNextStep(done.error(), plan->options.front()));
	report(context, *done, *plan);
	return 0;
}

int runVolumeDetach(Context &context)
{
	Result<Entry> entry = entryOf(context.args());
	if (!entry)
		return context.fail("", entry.error());
	Result<Client> client = Client::open();
	if (!client)
		return context.fail("", client.error());
	Result<Detached> done = detach(*client, *entry, {}, context.args().seconds("timeout").value_or(defaultTimeout));
	if (!done)
		return inUse(done.error()) ? refuseInUse(context, done.error(), "the volume remains attached")
					   : context.fail("", done.error());
	if (context.json())
		context.print(detachedDocument(*entry, *done));
	else
		for (const std::string &name : done->disconnected)
			context.out() << fmt::format("{} disconnected\n", name);
	if (!done->keeping.empty())
		context.note(entry->nqn, "remains connected: " + toString(done->keeping));
	return 0;
}

int runVolumeList(Context &context)
{
	Result<Client> client = Client::open();
	Result<std::vector<Listed>> all = client ? list(*client) : Result<std::vector<Listed>>(client.error());
	if (!all)
		return context.fail("", all.error());
	if (context.json()) {
		context.print(volumesDocument(*all));
		return 0;
	}
	Table table({{"Disk"}, {"Volume"}, {"NQN"}, {"Users"}});
	for (const Listed &one : *all)
		table.add({one.ns ? "/dev/" + one.ns->name : "-", one.entry.id.toString(), one.entry.nqn,
			   one.users.empty() ? "-" : toString(one.users)});
	context.out() << (all->empty() ? "no volume is attached\n" : table.render());
	return 0;
}

// ---- JSON documents

namespace {

Json usersJson(const std::vector<User> &users)
{
	Json array = Json::array();
	for (const User &user : users)
		array.push_back({{"kind", user.kind}, {"what", user.what}});
	return array;
}

Json attachedPathJson(const AttachedPath &path)
{
	Json json{{"transport", path.transport}, {"address", path.address}};
	putText(json, "controller", path.controller);
	if (path.error)
		json["error"] = toJson(*path.error);
	return json;
}

Json entryJson(const Entry &entry)
{
	return {{"nqn", entry.nqn}, {"id", entry.id.toString()}};
}

} // namespace

Json attachedDocument(const Attached &volume)
{
	Json json = entryJson(volume.entry);
	const Json ns = toJson(volume.ns);
	json["subsystem"] = volume.subsystem.name;
	json["disk"] = "/dev/" + volume.ns.name;
	putText(json, "by_id", volume.byId);
	for (const char *key : {"uuid", "nguid", "eui64", "nsid", "size", "read_only"})
		if (ns.contains(key))
			json[key] = ns[key];
	json["already"] = volume.already;
	json["paths"] = Json::array();
	for (const AttachedPath &path : volume.paths)
		json["paths"].push_back(attachedPathJson(path));
	return json;
}

Json detachedDocument(const Entry &entry, const Detached &done)
{
	Json json = entryJson(entry);
	json["was_attached"] = done.was;
	json["disconnected"] = done.disconnected;
	json["kept_for"] = usersJson(done.keeping);
	return json;
}

Json volumesDocument(const std::vector<Listed> &volumes)
{
	Json array = Json::array();
	for (const Listed &volume : volumes) {
		Json json = entryJson(volume.entry);
		if (volume.ns) {
			json["disk"] = "/dev/" + volume.ns->name;
			putText(json, "by_id", volume.byId);
			json["users"] = usersJson(volume.users);
		}
		array.push_back(json);
	}
	return {{"volumes", array}};
}
