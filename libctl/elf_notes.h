// SPDX-License-Identifier: LGPL-2.1-or-later
// The little of ELF that it takes to find a note in a kernel module. Nothing in it is believed.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace nofctl {

// The first section of that name of a 64-bit ELF file of this machine's byte order; empty when there is none.
std::span<const char> sectionOf(std::span<const char> file, std::string_view name);

// The descriptor of the first note of that owner and type; empty when there is none.
std::string noteIn(std::span<const char> notes, std::string_view owner, unsigned type);

} // namespace nofctl
