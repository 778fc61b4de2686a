// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the discovery log of another service.
#pragma once

#include <functional>

#include "initiator/discovery_reader.h"
#include "watcher.h"

namespace cdc {

class PullService final : public Watcher, initiator::DiscoveryReader::User {
public:
	using Entries = std::vector<nofctl::wire::DiscoveryEntry>;

	// @onRead: called after each read and each failure. It may destroy this object.
	PullService(initiator::Shared &shared, const WatchTimes &times, const initiator::HostIdentity &who,
		    const initiator::Endpoint &endpoint, const std::string &nqn, std::function<void()> onRead);

	// Absent: not read yet
	const std::optional<Entries> &entries() const { return entries_; }
	std::uint64_t generation() const { return reader_.generation(); }

private:
	void read() override;
	void data(std::uint32_t offset, Data data) override { reader_.data(offset, data); }
	Outcome part(const nofctl::wire::Completion &completion) override;
	initiator::Failure failure() const override { return reader_.failure(); }
	std::uint32_t wanted() const override { return nofctl::wire::event_discovery_changed.result(); }
	void changed() override;
	void troubled() override { onRead_(); }
	void header(Data) override {}
	void entries(std::uint64_t, Data data) override { nofctl::wire::append(reading_, data); }

	initiator::DiscoveryReader reader_;
	nofctl::wire::Bytes reading_;
	std::optional<Entries> entries_;
	std::function<void()> onRead_;
};

} // namespace cdc
