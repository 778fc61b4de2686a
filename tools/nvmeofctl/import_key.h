// SPDX-License-Identifier: LGPL-2.1-or-later
// Keys that all formats have in common, by nvme-cli's names, with - for _.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "import.h"

namespace importing {

std::string keyOf(std::string_view text); // "HDR_Digest" is "hdr-digest"
std::string trimmed(std::string_view text);
std::optional<bool> truthOf(const std::string &value);

// A target as it is put together from keys; what it lacks, and what nobody can use, shows at the end.
struct Draft {
	nvmeof::ConfigTarget target;
	std::optional<std::string> transport, traddr, port, nqn;
};

// False, with @reason: it has no place with us. @reason may be empty: as it is with us anyway.
bool takeSetting(nvmeof::ConnectSettings &settings, const std::string &key, const std::string &value,
		 std::string &reason);
bool takeKey(Draft &draft, const std::string &key, const std::string &value, std::string &reason);

// As a service, or as a connection. Names what is missing.
void addService(Import &into, const Draft &draft, const nvmeof::ConfigPlace &place);
void addConnection(Import &into, const Draft &draft, const nvmeof::ConfigPlace &place);

// By the kind of file
nvmeof::Result<void> readIni(Import &into, std::string_view text, const std::string &file);
nvmeof::Result<void> readJson(Import &into, std::string_view text, const std::string &file);
void readLines(Import &into, std::string_view text, const std::string &file);

} // namespace importing
