// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pull_service.h"

#include <cstring>

namespace cdc {

using namespace initiator;
using namespace nofctl::wire;

namespace {

constexpr std::uint32_t maxPieceSize = 1u << 20;

SessionOptions serviceOptions(const std::string &nqn)
{
	SessionOptions options;
	options.subsysnqn = nqn;
	options.events = wantDiscoveryChanges;
	return options;
}

} // namespace

PullService::PullService(Shared &shared, const WatchTimes &times, const HostIdentity &who, const Endpoint &endpoint,
			 const std::string &nqn, std::function<void()> onRead)
	: Watcher(shared, times, who, endpoint, serviceOptions(nqn)), reader_(session(), *this),
	  onRead_(std::move(onRead))
{
}

void PullService::read()
{
	reading_.clear();
	reader_.start(maxPieceSize);
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
	onRead_();
}

} // namespace cdc
