// SPDX-License-Identifier: LGPL-2.1-or-later
#include "publication.h"

#include <algorithm>
#include <chrono>

#include <nlohmann/json.hpp>

#include "capability.h"

namespace csi {

using Json = nlohmann::json;
using nofctl::volume::FenceKey;

bool Publication::sameWish(const Publication &other) const
{
	return sameAccess(accessMode, other.accessMode) && block == other.block && readOnly == other.readOnly;
}

std::uint64_t Publications::next()
{
	using Tick = std::chrono::duration<std::uint64_t, std::centi>;
	const auto now = std::chrono::system_clock::now().time_since_epoch();
	last = std::max(last + 1, std::chrono::duration_cast<Tick>(now).count());
	return last;
}

std::string Publications::toText() const
{
	Json all = Json::object();
	for (const auto &[node, one] : nodes)
		all[node] = {{"access_mode", one.accessMode},
			     {"block", one.block},
			     {"read_only", one.readOnly},
			     {"exclusive", one.exclusive},
			     {"key", one.key.value}};
	return Json{{"nodes", all}, {"last", last}}.dump();
}

Publications Publications::parse(const std::string &text)
try {
	Publications publications;
	const Json json = Json::parse(text);
	publications.last = json.value("last", std::uint64_t(0));
	const Json nodes = json.value("nodes", Json::object());
	for (const auto &[node, one] : nodes.items())
		publications.nodes[node] = {one.value("access_mode", 0), one.value("block", false),
					    one.value("read_only", false), one.value("exclusive", false),
					    FenceKey{one.value("key", std::uint64_t(0))}};
	return publications;
} catch (const Json::exception &) {
	return {};
}

} // namespace csi
