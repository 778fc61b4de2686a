// SPDX-License-Identifier: LGPL-2.1-or-later
// Text tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libctl/base/text.h"

enum class Align { left, right };

class Table {
public:
	struct Column {
		std::string title;
		Align align = Align::left;
	};

	explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

	void add(std::vector<std::string> row);
	// Title, rule and rows, each with a newline and without trailing blanks.
	std::string render() const;

private:
	std::vector<Column> columns_;
	std::vector<std::vector<std::string>> rows_;
};

// Lines "key : value" with the colons in one column.
std::string renderFields(const std::vector<std::pair<std::string, std::string>> &fields);
