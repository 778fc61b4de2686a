// SPDX-License-Identifier: LGPL-2.1-or-later
#include "table.h"

#include <algorithm>

#include <fmt/format.h>

namespace {

void trimRight(std::string &line)
{
	line.erase(line.find_last_not_of(' ') + 1);
}

} // namespace

void Table::add(std::vector<std::string> row)
{
	row.resize(columns_.size());
	for (std::string &cell : row)
		cell = nofctl::printable(cell);
	rows_.push_back(std::move(row));
}

std::string Table::render() const
{
	std::vector<std::size_t> widths;
	std::vector<std::string> titles, rules;
	for (std::size_t i = 0; i < columns_.size(); i++) {
		std::size_t width = columns_[i].title.size();
		for (const auto &row : rows_)
			width = std::max(width, row[i].size());
		widths.push_back(width);
		titles.push_back(columns_[i].title);
		rules.emplace_back(width, '-');
	}
	std::string text;
	auto addLine = [&](const std::vector<std::string> &row) {
		std::string line;
		for (std::size_t i = 0; i < row.size(); i++) {
			bool right = columns_[i].align == Align::right;
			line += right ? fmt::format("{:>{}}  ", row[i], widths[i])
				      : fmt::format("{:<{}}  ", row[i], widths[i]);
		}
		trimRight(line);
		text += line + "\n";
	};
	addLine(titles);
	addLine(rules);
	std::for_each(rows_.begin(), rows_.end(), addLine);
	return text;
}

std::string renderFields(const std::vector<std::pair<std::string, std::string>> &fields)
{
	std::size_t width = 0;
	for (const auto &[key, value] : fields)
		width = std::max(width, key.size());
	std::string text;
	for (const auto &[key, value] : fields)
		text += fmt::format("{:<{}} : {}\n", key, width, nofctl::printable(value));
	return text;
}
