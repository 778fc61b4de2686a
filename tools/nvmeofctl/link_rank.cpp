// SPDX-License-Identifier: LGPL-2.1-or-later
#include "link_rank.h"

#include <algorithm>

namespace {

constexpr std::string_view dev = "/dev/";
constexpr std::string_view part = "-part"; // and the number of a partition

bool isAhead(const LinkClaim &other, const LinkClaim &disk)
{
	if (other.rank.has_value() != disk.rank.has_value())
		return other.rank.has_value();
	if (other.rank != disk.rank)
		return *other.rank < *disk.rank;
	return other.sequence < disk.sequence;
}

bool isPartition(std::string_view suffix)
{
	return suffix.starts_with(part) && suffix.size() > part.size() &&
	       suffix.find_first_not_of("0123456789", part.size()) == suffix.npos;
}

} // namespace

unsigned linkRank(const LinkClaim &disk, const std::vector<LinkClaim> &others)
{
	unsigned rank = 0, ahead = 0;
	for (const LinkClaim &other : others)
		if (isAhead(other, disk))
			rank = std::max({rank, ++ahead, other.rank.value_or(0) + 1});
	return std::min(rank, lowestLinkRank);
}

std::string linksOfNamespace(std::string_view links, std::string_view serial, std::string_view nsid)
{
	std::string shared;
	if (serial.size() > nsid.size() + 1 && serial.ends_with(nsid) && serial[serial.size() - nsid.size() - 1] == '_')
		shared = "disk/by-id/nvme-" + std::string(serial.substr(0, serial.size() - nsid.size() - 1));
	std::string kept;
	while (!links.empty()) {
		std::string_view link = links.substr(0, links.find(' '));
		links.remove_prefix(std::min(links.size(), link.size() + 1));
		if (link.starts_with(dev))
			link.remove_prefix(dev.size());
		bool drop = !shared.empty() && link.starts_with(shared) &&
			    (link.size() == shared.size() || isPartition(link.substr(shared.size())));
		if (!link.empty() && !drop)
			kept += (kept.empty() ? "" : " ") + std::string(link);
	}
	return kept;
}
