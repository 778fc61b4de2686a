// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stats.h"

#include <cerrno>
#include <ctime>
#include <ostream>

#include <fmt/format.h>

#include "builds.h"
#include "context.h"
#include "daemon_bus.h"
#include "format.h"
#include "latency.h"
#include "libctl/base/file.h"
#include "prometheus.h"
#include "table.h"

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
	for (const BuildFinding &one : compareBuilds(tool, libraryBuild(), modules, InstalledBy::make))
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

// ---- JSON

namespace {

Json totalsJson(const Totals &totals)
{
	Json json{{"ios", totals.ios},
		  {"bytes_read", totals.bytesRead},
		  {"bytes_written", totals.bytesWritten},
		  {"errors", totals.errors},
		  {"retries", totals.retries},
		  {"aborts", totals.aborts},
		  {"failovers", totals.failovers},
		  {"inflight", totals.inflight}};
	json["latency"] = latencyJson(totals.readLatency, totals.writeLatency);
	return json;
}

Json pathStatsJson(const Path &path, const Snapshot &all)
{
	Json json = toJson(path);
	if (const Controller *controller = all.controller(path.controller)) {
		json["transport"] = controller->transport;
		json["traddr"] = controller->traddr;
		json["trsvcid"] = controller->trsvcid;
	}
	return json;
}

Json namespaceStatsJson(const Namespace &ns, const Snapshot &all)
{
	Json json = toJson(ns);
	std::vector<const Path *> paths = all.pathsOf(ns);
	json["totals"] = totalsJson(totalsOf(paths));
	json["paths"] = Json::array();
	for (const Path *path : paths)
		json["paths"].push_back(pathStatsJson(*path, all));
	return json;
}

} // namespace

Json statsJson(const Snapshot &snapshot)
{
	Json json{{"time_ns", snapshot.time.count()},
		  {"latency_bucket_unit_ns", histogramUnit.count()},
		  {"subsystems", Json::array()},
		  {"controllers", Json::array()},
		  {"namespaces", Json::array()}};
	for (const Subsystem &subsystem : snapshot.subsystems)
		json["subsystems"].push_back(toJson(subsystem));
	for (const Controller &controller : snapshot.controllers)
		json["controllers"].push_back(toJson(controller));
	for (const Namespace &ns : snapshot.namespaces)
		json["namespaces"].push_back(namespaceStatsJson(ns, snapshot));
	return json;
}

// ---- text

namespace {

std::vector<std::string> counterCells(const Totals &totals, std::uint64_t from, std::uint64_t to)
{
	return {std::to_string(totals.ios),
		formatSize(totals.bytesRead),
		formatSize(totals.bytesWritten),
		std::to_string(totals.errors),
		std::to_string(totals.retries),
		std::to_string(totals.aborts),
		std::to_string(from),
		std::to_string(to),
		std::to_string(totals.inflight)};
}

std::vector<std::string> counterRow(std::vector<std::string> head, const std::vector<const Path *> &paths)
{
	std::uint64_t from = 0, to = 0;
	for (const Path *path : paths) {
		from += path->failoversFrom;
		to += path->failoversTo;
	}
	for (std::string &cell : counterCells(totalsOf(paths), from, to))
		head.push_back(std::move(cell));
	return head;
}

std::string counters(const std::vector<const Path *> &paths, const Snapshot &all, const SlowPaths &slow)
{
	Table table({{"Path"},
		     {"State"},
		     {"ANA"},
		     {"Since", Align::right},
		     {"I/Os", Align::right},
		     {"Read", Align::right},
		     {"Written", Align::right},
		     {"Errors", Align::right},
		     {"Retries", Align::right},
		     {"Aborts", Align::right},
		     {"From", Align::right},
		     {"To", Align::right},
		     {"In flight", Align::right}});
	for (const Path *path : paths)
		table.add(counterRow(
			{path->name, conditionOf(*path, slow), formatAna(*path), formatSince(*path, all.time)},
			{path}));
	table.add(counterRow({"total", "", "", ""}, paths));
	return table.render();
}

void addLatency(Table &table, const std::string &name, const char *op, const Histogram &histogram)
{
	LatencySummary summary = summaryOf(histogram);
	table.add({name, op, std::to_string(summary.count), formatPercentile(summary, summary.p50),
		   formatPercentile(summary, summary.p99), formatMax(summary)});
}

std::string latencies(const std::vector<const Path *> &paths)
{
	Table table({{"Path"},
		     {"Latency of"},
		     {"Count", Align::right},
		     {"p50", Align::right},
		     {"p99", Align::right},
		     {"Longest", Align::right}});
	for (const Path *path : paths) {
		addLatency(table, path->name, "reads", path->readLatency);
		addLatency(table, path->name, "writes", path->writeLatency);
	}
	Totals totals = totalsOf(paths);
	addLatency(table, "total", "reads", totals.readLatency);
	addLatency(table, "total", "writes", totals.writeLatency);
	return table.render();
}

std::string section(const Namespace &ns, const Snapshot &all, const SlowPaths &slow)
{
	std::vector<const Path *> paths = all.pathsOf(ns);
	const Subsystem *subsystem = all.subsystem(ns.subsystem);
	std::string text =
		nofctl::printable(fmt::format("{}: paths {}, {} requests wait for a path, {} held, iopolicy {}",
					      ns.name, pathsNote(ns, all.time), ns.waiting, ns.held,
					      subsystem ? subsystem->iopolicy : "-")) +
		"\n\n";
	return text + counters(paths, all, slow) + "\n" + latencies(paths) + "\n";
}

std::string controllers(const Snapshot &all)
{
	Table table({{"Controller"},
		     {"Address"},
		     {"State"},
		     {"Reconnects", Align::right},
		     {"Attempts", Align::right},
		     {"Last error"}});
	for (const Controller &c : all.controllers)
		table.add({c.name, formatAddress(c), toString(c.state), std::to_string(c.reconnects),
			   std::to_string(c.attempts),
			   c.lastError.empty() ? "-" : describeFailure(c.lastError, c.lastErrno)});
	return table.render();
}

} // namespace

std::string statsText(const Snapshot &snapshot)
{
	if (snapshot.controllers.empty() && snapshot.namespaces.empty())
		return "nothing is connected\n";
	std::string text;
	const SlowPaths slow = slowPaths(snapshot.paths);
	for (const Namespace &ns : snapshot.namespaces)
		text += section(ns, snapshot, slow);
	return text + controllers(snapshot);
}

Totals totalsOf(const std::vector<const nvmeof::Path *> &paths)
{
	Totals totals;
	for (const nvmeof::Path *path : paths) {
		totals.ios += path->ios;
		totals.bytesRead += path->bytesRead;
		totals.bytesWritten += path->bytesWritten;
		totals.errors += path->errors;
		totals.retries += path->retries;
		totals.aborts += path->aborts;
		totals.failovers += path->failoversFrom;
		totals.inflight += path->inflight;
		totals.readLatency = nvmeof::sum(totals.readLatency, path->readLatency);
		totals.writeLatency = nvmeof::sum(totals.writeLatency, path->writeLatency);
	}
	return totals;
}
