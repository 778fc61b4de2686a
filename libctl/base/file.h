// SPDX-License-Identifier: LGPL-2.1-or-later
// Files that are read and written as a whole: an identity, a sysfs attribute, a kept state.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <sys/types.h>

#include <nvmeof/result.h>

namespace nofctl {

// At most @most bytes are read. noSuchObject when there is no such file.
nvmeof::Result<std::string> readSmallFile(const std::filesystem::path &file, std::size_t most = 4096);

// All of @file. Errors: as above; invalid, "FILE: larger than 64 KiB", where it has more than @largest bytes, which are
// whole KiB.
nvmeof::Result<std::string> readWholeFile(const std::filesystem::path &file, std::size_t largest);

// True: written, whole, and on disk; mode 0644. False: the file was there already, and is untouched.
nvmeof::Result<bool> createFile(const std::filesystem::path &file, const std::string &text);

// Whether the text is on the disk when a function returns, and survives a power cut
enum class Durable { no, yes };

/*
 * A reader of @file sees the old text or the new one, whole. The new text is first written to a file beside it whose
 * name begins with a dot and ends in none of @file's suffix, so that a collector that reads *.prom passes it over. An
 * existing @file that is not a regular file is refused: it would be replaced by one. Errors: failed, with the name of
 * the file and sysErrno; the old text stays, unless only the sync of the folder failed.
 */
nvmeof::Result<void> replaceFile(const std::filesystem::path &file, std::string_view text, mode_t mode = 0644,
				 Durable durable = Durable::no);

// The file is made if it is not there; the text is on the disk afterwards. Errors: as above; a part of @text may be
// there.
nvmeof::Result<void> appendToFile(const std::filesystem::path &file, std::string_view text, mode_t mode);

// Removes what a replaceFile() that never ended left beside @file, which no other process writes.
void removeUnfinished(const std::filesystem::path &file);

} // namespace nofctl
