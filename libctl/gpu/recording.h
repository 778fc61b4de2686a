// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Text format for the files of a machine, for bug reports; `--root FILE` reads it. The first line is recordingHead.
 * Each other line is one entry: "f PATH TEXT", a text file with escapes (\n, \\, \xHH); "b PATH LENGTH OFFSET:HEX...",
 * a binary file without its zero rows; "l PATH TARGET", a symbolic link; "n PATH", a path that exists, with unknown
 * content.
 */
#pragma once

#include <string>
#include <string_view>

#include <nvmeof/result.h>

#include "tree.h"

namespace nofctl::gpu {

inline constexpr std::string_view recordingHead = "nvmeof-recording 1";

std::string formatRecording(const MemoryTree &tree);
// Errors: invalid, with the number of the bad line.
nvmeof::Result<MemoryTree> parseRecording(std::string_view text);

} // namespace nofctl::gpu
