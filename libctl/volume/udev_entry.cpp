// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev_entry.h"

#include <fstream>

#include "first_line.h"

namespace nofctl::volume {

namespace fs = std::filesystem;

namespace {

// std::filesystem::equivalent() does not support device nodes.
bool leadsTo(const fs::path &link, const fs::path &node)
{
	std::error_code one, other;
	const fs::path to = fs::canonical(link, one);
	return !one && to == fs::canonical(node, other) && !other;
}

} // namespace

// udev writes a line "I:..." after it has applied the rules and created the links. "S:..." is a link below /dev.
UdevEntry udevEntry(const SystemPaths &systemPaths, const std::string &disk)
{
	UdevEntry entry;
	std::error_code error;
	const fs::path node = systemPaths.dev / disk;
	if (!fs::exists(node, error))
		return entry;
	std::ifstream database(systemPaths.udev / "data" / ("b" + firstLine(systemPaths.sys / "block" / disk / "dev")));
	for (std::string line; std::getline(database, line);) {
		entry.ready = entry.ready || line.starts_with("I:");
		if (!line.starts_with("S:disk/by-id/") || !leadsTo(systemPaths.dev / line.substr(2), node))
			continue;
		if (entry.byId.empty() || line.find("-uuid.") != line.npos)
			entry.byId = systemPaths.dev / line.substr(2);
	}
	entry.ready = entry.ready || !fs::exists(systemPaths.udev / "control", error);
	return entry;
}

} // namespace nofctl::volume
