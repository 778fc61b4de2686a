// SPDX-License-Identifier: LGPL-2.1-or-later
#include "publication.h"

#include <algorithm>
#include <chrono>

#include <nlohmann/json.hpp>

#include "capability.h"

namespace csi {

using Json = nlohmann::json;
using nofctl::volume::FenceKey;

bool Publication::sameRequest(const Publication &other) const
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

std::optional<Publications> Publications::parse(const std::string &text)
try {
	Publications publications;
	const Json json = Json::parse(text);
	publications.last = json.at("last").get<std::uint64_t>();
	const Json &nodes = json.at("nodes");
	if (!nodes.is_object())
		return std::nullopt;
	for (const auto &[node, one] : nodes.items())
		publications.nodes[node] = {one.at("access_mode").get<int>(), one.at("block").get<bool>(),
					    one.at("read_only").get<bool>(), one.at("exclusive").get<bool>(),
					    FenceKey{one.at("key").get<std::uint64_t>()}};
	return publications;
} catch (const Json::exception &) {
	return std::nullopt;
}

} // namespace csi
