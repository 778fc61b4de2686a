// SPDX-License-Identifier: LGPL-2.1-or-later
#include "authenticator.h"

namespace cdc {

using namespace nofctl::wire;
using nofctl::Dhchap;

bool AuthenticationLimit::admit(const Peer &peer, SteadyMs now)
{
	std::lock_guard lock(mutex_);
	while (!penalties_.empty() && penalties_.front().first <= now) {
		places_.release(penalties_.front().second);
		penalties_.pop_front();
	}
	return places_.admit(peer);
}

void AuthenticationLimit::failed(const Peer &peer, SteadyMs now)
{
	std::lock_guard lock(mutex_);
	penalties_.emplace_back(now + penaltyMs_, peer);
}

std::unique_ptr<Authenticator> Authenticator::begin(AuthenticationLimit &limit, Counters &counters, const Rules &rules,
						    std::shared_ptr<const nofctl::DhchapSecrets> secrets,
						    Parties parties, SteadyMs now)
{
	if (!limit.admit(parties.peer, now))
		return nullptr;
	return std::unique_ptr<Authenticator>(
		new Authenticator(limit, counters, rules, std::move(secrets), std::move(parties), now));
}

Authenticator::Authenticator(AuthenticationLimit &limit, Counters &counters, const Rules &rules,
			     std::shared_ptr<const nofctl::DhchapSecrets> secrets, Parties parties, SteadyMs now)
	: limit_(limit), counters_(counters), rules_(rules), parties_(std::move(parties)),
	  dhchap_(rules.dhchap, std::move(secrets), parties_.hostnqn, parties_.subsysnqn), until_(now + rules.maxMs)
{
}

// An abandoned authentication counts as failed: it has cost as much.
Authenticator::~Authenticator()
{
	if (!takesPlace_)
		return;
	count(counters_.authAbandoned);
	limit_.failed(parties_.peer, until_ - rules_.maxMs);
}

// Updates the state after a message.
void Authenticator::judge(SteadyMs now)
{
	if (dhchap_.step() == Dhchap::Step::done && takesPlace_) {
		proof_ = Proof{dhchap_.hash(), dhchap_.group(), dhchap_.mutual()};
		takesPlace_ = false;
		limit_.succeeded(parties_.peer);
		count(counters_.authenticated);
	} else if (dhchap_.step() == Dhchap::Step::failed && !failed_) {
		proof_.reset();
		failed_ = true;
		count(counters_.authFailed);
		if (std::exchange(takesPlace_, false))
			limit_.failed(parties_.peer, now);
	}
}

std::uint16_t Authenticator::send(const Command &cmd, std::span<const std::uint8_t> data, SteadyMs now)
{
	if (!isDhchap(cmd) || cmd.cdw11 != data.size() || data.empty() || data.size() > maxDhchapMessage)
		return st_invalid_field | st_dnr;
	if (failed_)
		return st_sequence | st_dnr;
	if (!takesPlace_) { // the host authenticates itself again
		if (!limit_.admit(parties_.peer, now))
			return st_interrupted | st_crd1;
		takesPlace_ = true;
		until_ = now + rules_.maxMs;
	}
	dhchap_.take(data);
	judge(now);
	return st_ok;
}

Answer Authenticator::receive(const Command &cmd, SteadyMs now)
{
	if (!isDhchap(cmd))
		return {.status = st_invalid_field | st_dnr};
	auto message = dhchap_.next();
	if (!message)
		return {.status = st_sequence | st_dnr};
	judge(now);
	if (message->size() <= cmd.cdw11)
		return {.data = *std::move(message)};
	// a part of a message is useless, and each message can be read only once
	dhchap_.take({});
	dhchap_.next();
	judge(now);
	return {.status = st_invalid_field | st_dnr};
}

} // namespace cdc
