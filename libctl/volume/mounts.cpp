// SPDX-License-Identifier: LGPL-2.1-or-later
#include "mounts.h"

#include <fstream>
#include <sstream>

namespace nofctl::volume {

namespace {

// Blanks and the like stand as \040
std::string unescaped(const std::string &text)
{
	std::string plain;
	for (std::size_t i = 0; i < text.size(); i++)
		if (text[i] == '\\' && i + 3 < text.size()) {
			plain += static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8));
			i += 3;
		} else {
			plain += text[i];
		}
	return plain;
}

// ID, parent, major:minor, root, mount point, options, optional fields up to "-", type, source
Mount parsed(const std::string &line)
{
	std::istringstream words(line);
	std::string id, parent, word;
	Mount mount;
	words >> id >> parent >> mount.number >> mount.root >> mount.point >> mount.options;
	while (words >> word && word != "-")
		;
	words >> mount.type >> mount.source;
	mount.point = unescaped(mount.point);
	mount.source = unescaped(mount.source);
	return mount;
}

} // namespace

std::vector<Mount> mountsOf(const Places &places)
{
	std::vector<Mount> all;
	std::ifstream lines(places.proc / "self/mountinfo");
	for (std::string line; std::getline(lines, line);)
		all.push_back(parsed(line));
	return all;
}

} // namespace nofctl::volume
