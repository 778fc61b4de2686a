// SPDX-License-Identifier: LGPL-2.1-or-later
// Minimal ELF reader to find a note in a kernel module. The input is untrusted.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace nofctl {

// The first section with that name in a 64-bit ELF file of this machine's byte order; empty: none.
std::span<const char> sectionOf(std::span<const char> file, std::string_view name);

// The descriptor of the first note with that owner and type; empty: none.
std::string noteIn(std::span<const char> notes, std::string_view owner, unsigned type);

} // namespace nofctl
