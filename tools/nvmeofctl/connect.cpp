// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ostream>

#include <fmt/format.h>

#include "connect_plan.h"
#include "context.h"
#include "format.h"

using namespace nvmeof;

namespace {

// The kernel's words may leave out which controller it is.
Error withExisting(Error error)
{
	if (error.code != ErrorCode::alreadyConnected || error.object.empty())
		return error;
	error.message = "already connected as " + error.object;
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

} // namespace

int runConnect(Context &context)
{
	Result<ConnectPlan> plan = planConnect(context.args());
	if (!plan)
		return context.fail("", plan.error());
	Result<Client> client = Client::open({"nvmeof_" + plan->options.front().transport});
	if (!client)
		return context.fail("", client.error());
	std::vector<Result<Controller>> results = client->connectAll(plan->options, plan->wait, plan->timeout);
	Json entries = Json::array();
	int code = 0;
	for (std::size_t i = 0; i < results.size(); i++) {
		int one = reportOne(context, plan->options[i], results[i], entries);
		code = code ? code : one; // of the first that failed
	}
	if (context.json())
		context.print(Json{{"results", entries}});
	return code;
}
