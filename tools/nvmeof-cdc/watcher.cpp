// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watcher.h"

#include <ctime>

#include "libctl/wire/nvme.h"

namespace cdc {

using namespace initiator;
using namespace nofctl::wire;

namespace {

constexpr int most_torn = 10;
constexpr std::chrono::milliseconds torn_rest{50};
constexpr std::uint32_t event_bits = 0xffffff;

} // namespace

Watcher::Watcher(Shared &shared, const WatchTimes &times, const Who &who, const Endpoint &endpoint,
		 SessionOptions options)
	: shared_(shared), times_(times), who_(who), endpoint_(endpoint), options_(std::move(options)),
	  session_(shared, *this), backoff_(times.first, times.most)
{
	options_.kato = static_cast<std::uint32_t>(times.kato.count());
	options_.patience = times.patience;
}

// Jittered, so that many watchers do not start at once
void Watcher::start()
{
	again(nofctl::jittered(times_.soak));
}

void Watcher::rang()
{
	if (session_.isLive() && !session_.busy())
		return read();
	if (!session_.isOpen())
		open();
}

void Watcher::open()
{
	torn_ = 0;
	session_.open(endpoint_, who_, options_);
}

void Watcher::live()
{
	read();
}

// Without a keep-alive timer, the controller would soon drop an idle connection.
bool Watcher::keeps() const
{
	return options_.kato && session_.told().kas && session_.told().events && eventful_;
}

void Watcher::done(const Completion &completion)
{
	switch (part(completion)) {
	case Outcome::going:
		break;
	case Outcome::read:
		return hasRead();
	case Outcome::torn:
		return isTorn();
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
	if (keeps()) {
		if (!session_.armed())
			session_.arm();
		again(nofctl::jittered(times_.check));
	} else {
		session_.close();
		again(nofctl::jittered(times_.poll));
	}
	changed();
}

void Watcher::isTorn()
{
	if (++torn_ < most_torn)
		return again(nofctl::jittered(torn_ * torn_rest));
	fail({Reason::unusable, Step::live, 0, "it changes each time it is read"});
}

void Watcher::event(const Completion &completion)
{
	if (completion.status >> 1) { // poll instead
		eventful_ = false;
		return;
	}
	if ((completion.result & event_bits) == wanted())
		return again(nofctl::jittered(times_.soak));
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
