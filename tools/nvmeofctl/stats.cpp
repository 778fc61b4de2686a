// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stats.h"

#include <cerrno>
#include <ctime>
#include <ostream>

#include "context.h"
#include "output_file.h"
#include "prometheus.h"

using namespace nvmeof;

namespace {

std::chrono::nanoseconds wallClockAtBoot()
{
	timespec now{};
	::clock_gettime(CLOCK_REALTIME, &now);
	return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec) - bootTime();
}

std::string render(const Context &context, const Snapshot &snapshot)
{
	if (context.args().has("prometheus"))
		return prometheusText(snapshot, wallClockAtBoot());
	if (context.json())
		return dump(withSchema(statsJson(snapshot)), 2) + "\n";
	return statsText(snapshot);
}

Error noSuchObject(const std::string &name)
{
	return errorFromErrno(ENODEV, "no subsystem, controller, namespace or path '" + name + "'");
}

} // namespace

int runStats(Context &context)
{
	std::string name = context.args().textOr("NAME", "");
	if (context.args().has("prometheus") && context.json())
		return context.fail(name, usageError("--prometheus and JSON are two formats: choose one"));
	Result<Snapshot> snapshot = readSnapshot();
	if (!snapshot)
		return context.fail(name, snapshot.error());
	if (!narrow(*snapshot, name))
		return context.fail(name, noSuchObject(name));
	std::string text = render(context, *snapshot);
	std::optional<std::string> file = context.args().text("output");
	if (!file) {
		context.out() << text;
		return 0;
	}
	if (Result<void> done = replaceFile(*file, text); !done)
		return context.fail(name, done.error());
	return 0;
}
