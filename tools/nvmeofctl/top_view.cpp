// SPDX-License-Identifier: LGPL-2.1-or-later
#include "top_view.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "format.h"
#include "latency.h"
#include "libctl/base/text.h"
#include "table.h"
#include "when.h"

namespace {

constexpr std::size_t unlimited = static_cast<std::size_t>(-1);

TopLine titleLine(const TopModel &model, bool paused)
{
	std::string interval =
		model.interval.count()
			? fmt::format(", {:.1f} s", std::chrono::duration<double>(model.interval).count())
			: "";
	TopLine line{{fmt::format("nvmeofctl top - {} {}{}", nofctl::printable(model.host), model.clock, interval)}};
	if (paused)
		line.push_back({"  paused", Tone::warning});
	return line;
}

TopLine countLine(const TopModel &model)
{
	Tone tone = model.total.usable < model.total.paths ? Tone::warning : Tone::normal;
	return {{fmt::format("{}, {} ({} live), {}, ", nofctl::counted(model.subsystems, "subsystem"),
			     nofctl::counted(model.controllers, "controller"), model.live,
			     nofctl::counted(model.namespaces.size(), "namespace"))},
		{fmt::format("{} ({} usable)", nofctl::counted(model.paths.size(), "path"), model.total.usable), tone}};
}

TopLine totalLine(const TopModel &model)
{
	const TopRow &total = model.total;
	std::string text = "total: ";
	if (total.rate) {
		LatencySummary latency = summaryOf(total.rate->latency);
		text += fmt::format("{:.0f} IOPS, read {:.1f} MB/s, write {:.1f} MB/s, p50 {}, p99 {}, ",
				    total.rate->ios, total.rate->bytesRead / 1e6, total.rate->bytesWritten / 1e6,
				    formatPercentile(latency, latency.p50), formatPercentile(latency, latency.p99));
	}
	text += fmt::format("{} in flight, ", total.inflight);
	return {{text},
		{fmt::format("{} waiting, {} held", total.waiting, total.held),
		 total.waiting || total.held ? Tone::warning : Tone::normal}};
}

std::vector<TopLine> header(const TopModel &model, bool paused)
{
	std::vector<TopLine> lines{titleLine(model, paused)};
	if (model.error) {
		lines.push_back({{nofctl::printable(model.error->message), Tone::bad}});
		lines.push_back({{"retrying", Tone::dim}});
		return lines;
	}
	lines.push_back(countLine(model));
	lines.push_back(totalLine(model));
	lines.push_back({{model.event.empty() ? "" : nofctl::printable(model.event), Tone::dim}});
	return lines;
}

void cut(TopLine &line, std::size_t columns)
{
	std::size_t used = 0;
	for (TopSpan &span : line) {
		span.text.resize(std::min(span.text.size(), columns - used));
		used += span.text.size();
	}
}

// A column with the text of its cells.
struct ColumnLayout {
	const TopColumn *column;
	std::size_t width;
	std::vector<std::string> cells;
};

ColumnLayout lay(const TopColumn &column, const std::vector<TopRow> &rows, bool marked)
{
	ColumnLayout laid{&column, std::max(column.width, std::string_view(column.title).size() + marked), {}};
	for (const TopRow &row : rows) {
		laid.cells.push_back(nofctl::printable(column.text(row)));
		laid.width = std::max(laid.width, laid.cells.back().size());
	}
	return laid;
}

// Leaves out columns, highest rank first, until the others fit.
void fit(std::vector<ColumnLayout> &columns, std::size_t width)
{
	for (;;) {
		std::size_t needed = 0;
		for (const ColumnLayout &laid : columns)
			needed += laid.width + 1;
		auto min = std::ranges::max_element(columns, {}, [](const ColumnLayout &l) { return l.column->rank; });
		if (needed <= width + 1 || min == columns.end() || min->column->rank == 0)
			return;
		columns.erase(min);
	}
}

std::string aligned(const ColumnLayout &laid, const std::string &text)
{
	return laid.column->number ? fmt::format("{:>{}} ", text, laid.width)
				   : fmt::format("{:<{}} ", text, laid.width);
}

TopLine titleLine(const std::vector<ColumnLayout> &columns, const TopColumn *sortedBy, bool upwards)
{
	TopLine line;
	for (const ColumnLayout &laid : columns) {
		std::string title = laid.column->title;
		if (laid.column == sortedBy)
			title += upwards ? "^" : "v";
		line.push_back({aligned(laid, title), Tone::title});
	}
	return line;
}

} // namespace

std::string plain(const TopLine &line)
{
	std::string text;
	for (const TopSpan &span : line)
		text += span.text;
	text.erase(text.find_last_not_of(' ') + 1);
	return text;
}

