// SPDX-License-Identifier: LGPL-2.1-or-later
#include "etcd_writer.h"

#include <algorithm>

#include <fmt/format.h>

#include "make_error.h"

namespace cdc::etcd {

using namespace std::chrono_literals;
using nvmeof::Result;
using Outcome = Answer::Outcome;

namespace {

// etcd's defaults: 128 operations on each level of a transaction, where the operations of a level also count on the
// level below it (so 64 x 64 on two levels), and 1.5 MiB in all.
constexpr std::size_t maxFlat = 120, maxNested = 64, maxChanges = 63 * maxNested;
constexpr std::size_t maxRequestBytes = 1 << 20;
// Limit for merging queued writes, because their callers wait for the transaction
constexpr std::size_t enoughChanges = 1024;

std::size_t sizeOf(const std::vector<Change> &changes)
{
	std::size_t bytes = 0;
	for (const Change &change : changes)
		bytes += change.key.size() + change.value.value_or("").size();
	return bytes;
}

} // namespace

Writer::Writer(serving::Loop &loop, Client &client, const View &view, std::function<void(std::string)> failed)
	: client_(client), view_(view), failed_(std::move(failed)), patience_(loop, [this] {
		  finish(makeError("written, but the connection to etcd failed before the change was seen"));
		  next();
	  })
{
}

void Writer::write(std::vector<Change> changes, Store::Done done)
{
	const std::size_t bytes = sizeOf(changes);
	if (changes.size() > maxChanges || bytes > maxRequestBytes)
		return done(
			makeError(fmt::format("{} records of {} KiB are too much for one write to etcd: the limit is "
					      "{} of {} KiB; write them in parts",
					      changes.size(), bytes >> 10, maxChanges, maxRequestBytes >> 10)));
	queue_.push_back({std::move(changes), bytes, std::move(done)});
	next();
}

// Takes as many writes from the queue as fit into a transaction, without changes that have no effect.
Writer::Changes Writer::gather()
{
	Changes all;
	std::size_t count = 0, bytes = 0;
	while (!queue_.empty()) {
		Write &next = queue_.front();
		count += next.changes.size();
		bytes += next.bytes;
		if (!group_.empty() && (count > enoughChanges || bytes > maxRequestBytes / 2))
			break;
		for (const Change &change : next.changes) {
			const std::string *there = view_.valueOf(change.key);
			if (all.contains(change.key) ||
			    (change.value ? !there || *there != *change.value : there != nullptr))
				all.insert_or_assign(change.key, change.value);
		}
		group_.push_back(std::move(next));
		queue_.pop_front();
	}
	return all;
}

JsonValue Writer::transaction(const Changes &changes) const
{
	std::vector<JsonValue> operations;
	bool visible = false;
	for (const auto &[key, value] : changes) {
		const std::string there = view_.prefix() + key;
		operations.push_back(value ? put(there, *value) : remove(there));
		visible = visible || affectsLogs(kindOf(key).value_or(Kind::target));
	}
	JsonValue all = JsonValue::array();
	if (operations.size() > maxFlat)
		for (std::size_t i = 0; i < operations.size(); i += maxNested) {
			const auto end = operations.begin() + std::min(i + maxNested, operations.size());
			all.push_back({{"request_txn", {{"success", std::vector(operations.begin() + i, end)}}}});
		}
	else
		all = operations;
	if (visible)
		all.push_back(put(view_.generationKey(), ""));
	return {{"success", std::move(all)}};
}

void Writer::run()
{
	running_ = true;
	next();
}

void Writer::next()
{
	while (running_ && group_.empty() && !queue_.empty()) {
		const Changes changes = gather();
		if (!changes.empty()) {
			call_ = client_.call("kv/txn", transaction(changes),
					     [this](const Answer &answer) { answered(answer); });
			return;
		}
		finish({});
	}
}

void Writer::answered(const Answer &answer)
{
	call_.reset();
	if (answer.outcome == Outcome::unsent) {
		std::ranges::move(group_, std::front_inserter(queue_));
		std::ranges::reverse(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(group_.size()));
		group_.clear();
		return failed_(answer.trouble);
	}
	const bool definite = answer.outcome != Outcome::lost;
	const Result<Transaction> done =
		answer ? transactionOf(answer.json)
		       : makeError(definite ? answer.trouble
					    : answer.trouble +
						      "; the outcome of the write is unknown: check, or repeat it");
	if (done && done->changed && done->header.revision > view_.revision()) {
		written_ = done->header.revision;
		return patience_.start(10s);
	}
	finish(done ? Result<void>() : Result<void>(done.error()));
	if (!definite)
		return failed_(answer.trouble);
	next();
}

void Writer::viewChanged()
{
	if (!written_ || view_.revision() < written_)
		return;
	finish({});
	next();
}

void Writer::stop(const std::string &why)
{
	running_ = false;
	if (!call_)
		return;
	call_.reset();
	finish(makeError(why + "; the outcome of the write is unknown: check, or repeat it"));
}

void Writer::refuse(const std::string &why)
{
	std::deque<Write> refused;
	refused.swap(queue_);
	for (Write &write : refused)
		write.done(makeError(why));
}

void Writer::finish(const Result<void> &result)
{
	written_ = 0;
	patience_.stop();
	std::vector<Write> group;
	group.swap(group_);
	for (Write &write : group)
		write.done(result);
}

} // namespace cdc::etcd
