// SPDX-License-Identifier: LGPL-2.1-or-later
// The columns of the two tables of "top".
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "top_model.h"

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
