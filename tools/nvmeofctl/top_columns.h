// SPDX-License-Identifier: LGPL-2.1-or-later
// The columns of the live view's two tables.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "top_model.h"

enum class TopTable { paths, namespaces };

struct TopColumn {
	const char *title;
	std::size_t width; // at least; wider where a cell needs it
	bool number;       // to the right, and sorted from the largest down
	int rank;          // the higher, the sooner it is left out on a narrow terminal; 0: never
	std::string (*text)(const TopRow &row);
	double (*value)(const TopRow &row); // what numbers are sorted by; null for text
	Tone (*tone)(const TopRow &row);    // null: normal
};

std::span<const TopColumn> columnsOf(TopTable table);

// nvmeof0n2 before nvmeof0n10
bool naturalLess(std::string_view a, std::string_view b);
