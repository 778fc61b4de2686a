// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stats.h"

#include <fmt/format.h>

#include "format.h"
#include "latency.h"
#include "table.h"
#include "totals.h"

using namespace nvmeof;

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

std::string counters(const std::vector<const Path *> &paths, const Snapshot &all)
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
			{path->name, conditionOf(*path, all.paths), formatAna(*path), formatSince(*path, all.time)},
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

std::string section(const Namespace &ns, const Snapshot &all)
{
	std::vector<const Path *> paths = all.pathsOf(ns);
	const Subsystem *subsystem = all.subsystem(ns.subsystem);
	std::string text =
		nofctl::printable(fmt::format("{}: paths {}, {} requests wait for a path, {} held, iopolicy {}",
					      ns.name, pathsNote(ns, all.time), ns.waiting, ns.held,
					      subsystem ? subsystem->iopolicy : "-")) +
		"\n\n";
	return text + counters(paths, all) + "\n" + latencies(paths) + "\n";
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
	for (const Namespace &ns : snapshot.namespaces)
		text += section(ns, snapshot);
	return text + controllers(snapshot);
}
