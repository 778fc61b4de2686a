// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads something of a controller, and again whenever that says that it has changed: over a connection that stays,
 * where the controller keeps it and has events, else over a new one from time to time. It never gives up.
 */
#pragma once

#include <optional>
#include <string>

#include "initiator/session.h"
#include "libctl/base/jitter.h"

namespace cdc {

struct WatchTimes {
	std::chrono::milliseconds kato{15000};              //
	std::chrono::milliseconds poll{60000};              // where there are no events
	std::chrono::milliseconds check{600000};            // where there are: one may be lost
	std::chrono::milliseconds soak{20};                 // after an event: more may follow
	std::chrono::milliseconds first{1000}, most{60000}; // back-off
	std::chrono::milliseconds patience{10000};
};

class Watcher : protected initiator::Session::User, serving::Wheel::Alarm {
public:
	Watcher(initiator::Shared &shared, const WatchTimes &times, const initiator::Who &who,
		const initiator::Endpoint &endpoint, initiator::SessionOptions options);
	virtual ~Watcher() = default;

	void start();

	const std::string &trouble() const { return trouble_; } // since it was read last, for people; empty: none
	bool watched() const { return session_.armed(); }       // by an event
	// seconds since 1970; 0: never
	std::int64_t readAt() const { return readAt_; }

protected:
	using Data = initiator::Session::Data;
	enum class Outcome { going, read, torn, failed };

	initiator::Session &session() { return session_; }
	// The session is live and not busy.
	virtual void read() = 0;
	void data(std::uint32_t offset, Data data) override = 0;
	virtual Outcome part(const nofctl::wire::Completion &completion) = 0;
	virtual initiator::Failure failure() const = 0; // why it failed
	virtual std::uint32_t wanted() const = 0;       // event that tells of a change: AsyncEvent::result()
	virtual void changed() = 0;                     // It was read.
	virtual void troubled() = 0;                    // It could not be read, which says nothing of what there is.

private:
	void passed(initiator::Step) override {}
	void live() override;
	void done(const nofctl::wire::Completion &completion) override;
	void event(const nofctl::wire::Completion &completion) override;
	void failed(const initiator::Failure &failure) override;
	void odd(const char *) override {}
	void rang() override;

	void open();
	void hasRead();
	void isTorn();
	void fail(const initiator::Failure &failure);
	void again(std::chrono::milliseconds delay) { shared_.wheel.set(*this, delay); }
	bool keeps() const; // the connection

	initiator::Shared &shared_;
	const WatchTimes &times_;
	const initiator::Who &who_;
	initiator::Endpoint endpoint_;
	initiator::SessionOptions options_;
	initiator::Session session_;
	nofctl::Backoff backoff_;
	std::string trouble_;
	std::int64_t readAt_ = 0;
	int torn_ = 0;
	bool eventful_ = true; // as far as is known
};

} // namespace cdc
