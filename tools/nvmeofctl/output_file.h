// SPDX-License-Identifier: LGPL-2.1-or-later
// A file that others read while it is made anew again and again.
#pragma once

#include <filesystem>
#include <string>

#include <nvmeof/result.h>

/*
 * Whoever opens @file sees the old text or the new one, whole. The text is first written to a file beside it whose name
 * begins with a dot and ends in none of the old one's suffix, so that a collector that reads *.prom passes it over.
 * What is there and is no regular file is refused: it would be replaced by one. Mode 0644.
 */
nvmeof::Result<void> replaceFile(const std::filesystem::path &file, const std::string &text);
