// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watcher.h"

#include <ctime>

#include "libctl/wire/nvme.h"

namespace cdc {

using namespace initiator;
using namespace nofctl::wire;

namespace {

constexpr int maxTorn = 10;
constexpr std::chrono::milliseconds tornRetryDelay{50};
constexpr std::uint32_t eventBits = 0xffffff;

} // namespace

Watcher::Watcher(Shared &shared, const WatchTimes &times, const HostIdentity &who, const Endpoint &endpoint,
		 SessionOptions options)
	: shared_(shared), times_(times), identity_(who), endpoint_(endpoint), options_(std::move(options)),
	  session_(shared, *this), backoff_(times.first, times.max)
{
	options_.kato = static_cast<std::uint32_t>(times.kato.count());
	options_.patience = times.patience;
}

// Jittered, so that many watchers do not start at once
void Watcher::start()
{
	again(nofctl::jittered(times_.debounce));
}

void Watcher::onDeadline()
{
	if (session_.isLive() && !session_.busy())
		return read();
	if (!session_.isOpen())
		open();
}

void Watcher::open()
{
	torn_ = 0;
	session_.open(endpoint_, identity_, options_);
}

void Watcher::live()
{
	read();
}

// Without a keep-alive timer, the controller would soon drop an idle connection.
bool Watcher::staysConnected() const
{
	return options_.kato && session_.info().kas && session_.info().events && eventsSupported_;
}

void Watcher::done(const Completion &completion)
{
	switch (part(completion)) {
	case Outcome::going:
		break;
	case Outcome::read:
		return hasRead();
	case Outcome::torn:
		return readTorn();
	case Outcome::failed:
		return fail(failure());
	}
}

// Requests the event before it calls changed(), which may destroy this object.
void Watcher::hasRead()
{
	torn_ = 0;
	backoff_.reset();
	trouble_.clear();
	readAt_ = std::time(nullptr);
	if (staysConnected()) {
		if (!session_.armed())
			session_.arm();
		again(nofctl::jittered(times_.check));
	} else {
		session_.close();
		again(nofctl::jittered(times_.poll));
	}
	changed();
}

void Watcher::readTorn()
{
	if (++torn_ < maxTorn)
		return again(nofctl::jittered(torn_ * tornRetryDelay));
	fail({Reason::unusable, Step::live, 0, "it changes each time it is read"});
}

void Watcher::event(const Completion &completion)
{
	if (completion.status >> 1) { // poll instead
		eventsSupported_ = false;
		return;
	}
	if ((completion.result & eventBits) == wanted())
		return again(nofctl::jittered(times_.debounce));
	session_.arm();
}

void Watcher::failed(const Failure &failure)
{
	fail(failure);
}

// A controller that refuses the keep-alive timer may accept a connection without one.
void Watcher::fail(const Failure &failure)
{
	session_.close();
	const bool noTimer = failure.step == Step::connect && failure.reason == Reason::status && options_.kato;
	options_.kato = noTimer ? 0 : static_cast<std::uint32_t>(times_.kato.count());
	again(backoff_.next());
	trouble_ = describe(failure);
	troubled();
}

} // namespace cdc
