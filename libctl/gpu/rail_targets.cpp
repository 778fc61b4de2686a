// SPDX-License-Identifier: LGPL-2.1-or-later
#include "rail_targets.h"

#include <algorithm>
#include <utility>

#include "rails.h"

namespace nofctl::gpu {

using namespace nvmeof;

std::vector<std::string> spreadOverRails(Config &config, const Tree &tree)
{
	std::vector<std::string> notes;
	if (std::ranges::all_of(config.connections, [](const ConfigTarget &one) { return one.rail.empty(); }))
		return notes;
	const Node node = readNode(tree);
	std::vector<ConfigTarget> spread;
	for (ConfigTarget &one : config.connections) {
		const std::string rail = std::exchange(one.rail, "");
		Result<std::vector<std::string>> interfaces =
			rail.empty() ? Result<std::vector<std::string>>(std::vector<std::string>{one.hostIface})
				     : railInterfaces(node, rail);
		if (!interfaces) {
			notes.push_back(one.place.toString() + ": rail " + rail + ": " + interfaces.error().message +
					"; the kernel's routing applies");
			interfaces = std::vector<std::string>{""};
		}
		for (const std::string &interface : *interfaces) {
			spread.push_back(one);
			spread.back().hostIface = interface;
		}
	}
	config.connections = std::move(spread);
	return notes;
}

} // namespace nofctl::gpu
