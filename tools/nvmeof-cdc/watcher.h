// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads data of a controller, and reads it again after each event that reports a change. Keeps the connection if the
 * controller supports that and has the event, else reconnects periodically. It never gives up.
 */
#pragma once

#include <optional>
#include <string>

#include "libctl/base/jitter.h"
#include "libctl/initiator/session.h"

namespace cdc {

struct WatchTimes {
	std::chrono::milliseconds kato{15000};
	std::chrono::milliseconds poll{60000};             // between reads, without events
	std::chrono::milliseconds check{600000};           // between reads, with events, as one may be lost
	std::chrono::milliseconds debounce{20};            // delay after an event, as more may follow
	std::chrono::milliseconds first{1000}, max{60000}; // back-off
	std::chrono::milliseconds patience{10000};
};

class Watcher : protected initiator::Session::User, runtime::Wheel::Alarm {
public:
	Watcher(initiator::Shared &shared, const WatchTimes &times, const initiator::HostIdentity &who,
		const initiator::Endpoint &endpoint, initiator::SessionOptions options);
	virtual ~Watcher() = default;

	void start();

	const std::string &trouble() const { return trouble_; } // since the last successful read; empty: none
	bool watched() const { return session_.armed(); }       // changes are reported by events
	// seconds since 1970; 0: never read
	std::int64_t readAt() const { return readAt_; }

protected:
	using Data = initiator::Session::Data;
	enum class Outcome { going, read, torn, failed };

	initiator::Session &session() { return session_; }
	// Called when the session is live and not busy.
	virtual void read() = 0;
	void data(std::uint32_t offset, Data data) override = 0;
	virtual Outcome part(const nofctl::wire::Completion &completion) = 0;
	virtual initiator::Failure failure() const = 0; // of the last failed read
	virtual std::uint32_t wanted() const = 0;       // event that reports a change: AsyncEvent::result()
	virtual void changed() = 0;                     // after a successful read
	virtual void troubled() = 0;                    // after a failed read; the known data remain valid

private:
	void passed(initiator::Step) override {}
	void live() override;
	void done(const nofctl::wire::Completion &completion) override;
	void event(const nofctl::wire::Completion &completion) override;
	void failed(const initiator::Failure &failure) override;
	void onViolation(const char *) override {}
	void onDeadline() override;

	void open();
	void hasRead();
	void readTorn();
	void fail(const initiator::Failure &failure);
	void again(std::chrono::milliseconds delay) { shared_.wheel.set(*this, delay); }
	bool staysConnected() const; // whether to keep the connection

	initiator::Shared &shared_;
	const WatchTimes &times_;
	const initiator::HostIdentity &identity_;
	initiator::Endpoint endpoint_;
	initiator::SessionOptions options_;
	initiator::Session session_;
	nofctl::Backoff backoff_;
	std::string trouble_;
	std::int64_t readAt_ = 0;
	int torn_ = 0;
	bool eventsSupported_ = true; // false: the controller has failed an event request
};

} // namespace cdc
