// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host_pool.h"

#include <cerrno>

namespace storm {

namespace {

initiator::SessionOptions sessionOf(const Options &options)
{
	initiator::SessionOptions session;
	session.subsysnqn = options.subsysnqn;
	session.digests = {options.headerDigest, options.dataDigest};
	session.kato = options.keeps() ? options.kato : 0;
	session.events = initiator::wantDiscoveryChanges;
	session.patience = std::chrono::duration_cast<std::chrono::milliseconds>(seconds(options.patience));
	return session;
}

} // namespace

void Phase::arrive()
{
	std::lock_guard lock(mutex_);
	if (--left_ == 0)
		over_.notify_all();
}

void Phase::wait()
{
	std::unique_lock lock(mutex_);
	over_.wait(lock, [this] { return left_ == 0; });
}

bool Phase::waitUntil(Host::Clock::time_point until)
{
	std::unique_lock lock(mutex_);
	return over_.wait_until(lock, until, [this] { return left_ == 0; });
}

HostPool::HostPool(const Options &options, unsigned first, unsigned count)
	: options_(options), session_(sessionOf(options)),
	  loop_(std::make_unique<serving::Loop>(serving::Loop::Watchdog::none)),
	  shared_(std::make_unique<initiator::Shared>(*loop_)), mailbox_(std::make_unique<serving::Mailbox>(*loop_))
{
	counts_.served.resize(options.members.size());
	hosts_.reserve(count);
	for (unsigned i = 0; i < count; i++)
		hosts_.push_back(std::make_unique<Host>(*this, first + i));
	thread_ = std::jthread([this] { loop_->run(); });
}

HostPool::~HostPool()
{
	leave();
}

void HostPool::reported()
{
	if (--pendingReports_ == 0)
		std::exchange(phase_, nullptr)->arrive();
}

template <typename Fn> void HostPool::order(Phase &phase, Fn each)
{
	mailbox_->post([this, &phase, each]() mutable {
		phase_ = &phase;
		pendingReports_ = hosts_.size();
		for (auto &host : hosts_)
			each(*host);
	});
}

void HostPool::prepare(Phase &phase)
{
	order(phase, [this](Host &host) {
		if (!host.prepare())
			error_ = errno;
		reported();
	});
}

void HostPool::connect(Phase &phase)
{
	retryUntil_ = options_.retry > 0 ? Clock::now() + seconds(options_.retry) : Clock::time_point::min();
	order(phase, [](Host &host) { host.connect(); });
}

void HostPool::go(Clock::time_point instant, Phase &phase)
{
	const auto step = seconds(options_.ramp) / options_.hosts;
	mailbox_->post([this, instant] {
		instant_ = instant;
		retryUntil_ = options_.retry > 0 ? instant + seconds(options_.ramp + options_.retry)
						 : Clock::time_point::min();
	});
	order(phase, [this, step, number = 0u](Host &host) mutable {
		if (options_.ramp > 0)
			host.goLater(step * (number++ * options_.threads));
		else
			host.go();
	});
}

void HostPool::round(Phase &ready, Phase &phase)
{
	mailbox_->post([this] { counts_.rounds.emplace_back(); });
	order(phase, [](Host &host) { host.expectEvent(); });
	mailbox_->post([&ready] { ready.arrive(); });
}

void HostPool::endRound(Phase &phase)
{
	order(phase, [](Host &host) { host.endRound(); });
}

void HostPool::leave()
{
	if (!thread_.joinable())
		return;
	mailbox_->post([this] {
		for (auto &host : hosts_) {
			host->account(counts_);
			host->leave();
		}
		counts_.bytesIn = shared_->bytesIn;
		counts_.bytesOut = shared_->bytesOut;
		counts_.commands = shared_->commands;
		counts_.exchanges = shared_->exchanges;
		counts_.writes = shared_->writes;
		loop_->end(0);
	});
	thread_.join();
}

} // namespace storm
