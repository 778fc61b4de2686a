// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pull_service.h"

#include <cstring>

namespace cdc {

using namespace initiator;
using namespace nofctl::wire;

namespace {

constexpr std::uint32_t longest_piece = 1u << 20;

SessionOptions optionsFor(const std::string &nqn)
{
	SessionOptions options;
	options.subsysnqn = nqn;
	options.events = want_discovery_changes;
	return options;
}

} // namespace

PullService::PullService(Shared &shared, const WatchTimes &times, const Who &who, const Endpoint &endpoint,
			 const std::string &nqn, std::function<void()> told)
	: Watcher(shared, times, who, endpoint, optionsFor(nqn)), reader_(session(), *this), told_(std::move(told))
{
}

void PullService::read()
{
	reading_.clear();
	reader_.start(longest_piece);
}

Watcher::Outcome PullService::part(const Completion &completion)
{
	switch (reader_.done(completion)) {
	case DiscoveryReader::Outcome::going:
		return Outcome::going;
	case DiscoveryReader::Outcome::whole:
		return Outcome::read;
	case DiscoveryReader::Outcome::torn:
		return Outcome::torn;
	case DiscoveryReader::Outcome::failed:
		break;
	}
	return Outcome::failed;
}

void PullService::changed()
{
	Entries entries(reading_.size() / sizeof(DiscoveryEntry));
	std::memcpy(static_cast<void *>(entries.data()), reading_.data(), entries.size() * sizeof(DiscoveryEntry));
	entries_ = std::move(entries);
	reading_ = {};
	told_();
}

} // namespace cdc
