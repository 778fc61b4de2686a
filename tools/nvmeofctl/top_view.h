// SPDX-License-Identifier: LGPL-2.1-or-later
// The view of "top": columns, layout of a frame as lines of text, and keys. Independent of the terminal.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "top_model.h"

// The columns of the two tables of "top".
enum class TopTable { paths, namespaces };

struct TopColumn {
	const char *title;
	std::size_t width; // minimum
	bool number;       // right-aligned, and sorted in descending order
	int rank;          // on a narrow terminal the highest rank is left out first; 0: never
	std::string (*text)(const TopRow &row);
	double (*value)(const TopRow &row); // sort key of a number; null for text
	Tone (*tone)(const TopRow &row);    // null: normal
};

std::span<const TopColumn> columnsOf(TopTable table);

// nvmeof0n2 before nvmeof0n10
bool naturalLess(std::string_view a, std::string_view b);

struct TopSpan {
	std::string text;
	Tone tone = Tone::normal;
};

using TopLine = std::vector<TopSpan>;

enum class TopKey { none, quit, sort, reverse, pause, table, up, down, pageUp, pageDown, home, end, redraw };

struct TopSize {
	std::size_t columns = 0, lines = 0;
};

class TopView {
public:
	// False: quit.
	bool key(TopKey key);
	bool paused() const { return paused_; }

	// Fits into @size. The last line lists the keys, unless there are fewer than 5 lines.
	std::vector<TopLine> draw(const TopModel &model, TopSize size);
	// All rows and columns, without the line of keys.
	std::string batch(const TopModel &model) const;

private:
	std::vector<TopRow> sorted(const TopModel &model) const;
	std::vector<TopLine> table(const std::vector<TopRow> &rows, std::size_t columns) const;
	TopLine footer(std::size_t rows) const;
	void scrollWithin(std::size_t rows);
	std::size_t &sortColumn() { return sort_[table_ == TopTable::namespaces]; }
	std::size_t sortColumn() const { return sort_[table_ == TopTable::namespaces]; }

	TopTable table_ = TopTable::paths;
	std::size_t sort_[2] = {0, 0}; // sort column of each table
	bool reverse_ = false;
	bool paused_ = false;
	std::size_t top_ = 0;  // first row shown
	std::size_t page_ = 1; // rows that fit
};

// The text of a line, without tones and trailing blanks.
std::string plain(const TopLine &line);