bool TopView::key(TopKey key)
{
	switch (key) {
	case TopKey::quit:
		return false;
	case TopKey::sort:
		sortColumn() = (sortColumn() + 1) % columnsOf(table_).size();
		reverse_ = false;
		break;
	case TopKey::reverse:
		reverse_ = !reverse_;
		break;
	case TopKey::pause:
		paused_ = !paused_;
		break;
	case TopKey::table:
		table_ = table_ == TopTable::paths ? TopTable::namespaces : TopTable::paths;
		top_ = 0;
		break;
	case TopKey::up:
		top_ -= top_ > 0;
		break;
	case TopKey::down:
		top_++;
		break;
	case TopKey::pageUp:
		top_ -= std::min(top_, page_);
		break;
	case TopKey::pageDown:
		top_ += page_;
		break;
	case TopKey::home:
		top_ = 0;
		break;
	case TopKey::end:
		top_ = unlimited / 2;
		break;
	case TopKey::redraw:
	case TopKey::none:
		break;
	}
	return true;
}

// Rows that are equal in the sort column are in the order of their names.
std::vector<TopRow> TopView::sorted(const TopModel &model) const
{
	std::vector<TopRow> rows = table_ == TopTable::paths ? model.paths : model.namespaces;
	const TopColumn &by = columnsOf(table_)[sortColumn()];
	std::ranges::sort(rows, [](const TopRow &a, const TopRow &b) {
		if (a.nameSpace != b.nameSpace)
			return naturalLess(a.nameSpace, b.nameSpace);
		return naturalLess(a.path, b.path);
	});
	std::ranges::stable_sort(rows, [&](const TopRow &first, const TopRow &second) {
		const TopRow &a = reverse_ ? second : first, &b = reverse_ ? first : second;
		return by.value ? by.value(a) > by.value(b) : naturalLess(by.text(a), by.text(b));
	});
	return rows;
}

std::vector<TopLine> TopView::table(const std::vector<TopRow> &rows, std::size_t columns) const
{
	std::span<const TopColumn> all = columnsOf(table_);
	const TopColumn *by = &all[sortColumn()];
	std::vector<ColumnLayout> laid;
	for (const TopColumn &column : all)
		laid.push_back(lay(column, rows, &column == by));
	fit(laid, columns);
	std::vector<TopLine> lines{titleLine(laid, by, (by->value == nullptr) != reverse_)};
	for (std::size_t i = 0; i < rows.size(); i++) {
		TopLine line;
		for (const ColumnLayout &one : laid)
			line.push_back({aligned(one, one.cells[i]),
					one.column->tone ? one.column->tone(rows[i]) : Tone::normal});
		lines.push_back(std::move(line));
	}
	return lines;
}

TopLine TopView::footer(std::size_t rows) const
{
	std::string text =
		fmt::format("q quit  s sort ({})  r reverse  p {}  n {}", columnsOf(table_)[sortColumn()].title,
			    paused_ ? "resume" : "pause", table_ == TopTable::paths ? "namespaces" : "paths");
	if (rows > page_)
		text += fmt::format("  arrows scroll ({}-{} of {})", top_ + 1, std::min(rows, top_ + page_), rows);
	return {{text, Tone::dim}};
}

// There may be fewer rows than at the last key.
void TopView::scrollWithin(std::size_t rows)
{
	top_ = std::min(top_, rows - std::min(rows, page_));
}

std::vector<TopLine> TopView::draw(const TopModel &model, TopSize size)
{
	// With few lines, the table takes precedence over header and footer.
	std::vector<TopLine> lines;
	if (size.lines >= 8 || model.error)
		lines = header(model, paused_);
	bool withFooter = size.lines >= 5;
	std::size_t used = lines.size() + 1 + withFooter;
	page_ = size.lines > used ? size.lines - used : 1;
	if (!model.error) {
		std::vector<TopRow> rows = sorted(model);
		scrollWithin(rows.size());
		std::vector<TopLine> all = table(rows, size.columns);
		std::size_t last = std::min(rows.size(), top_ + page_);
		lines.push_back(all.front());
		lines.insert(lines.end(), all.begin() + 1 + static_cast<long>(top_),
			     all.begin() + 1 + static_cast<long>(last));
	}
	lines.resize(size.lines - std::min(size.lines, std::size_t(withFooter)));
	if (withFooter)
		lines.push_back(footer(table_ == TopTable::paths ? model.paths.size() : model.namespaces.size()));
	for (TopLine &line : lines)
		cut(line, size.columns);
	return lines;
}

std::string TopView::batch(const TopModel &model) const
{
	std::vector<TopLine> lines = header(model, false);
	if (!model.error)
		for (TopLine &line : table(sorted(model), unlimited / 2))
			lines.push_back(std::move(line));
	std::string text;
	for (const TopLine &line : lines)
		if (std::string one = plain(line); !one.empty())
			text += one + "\n";
	return text + "\n";
}

// ---- columns

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
