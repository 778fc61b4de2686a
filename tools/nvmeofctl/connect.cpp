// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "connect_plan.h"
#include "context.h"
#include "format.h"
#include "policy.h"

using namespace nvmeof;

namespace {

// The kernel's words may leave out which controller it is.
Error withExisting(Error error)
{
	if (error.code != ErrorCode::alreadyConnected || error.object.none())
		return error;
	error.message = "already connected as " + error.object.name;
	return error;
}

int reportOne(Context &context, const ConnectOptions &options, const Result<Controller> &result, Json &results)
{
	Json entry{{"address", options.address.toString()}};
	int code = 0;
	if (result) {
		entry["controller"] = toJson(*result);
		if (!context.json())
			context.out() << fmt::format("{} {} {}\n", result->name, formatAddress(*result),
						     toString(result->state));
	} else {
		Error error = withExisting(result.error());
		entry["error"] = toJson(error);
		code = context.complain(options.address.toString(), error, connectNextStep(error, options));
	}
	results.push_back(entry);
	return code;
}

// Those of that NQN that there are, and were not there @before.
std::vector<Subsystem> subsystemsOf(Client &client, const std::string &nqn, const std::vector<Subsystem> &before = {})
{
	Result<std::vector<Subsystem>> read = client.subsystems();
	std::vector<Subsystem> all = read ? *read : std::vector<Subsystem>();
	std::erase_if(all, [&](const Subsystem &subsystem) {
		auto same = [&](const Subsystem &other) { return other.id == subsystem.id; };
		return subsystem.nqn != nqn || std::any_of(before.begin(), before.end(), same);
	});
	return all;
}

// Sets the subsystems that this connect made as policy.conf says. The connection stands whatever comes of it.
Json applyToNew(Context &context, Client &client, const std::vector<Subsystem> &subsystems)
{
	if (subsystems.empty())
		return Json::array();
	Result<std::vector<PolicyRule>> rules = policyRules(context.args());
	std::vector<PolicyOutcome> outcomes;
	outcomes.reserve(subsystems.size());
	for (const Subsystem &subsystem : subsystems)
		outcomes.push_back(rules ? applyPolicy(client, subsystem, *rules, Extent::untouched)
					 : PolicyOutcome{subsystem.name, nullptr, rules.error()});
	return warnOfPolicies(context, outcomes);
}

} // namespace

int runConnect(Context &context)
{
	Result<ConnectPlan> plan = planConnect(context.args());
	if (!plan)
		return context.fail("", plan.error());
	Result<Client> client = Client::open({"nvmeof_" + plan->options.front().transport});
	if (!client)
		return context.fail("", client.error());
	const std::string &nqn = plan->options.front().subsysnqn;
	std::vector<Subsystem> before = subsystemsOf(*client, nqn);
	std::vector<Result<Controller>> results = client->connectAll(plan->options, plan->wait, plan->timeout);
	Json entries = Json::array();
	int code = 0;
	for (std::size_t i = 0; i < results.size(); i++) {
		int one = reportOne(context, plan->options[i], results[i], entries);
		code = code ? code : one; // of the first that failed
	}
	Json policies = applyToNew(context, *client, subsystemsOf(*client, nqn, before));
	if (context.json())
		context.print(Json{{"results", entries}, {"policies", policies}});
	return code;
}
