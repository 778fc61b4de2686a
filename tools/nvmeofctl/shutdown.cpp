// SPDX-License-Identifier: LGPL-2.1-or-later
// shutdown: limits how long I/O waits for a path, so that it cannot block the shutdown of the machine.
#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "context.h"
#include "documents.h"

using namespace nvmeof;
using std::chrono::milliseconds;

namespace {

// A time limit that is shorter already is kept.
bool exceedsLimit(milliseconds set, milliseconds limit)
{
	return set.count() < 0 || set > limit;
}

class Limits {
public:
	Limits(Context &context, Client &client, milliseconds limit) : context_(context), client_(client), limit_(limit)
	{
	}

	// With delayed removal, a disk outlives its last path, and its I/O waits for that time.
	void set(const Subsystem &subsystem)
	{
		auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit_);
		if (subsystem.delayedRemoval <= seconds)
			return;
		SubsystemSettings settings;
		settings.delayedRemoval = seconds;
		note(subsystem.name, client_.set(subsystem.name, settings));
	}

	void set(const Controller &controller)
	{
		if (!exceedsLimit(controller.fastIoFail, limit_))
			return;
		ControllerSettings settings;
		settings.fastIoFail = limit_;
		note(controller.name, client_.set(controller.name, settings));
	}

	int finish()
	{
		if (context_.json())
			context_.print(shutdownDocument(limit_, names_, errors_));
		else
			context_.out() << fmt::format(
				"lowered the limits of {} objects: I/O waits for a path for at most {} s\n",
				names_.size(), static_cast<double>(limit_.count()) / 1000);
		return status_;
	}

private:
	// An object that was removed meanwhile needs no limit.
	void note(const std::string &name, const Result<void> &done)
	{
		if (done) {
			names_.push_back(name);
			return;
		}
		if (done.error().code == ErrorCode::noSuchObject)
			return;
		status_ = std::max(status_, context_.complain(name, done.error()));
		errors_.push_back(done.error());
		errors_.back().object = ErrorObject::named(name);
	}

	Context &context_;
	Client &client_;
	milliseconds limit_;
	std::vector<std::string> names_;
	std::vector<Error> errors_;
	int status_ = 0;
};

} // namespace

int runShutdown(Context &context)
{
	const milliseconds limit = context.args().seconds("limit").value_or(milliseconds(15000));
	Result<Client> client = Client::open();
	// not loaded: no I/O waits
	if (!client && client.error().code == ErrorCode::noModule) {
		if (context.json())
			context.print(shutdownDocument(limit, {}, {}));
		else
			context.out() << "the kernel module nvmeof is not loaded: no I/O waits\n";
		return 0;
	}
	if (!client)
		return context.fail("", client.error());
	Result<std::vector<Subsystem>> subsystems = client->subsystems();
	if (!subsystems)
		return context.fail("", subsystems.error());
	Result<std::vector<Controller>> controllers = client->controllers();
	if (!controllers)
		return context.fail("", controllers.error());
	Limits limits(context, *client, limit);
	for (const Subsystem &subsystem : *subsystems)
		limits.set(subsystem);
	for (const Controller &controller : *controllers)
		limits.set(controller);
	return limits.finish();
}
