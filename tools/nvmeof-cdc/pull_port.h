// SPDX-License-Identifier: LGPL-2.1-or-later
// The ANA log of a port of a subsystem, reduced to the best state that any namespace has there
#pragma once

#include <functional>

#include "libctl/wire/log_page.h"
#include "watcher.h"

namespace cdc {

// Without namespaces: optimized, as a new namespace may be.
nofctl::wire::AnaState bestState(const nofctl::wire::AnaLog &log);

class PullPort final : public Watcher {
public:
	// @onRead: called after each read. It may destroy this object.
	PullPort(initiator::Shared &shared, const WatchTimes &times, const initiator::HostIdentity &who,
		 const initiator::Endpoint &endpoint, const std::string &nqn, std::function<void()> onRead);

	// Absent: not read yet
	const std::optional<nofctl::wire::AnaState> &state() const { return state_; }

private:
	void read() override;
	void data(std::uint32_t offset, Data data) override;
	Outcome part(const nofctl::wire::Completion &completion) override;
	initiator::Failure failure() const override { return failure_; }
	std::uint32_t wanted() const override { return nofctl::wire::event_ana_changed.result(); }
	void changed() override { onRead_(); }
	void troubled() override {}
	Outcome fail(const initiator::Failure &failure);

	nofctl::wire::Bytes log_;
	initiator::Failure failure_;
	std::optional<nofctl::wire::AnaState> state_;
	std::function<void()> onRead_;
};

} // namespace cdc
