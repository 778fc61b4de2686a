// SPDX-License-Identifier: LGPL-2.1-or-later
// connect: connects to a subsystem, and waits until it can be used.
#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "configuration.h"
#include "connect_plan.h"
#include "context.h"
#include "documents.h"
#include "format.h"
#include "libctl/gpu/rails.h"
#include "policy.h"
#include "terminal.h"

using namespace nvmeof;

namespace {

// Names the existing controller in the message. The connect request has made the kernel retry a lost controller.
Error describeExisting(Client &client, Error error)
{
	if (error.code != ErrorCode::alreadyConnected || error.object.none())
		return error;
	Result<Controller> there = client.controller(error.object.name);
	const bool lost = there && there->state == ControllerState::lost;
	if (lost)
		error.left = ControllerState::lost;
	error.message = lost ? error.object.name + " exists for this address in state lost; it is reconnected now"
			     : "already connected as " + error.object.name;
	return error;
}

bool among(const Controller &controller, const std::vector<ConnectOptions> &wanted)
{
	return std::ranges::any_of(wanted, [&](const ConnectOptions &options) { return isFor(controller, options); });
}

// Empty if the kernel does not answer in time.
std::string progressOf(Client &client, const std::vector<ConnectOptions> &wanted)
{
	Result<std::vector<Controller>> all = client.controllers();
	if (!all)
		return {};
	auto live = std::ranges::count_if(*all, [&](const Controller &controller) {
		return controller.state == ControllerState::live && among(controller, wanted);
	});
	return fmt::format("{} of {} live", live, wanted.size());
}

void warnPollQueues(Context &context, const Controller &controller)
{
	if (controller.state != ControllerState::live || controller.pollQueues >= controller.wantedPollQueues)
		return;
	Error error;
	error.message = fmt::format("got {} of {} poll queues: limited by the target, or by another controller of the "
				    "subsystem; without poll queues, polled I/O uses the default queues",
				    controller.pollQueues, controller.wantedPollQueues);
	context.warn(controller.name, error, "");
}

Require requirement(const Context &context)
{
	return context.args().textOr("require", "any") == "any" ? Require::any : Require::all;
}

// Unless --require all is given, one connected path is enough, and errors of the others are warnings.
int report(Context &context, Client &client, const std::vector<ConnectOptions> &wanted,
	   const std::vector<Result<Controller>> &results)
{
	bool enough = requirement(context) == Require::any &&
		      std::ranges::any_of(results, [](const auto &result) { return result.ok(); });
	int code = 0; // of the first that failed
	for (std::size_t i = 0; i < results.size(); i++) {
		const std::string address = wanted[i].address.toString();
		if (results[i]) {
			if (!context.json())
				context.out() << fmt::format("{} {} {}\n", results[i]->name, formatAddress(*results[i]),
							     toString(results[i]->state));
			warnPollQueues(context, *results[i]);
			continue;
		}
		Error error = describeExisting(client, results[i].error());
		std::string step = connectNextStep(error, wanted[i]);
		if (enough) {
			context.warn(address, error, step);
			continue;
		}
		int one = context.complain(address, error, step);
		code = code ? code : one;
	}
	return code;
}

// The subsystems of that NQN that are not in @before.
std::vector<Subsystem> subsystemsOf(Client &client, const std::string &nqn, const std::vector<Subsystem> &before = {})
{
	std::vector<Subsystem> all = subsystemsSince(client, before);
	std::erase_if(all, [&](const Subsystem &subsystem) { return subsystem.nqn != nqn; });
	return all;
}

// Ends the process on an interruption.
std::vector<Result<Controller>> connectAll(Context &context, Client &client, const ConnectPlan &plan)
{
	const WaitOptions wait{plan.wait, plan.timeout, {}, {}, requirement(context)};
	std::vector<Result<Connection>> connections;
	Interruption interruption;
	{
		Progress progress("connect", [&](Client &own) { return progressOf(own, plan.options); });
		connections = client.connectAll(plan.options, wait, interruption.token());
	}
	if (int signal = interruption.caught()) {
		undo(context, client, plan.options, connections);
		exitBySignal(signal);
	}
	std::vector<Result<Controller>> results;
	for (const auto &one : connections)
		results.push_back(one ? Result<Controller>(*one) : Result<Controller>(one.error()));
	return results;
}

// Returns false and sets @code if the in-tree driver has the subsystem. If this driver is connected to it already, a
// new path creates no disk, so that a warning is enough.
bool mayConnect(Context &context, const std::string &nqn, bool connected, int &code)
{
	std::optional<std::string> held = inTreeConflict(nqn, foreignControllers(nqn));
	if (!held || context.args().has("force"))
		return true;
	if (!connected) {
		code = reportInTreeConflict(context, nqn, *held);
		return false;
	}
	warnInTreeConflict(context, nqn, *held);
	return true;
}

// The namespaces that are disks of the in-tree driver as well. That driver may have them from a subsystem of another
// NQN, so this can be checked only after connecting.
Json findDuplicates(Context &context, Client &client, const std::vector<Subsystem> &subsystems)
{
	std::vector<Namespace> ours;
	for (const Subsystem &subsystem : subsystems)
		if (Result<std::vector<Namespace>> read = client.namespaces(subsystem.id))
			ours.insert(ours.end(), read->begin(), read->end());
	return warnInTreeDuplicates(context, ours, nvmeDisks());
}

// Spreads each address over the network cards of the rail, one path for each.
Result<void> takeRail(const Args &args, ConnectPlan &plan)
{
	const std::string rail = args.textOr("rail", "");
	if (rail.empty())
		return {};
	if (args.has("host-iface"))
		return usageError("--rail and --host-iface exclude each other: both select the interface");
	Result<std::vector<std::string>> interfaces =
		nofctl::gpu::railInterfaces(nofctl::gpu::readNode(nofctl::gpu::FolderTree()), rail);
	if (!interfaces)
		return interfaces.error();
	ConnectPlan spread = plan;
	spread.options.clear();
	spread.typed.clear();
	for (std::size_t i = 0; i < plan.options.size(); i++)
		for (const std::string &interface : *interfaces) {
			spread.options.push_back(plan.options[i]);
			spread.options.back().hostIface = interface;
			spread.typed.push_back(plan.typed[i]);
		}
	plan = std::move(spread);
	return {};
}

} // namespace

