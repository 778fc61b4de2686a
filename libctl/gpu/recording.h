// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A machine's files in one text, to be sent to who is asked for help, and to be read again by `--root FILE`. The first
 * line says what it is; then a line for each: "f PATH TEXT" with escapes (\n, \\, \xHH), "b PATH LENGTH OFFSET:HEX..."
 * for one that is no text, zeros left out, "l PATH TARGET" for a link, and "n PATH" for what is only known to be there.
 */
#pragma once

#include <string>
#include <string_view>

#include <nvmeof/result.h>

#include "tree.h"

namespace nofctl::gpu {

inline constexpr std::string_view recordingHead = "nvmeof-recording 1";

std::string formatRecording(const MemoryTree &tree);
// invalid, with the line that is wrong.
nvmeof::Result<MemoryTree> parseRecording(std::string_view text);

} // namespace nofctl::gpu
