// SPDX-License-Identifier: LGPL-2.1-or-later
#include "top_columns.h"

#include <cctype>

#include <fmt/format.h>

#include "duration.h"
#include "format.h"
#include "latency.h"

namespace {

double iops(const TopRow &row)
{
	return row.rate ? row.rate->ios : -1;
}

double readRate(const TopRow &row)
{
	return row.rate ? row.rate->bytesRead : -1;
}

double writeRate(const TopRow &row)
{
	return row.rate ? row.rate->bytesWritten : -1;
}

double percentileOf(const TopRow &row, double fraction)
{
	return row.rate ? static_cast<double>(nvmeof::percentile(row.rate->latency, fraction).count()) : -1;
}

double p50(const TopRow &row)
{
	return percentileOf(row, 0.5);
}

double p99(const TopRow &row)
{
	return percentileOf(row, 0.99);
}

double waiting(const TopRow &row)
{
	return row.waiting + row.held;
}

double failovers(const TopRow &row)
{
	return static_cast<double>(row.failoversFrom + row.failoversTo);
}

std::string perSecond(double value)
{
	return value < 0 ? "-" : fmt::format("{:.0f}", value);
}

std::string megabytes(double bytesPerSecond)
{
	return bytesPerSecond < 0 ? "-" : fmt::format("{:.1f}", bytesPerSecond / 1e6);
}

std::string latency(const TopRow &row, double fraction)
{
	if (!row.rate || !nvmeof::countOf(row.rate->latency))
		return "-";
	return formatLatency(nvmeof::percentile(row.rate->latency, fraction));
}

std::string noPath(const TopRow &row)
{
	return row.noPathSince ? formatAge(row.noPathFor) : "-";
}

double noPathSeconds(const TopRow &row)
{
	return row.noPathSince ? std::chrono::duration<double>(row.noPathFor).count() : -1;
}

Tone noPathTone(const TopRow &row)
{
	return row.noPathSince ? Tone::bad : Tone::normal;
}

Tone alarm(const TopRow &row)
{
	return row.waiting || row.held ? Tone::warning : Tone::normal;
}

using Row = TopRow;

constexpr TopColumn iopsColumn{"IOPS", 7, true, 0, [](const Row &r) { return perSecond(iops(r)); }, iops, nullptr};
constexpr TopColumn readColumn{"R MB/s", 7,      true, 2, [](const Row &r) { return megabytes(readRate(r)); },
			       readRate, nullptr};
constexpr TopColumn writeColumn{"W MB/s",  7,      true, 2, [](const Row &r) { return megabytes(writeRate(r)); },
				writeRate, nullptr};
constexpr TopColumn p50Column{"p50", 7, true, 3, [](const Row &r) { return latency(r, 0.5); }, p50, nullptr};
constexpr TopColumn p99Column{"p99", 7, true, 3, [](const Row &r) { return latency(r, 0.99); }, p99, nullptr};
constexpr TopColumn inflightColumn{"INFL",
				   4,
				   true,
				   4,
				   [](const Row &r) { return std::to_string(r.inflight); },
				   [](const Row &r) { return double(r.inflight); },
				   nullptr};
constexpr TopColumn waitingColumn{
	"WAIT/HELD", 9, true, 6, [](const Row &r) { return fmt::format("{}/{}", r.waiting, r.held); }, waiting, alarm};
constexpr TopColumn failoversColumn{
	"FROM/TO", 7,      true, 5, [](const Row &r) { return fmt::format("{}/{}", r.failoversFrom, r.failoversTo); },
	failovers, nullptr};

constexpr TopColumn namespaceColumn(int rank)
{
	return {"NAMESPACE", 10, false, rank, [](const Row &r) { return r.nameSpace; }, nullptr, nullptr};
}

constexpr TopColumn pathColumns[] = {
	namespaceColumn(8), // can be derived from the name of the path
	{"PATH", 12, false, 0, [](const Row &r) { return r.path; }, nullptr, nullptr},
	{"ADDRESS", 15, false, 7, [](const Row &r) { return r.address; }, nullptr, nullptr},
	{"STATE", 10, false, 0, [](const Row &r) { return r.slow ? std::string("slow") : r.state; }, nullptr,
	 [](const Row &r) { return r.stateTone; }},
	{"ANA", 13, false, 1, [](const Row &r) { return r.anaCurrent ? r.ana : "-"; }, nullptr,
	 [](const Row &r) { return r.anaTone; }},
	iopsColumn,
	readColumn,
	writeColumn,
	p50Column,
	p99Column,
	inflightColumn,
	waitingColumn,
	failoversColumn,
};

constexpr TopColumn namespaceColumns[] = {
	namespaceColumn(0),
	{"SIZE", 9, true, 7, [](const Row &r) { return r.size ? formatSize(r.size) : std::string("-"); },
	 [](const Row &r) { return double(r.size); }, nullptr},
	{"PATHS", 5, true, 0, [](const Row &r) { return fmt::format("{}/{}", r.usable, r.paths); },
	 [](const Row &r) { return double(r.usable); }, [](const Row &r) { return r.stateTone; }},
	{"NO PATH", 8, true, 1, noPath, noPathSeconds, noPathTone},
	iopsColumn,
	readColumn,
	writeColumn,
	p50Column,
	p99Column,
	inflightColumn,
	waitingColumn,
	failoversColumn,
};

bool digit(char c)
{
	return std::isdigit(static_cast<unsigned char>(c));
}

// The digits at the front, without leading zeros.
std::string_view numberAt(std::string_view text)
{
	std::size_t zeros = std::min(text.find_first_not_of('0'), text.size());
	std::size_t end = zeros;
	while (end < text.size() && digit(text[end]))
		end++;
	return text.substr(zeros, end - zeros);
}

std::size_t digitsAt(std::string_view text)
{
	std::size_t n = 0;
	while (n < text.size() && digit(text[n]))
		n++;
	return n;
}

} // namespace

std::span<const TopColumn> columnsOf(TopTable table)
{
	if (table == TopTable::paths)
		return pathColumns;
	return namespaceColumns;
}

bool naturalLess(std::string_view a, std::string_view b)
{
	while (!a.empty() && !b.empty()) {
		if (digit(a.front()) && digit(b.front())) {
			std::string_view m = numberAt(a), n = numberAt(b);
			if (m != n)
				return m.size() != n.size() ? m.size() < n.size() : m < n;
			a.remove_prefix(digitsAt(a));
			b.remove_prefix(digitsAt(b));
		} else if (a.front() != b.front()) {
			return a.front() < b.front();
		} else {
			a.remove_prefix(1);
			b.remove_prefix(1);
		}
	}
	return a.size() < b.size();
}