int runConnect(Context &context)
{
	Result<ConnectPlan> plan = planConnect(context.args());
	if (!plan)
		return context.fail("", plan.error(), nameStep(plan.error()));
	noteNames(context, *plan);
	if (Result<void> taken = takeRail(context.args(), *plan); !taken)
		return context.fail("", taken.error(),
				    taken.error().code == ErrorCode::noSuchObject
					    ? "'nvmeofctl map' shows GPUs and network cards"
					    : "");
	if (Result<void> taken = takeDefaults(context, *plan); !taken)
		return context.fail("", taken.error(), configStep(taken.error()));
	Result<Client> client = Client::open({"nvmeof_" + plan->options.front().transport});
	if (!client)
		return context.fail("", client.error());
	const std::string &nqn = plan->options.front().subsysnqn;
	std::vector<Subsystem> before = subsystemsOf(*client, nqn);
	int code = 0;
	if (!mayConnect(context, nqn, !before.empty(), code))
		return code;
	std::vector<Result<Controller>> results = connectAll(context, *client, *plan);
	code = report(context, *client, plan->options, results);
	std::vector<Subsystem> made = subsystemsOf(*client, nqn, before);
	Json applied = made.empty() ? Json::array() : applyToNew(context, *client, made, policies(context.args()));
	Json twins = findDuplicates(context, *client, subsystemsOf(*client, nqn));
	if (context.json()) {
		Json document = connectDocument(*plan, results, applied);
		document["other_driver"] = twins;
		context.print(document);
	}
	return code;
}
