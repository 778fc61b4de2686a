// SPDX-License-Identifier: LGPL-2.1-or-later
#include "undo.h"

#include "context.h"

using namespace nvmeof;

namespace {

// The controller that this process created; empty if it created none, or if it is gone.
std::string madeHere(const Result<Connection> &result)
{
	if (result)
		return result->made ? result->name : "";
	return result.error().made ? result.error().object.name : "";
}

} // namespace

bool isFor(const Controller &controller, const ConnectOptions &options)
{
	return controller.subsysnqn == options.subsysnqn && controller.traddr == options.address.traddr &&
	       controller.trsvcid == options.address.trsvcid;
}

void undo(Context &context, Client &client, const std::vector<ConnectOptions> &wanted,
	  const std::vector<Result<Connection>> &results)
{
	for (std::size_t i = 0; i < results.size(); i++) {
		const std::string name = madeHere(results[i]);
		if (name.empty())
			continue;
		Result<Controller> now = client.controller(name);
		if (!now || !isFor(*now, wanted[i])) // removed, and the name may be in use again
			continue;
		Error note;
		note.message = "connected before the interruption; kept";
		if (now->state != ControllerState::live) {
			Result<void> gone = client.disconnect(name);
			note.message = gone ? "was connecting; removed" : gone.error().message;
		}
		context.warn(name, note, "");
	}
}
