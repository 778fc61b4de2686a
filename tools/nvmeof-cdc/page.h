// SPDX-License-Identifier: LGPL-2.1-or-later
// The files of the web page, embedded in the program
#pragma once

#include <string_view>

namespace cdc {

struct PageFile {
	std::string_view path, type, text;
};

const PageFile *findPageFile(std::string_view path); // @path: "/"; null: no such file

} // namespace cdc
