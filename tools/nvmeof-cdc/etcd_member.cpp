// SPDX-License-Identifier: LGPL-2.1-or-later
#include "etcd_member.h"

namespace cdc::etcd {

using nvmeof::Result;
using Outcome = Answer::Outcome;

Member::Member(serving::Loop &loop, Client &client, const View &view, std::chrono::seconds ttl,
	       std::function<void(std::string)> failed)
	: client_(client), view_(view), ttl_(ttl), failed_(std::move(failed)), again_(loop, [this] { keep(); })
{
}

void Member::join(const Instance &instance)
{
	instance_ = instance;
	put_ = 0;
	go();
}

// Removes the records at once, so that other instances need not wait for the lease to expire.
void Member::leave(Store::Done done)
{
	const std::optional<Instance> instance = std::exchange(instance_, {});
	again_.stop();
	if (!instance || !running_)
		return done({});
	left_ = std::move(done);
	const std::string key = view_.prefix() + instance->key();
	const JsonValue gone{
		{"success", {remove(view_.aliveKey(instance->id)), remove(key), etcd::put(view_.generationKey(), "")}}};
	call_ = client_.call("kv/txn", gone, [this](const Answer &answer) {
		const JsonValue lease{{"ID", std::to_string(std::exchange(lease_, 0))}};
		call_ = client_.call("lease/revoke", lease, [this](const Answer &) { call_.reset(); });
		endLeave(answer.trouble);
	});
}

void Member::endLeave(const std::string &trouble)
{
	const Store::Done left = std::exchange(left_, {});
	nvmeof::Error error;
	error.message = trouble;
	if (left)
		left(trouble.empty() ? Result<void>() : Result<void>(error));
}

void Member::run()
{
	running_ = true;
	lease_ ? keep() : go();
}

void Member::stop(const std::string &why)
{
	running_ = false;
	again_.stop();
	call_.reset();
	endLeave(why);
}

void Member::viewChanged()
{
	if (put_ && view_.revision() >= put_ && !isThere()) {
		put_ = 0;
		go();
	}
}

bool Member::isThere() const
{
	const std::string *record = view_.valueOf(instance_->key());
	return view_.alive(instance_->id) && record && *record == storedText(instance_->json());
}

// Starts the next step: lease, records, or the wait for the next keep-alive
void Member::go()
{
	if (!running_ || call_ || !instance_)
		return;
	if (!lease_)
		ask("lease/grant", {{"TTL", std::to_string(ttl_.count())}}, &Member::isGranted);
	else if (!put_)
		put();
	else
		again_.start(ttl_ / 3);
}

void Member::ask(const char *path, const JsonValue &body, Then then)
{
	call_ = client_.call(path, body, [this, then](const Answer &answer) {
		call_.reset();
		if (answer.outcome == Outcome::unsent || answer.outcome == Outcome::lost)
			return failed_(answer.trouble);
		if (!answer) // most likely the lease has expired: start over after a delay
			lease_ = 0, put_ = 0, again_.start(ttl_ / 3);
		else
			(this->*then)(answer);
	});
}

void Member::isGranted(const Answer &answer)
{
	const Result<Lease> lease = leaseOf(answer.json);
	if (!lease || !lease->id)
		return failed_(lease ? "a lease without an ID" : lease.error().message);
	lease_ = lease->id;
	go();
}

// Raises the generation only if the record differs from the stored one.
void Member::put()
{
	const std::string key = view_.prefix() + instance_->key(), value = storedText(instance_->json());
	const JsonValue alive = etcd::put(view_.aliveKey(instance_->id), "", lease_);
	const JsonValue join{{"compare", {isValue(key, value)}},
			     {"success", {alive}},
			     {"failure", {alive, etcd::put(key, value), etcd::put(view_.generationKey(), "")}}};
	ask("kv/txn", join, &Member::isPut);
}

void Member::isPut(const Answer &answer)
{
	const Result<Transaction> done = transactionOf(answer.json);
	if (!done)
		return failed_(done.error().message);
	put_ = done->header.revision;
	go();
	viewChanged();
}

void Member::keep()
{
	if (!running_ || call_ || !instance_)
		return;
	if (!lease_)
		return go();
	ask("lease/keepalive", {{"ID", std::to_string(lease_)}}, &Member::isKept);
}

void Member::isKept(const Answer &answer)
{
	const Result<Lease> lease = leaseOf(answer.json);
	if (!lease)
		return failed_(lease.error().message);
	if (lease->ttl <= 0)
		lease_ = 0, put_ = 0;
	go();
}

} // namespace cdc::etcd
