// SPDX-License-Identifier: LGPL-2.1-or-later
// Small files: an identity, a sysfs attribute.
#pragma once

#include <filesystem>
#include <string>

#include <nvmeof/result.h>

namespace nofctl {

// At most @most bytes are read. noSuchObject when there is no such file.
nvmeof::Result<std::string> readSmallFile(const std::filesystem::path &file, std::size_t most = 4096);

// True: written, whole, and on disk. False: the file was there already, and is untouched.
nvmeof::Result<bool> createFile(const std::filesystem::path &file, const std::string &text);

} // namespace nofctl
