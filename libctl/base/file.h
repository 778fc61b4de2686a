// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads and writes small files as a whole: identities, sysfs attributes, saved state.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <sys/types.h>

#include <nvmeof/result.h>

namespace nofctl {

// Reads at most @max bytes. noSuchObject if the file does not exist.
nvmeof::Result<std::string> readSmallFile(const std::filesystem::path &file, std::size_t max = 4096);

// Reads all of @file. @largest: a multiple of 1 KiB. Errors: like readSmallFile(); invalid, "FILE: larger than 64 KiB",
// if the file is larger than @largest bytes.
nvmeof::Result<std::string> readWholeFile(const std::filesystem::path &file, std::size_t largest);

// True: @file was created with mode 0644 and is complete on disk. False: @file existed and was not changed.
nvmeof::Result<bool> createFile(const std::filesystem::path &file, const std::string &text);

// yes: the text survives a power cut after the function has returned
enum class Durable { no, yes };

/*
 * Replaces the content of @file atomically: readers see either the old or the new text. The new text is written to a
 * temporary file in the same directory. Its name begins with a dot and does not end in the suffix of @file, so that a
 * collector of *.prom files ignores it. Fails if @file exists and is not a regular file. Errors: failed, with the file
 * name and sysErrno. After an error the old text is unchanged, unless only the sync of the directory failed.
 */
nvmeof::Result<void> replaceFile(const std::filesystem::path &file, std::string_view text, mode_t mode = 0644,
				 Durable durable = Durable::no);

// Appends to @file, which is created if necessary. The text is on disk afterwards. Errors: like replaceFile(); a part
// of @text may have been appended.
nvmeof::Result<void> appendToFile(const std::filesystem::path &file, std::string_view text, mode_t mode);

// Removes temporary files of interrupted replaceFile() calls. No other process may write @file at that time.
void removeUnfinished(const std::filesystem::path &file);

} // namespace nofctl
