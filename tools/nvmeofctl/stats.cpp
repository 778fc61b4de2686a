// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stats.h"

#include <cerrno>
#include <ctime>
#include <ostream>

#include <fmt/format.h>

#include "builds.h"
#include "context.h"
#include "daemon_bus.h"
#include "libctl/base/file.h"
#include "prometheus.h"

using namespace nvmeof;

namespace {

std::chrono::nanoseconds wallClockAtBoot()
{
	timespec now{};
	::clock_gettime(CLOCK_REALTIME, &now);
	return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec) - bootTime();
}

NodeFacts nodeFacts()
{
	const Build tool = toolBuild();
	const std::vector<ModuleBuild> modules = moduleBuilds();
	NodeFacts facts;
	facts.version = tool.version;
	for (const ModuleBuild &one : modules)
		if (one.name == "nvmeof" && one.loaded)
			facts.moduleVersion = one.loaded->version;
	for (const BuildFinding &one : compareBuilds(tool, libraryBuild(), modules))
		facts.findings.push_back(one.code);
	facts.daemonRuns = daemonRuns();
	facts.daemonEnabled = unitEnabled("nvmeofd.service");
	return facts;
}

// Empty if the file cannot be read.
std::string textOfFile(const std::string &name)
{
	constexpr std::size_t largest = 64 << 20;
	Result<std::string> text = nofctl::readSmallFile(name, largest);
	return text ? *text : "";
}

std::string metrics(const Context &context, const Snapshot &snapshot, const std::string &name)
{
	PrometheusOptions options;
	options.bootOffset = wallClockAtBoot();
	options.histograms = !context.args().has("no-histograms");
	if (name.empty()) {
		options.node = nodeFacts();
		if (std::optional<std::string> file = context.args().text("output"))
			options.lost = findLost(textOfFile(*file), snapshot);
	}
	return prometheusText(snapshot, options);
}

std::string render(const Context &context, const Snapshot &snapshot, const std::string &name)
{
	if (context.args().has("prometheus"))
		return metrics(context, snapshot, name);
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
		return context.fail(name, usageError("--prometheus and JSON exclude each other"));
	for (const char *option : {"histograms", "no-histograms"})
		if (context.args().has(option) && !context.args().has("prometheus"))
			return context.fail(
				name, usageError(fmt::format("--{} requires --prometheus; JSON always has histograms",
							     option)));
	if (context.args().has("histograms") && context.args().has("no-histograms"))
		return context.fail(name, usageError("--histograms and --no-histograms exclude each other"));
	Result<Snapshot> snapshot = readSnapshot();
	if (!snapshot)
		return context.fail(name, snapshot.error());
	if (!narrow(*snapshot, name))
		return context.fail(name, noSuchObject(name));
	std::string text = render(context, *snapshot, name);
	std::optional<std::string> file = context.args().text("output");
	if (!file) {
		context.out() << text;
		return 0;
	}
	if (Result<void> done = nofctl::replaceFile(*file, text); !done)
		return context.fail(name, done.error());
	return 0;
}
