// SPDX-License-Identifier: LGPL-2.1-or-later
#include "etcd_store.h"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <syslog.h>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "libctl/base/make_error.h"
#include "libctl/runtime/journal.h"
#include "wall_clock.h"

namespace cdc {

using namespace std::chrono_literals;
using namespace etcd;
using nvmeof::Result;

namespace {

constexpr int minPage = 16; // records per range request: of 1.5 MiB each, etcd's limit, these are acceptable

EtcdOptions withSlash(EtcdOptions options)
{
	if (!options.prefix.ends_with('/'))
		options.prefix += '/';
	return options;
}

std::string timeText(std::int64_t time)
{
	return fmt::format("{:%F %T} UTC", fmt::gmtime(static_cast<std::time_t>(time)));
}

} // namespace

EtcdStore::EtcdStore(runtime::Loop &loop, EtcdOptions options)
	: options_(withSlash(std::move(options))), client_(loop, options_.etcd), view_(options_.prefix),
	  reading_(options_.prefix), writer_(loop, client_, view_, [this](std::string why) { lost(std::move(why)); }),
	  member_(loop, client_, view_, options_.lease, [this](std::string why) { lost(std::move(why)); }),
	  retryTimer_(loop, [this] { connect(); }),
	  late_(loop, [this] { lost(client_.endpoint() + ": the watch did not start"); }),
	  pulse_(loop, [this] { pulse(); }), cacheTimer_(loop, [this] { writeCache(); }),
	  backoff_(200ms, options_.slowest)
{
}

EtcdStore::~EtcdStore()
{
	if (cacheTimer_.running())
		writeCache();
}

Result<void> EtcdStore::start(OnUpdate onUpdate)
{
	if (Result<void> checked = check(options_.etcd); !checked)
		return checked;
	onUpdate_ = std::move(onUpdate);
	staleSince_ = std::time(nullptr);
	if (!options_.cache.empty())
		if (Result<void> opened = openCache(); !opened)
			return opened;
	lastContact_ = staleSince_;
	connect();
	return {};
}

Result<void> EtcdStore::openCache()
{
	cache_ = std::make_unique<RecordFile>(options_.cache, RecordFile::Purpose::cache);
	Result<RecordFile::Contents> contents = cache_->open(options_.rebuild);
	if (!contents)
		return contents.error();
	if (!cache_->movedTo().empty())
		runtime::say(LOG_WARNING, fmt::format("{} was damaged: it was renamed to {}, and is rebuilt from etcd",
						      options_.cache.string(), cache_->movedTo().string()));
	if (!contents->generation)
		return {}; // new file
	generation_ = contents->generation;
	staleSince_ = contents->heard;
	onUpdate_({.whole = true, .changes = std::move(contents->records), .generation = generation_});
	return {};
}

// A linearizable read, which only a member with a quorum answers. The range from "base" to "generation" holds only
// these two keys.
void EtcdStore::readMarks(std::unique_ptr<Call> &call,
			  std::function<void(const View::Position &now, bool follows)> then)
{
	const etcd::JsonValue keys{{"key", toBase64(view_.baseKey())},
				   {"range_end", toBase64(view_.generationKey() + '\0')}};
	auto answered = [this, before = view_.position(), then = std::move(then)](const etcd::Answer &answer) {
		const Result<Range> range = answer ? rangeOf(answer.json) : nofctl::makeError(answer.trouble);
		if (!range)
			return lost(range.error().message);
		lastContact_ = std::time(nullptr);
		View now(options_.prefix);
		now.begin(range->header);
		now.apply(range->records);
		then(now.position(), before.isContinuedBy(now.position()));
	};
	call = client_.call("kv/range", keys, std::move(answered));
}

void EtcdStore::connect()
{
	readMarks(step_, [this](const View::Position &, bool follows) { follows ? watch() : readAll(); });
}

void EtcdStore::readAll()
{
	synced_ = false;
	watch_.reset();
	pulse_.stop();
	reading_ = View(options_.prefix);
	readPage(options_.prefix);
}

void EtcdStore::readPage(const std::string &from)
{
	etcd::JsonValue ask{{"key", toBase64(from)}, {"range_end", toBase64(endOf(options_.prefix))}, {"limit", page_}};
	if (const std::uint64_t revision = reading_.revision())
		ask["revision"] = std::to_string(revision);
	step_ = client_.call("kv/range", ask, [this](const etcd::Answer &answer) {
		if (answer.outcome == etcd::Answer::Outcome::missing) // compacted in the meantime
			return readAll();
		const Result<Range> range = answer ? rangeOf(answer.json) : nofctl::makeError(answer.trouble);
		if (!range) {
			// perhaps too large, or too slow for the time limit
			if (answer.outcome == etcd::Answer::Outcome::lost)
				page_ = std::max(page_ / 2, minPage);
			return lost(range.error().message);
		}
		if (!reading_.revision())
			reading_.begin(range->header);
		reading_.apply(range->records);
		if (range->more && !range->records.empty())
			return readPage(range->records.back().key + '\0');
		readDone();
	});
}

void EtcdStore::readDone()
{
	if (!generationIsHighEnough(reading_))
		return raiseGeneration(reading_, [this] { readAll(); });
	view_ = std::move(reading_);
	page_ = std::min(page_ * 2, maxPage);
	watch();
	publish(view_.whole());
	writer_.viewChanged();
}

void EtcdStore::watch()
{
	const etcd::JsonValue all{{"key", toBase64(options_.prefix)},
				  {"range_end", toBase64(endOf(options_.prefix))},
				  {"start_revision", std::to_string(view_.revision() + 1)}};
	watch_ = client_.stream("watch", {{"create_request", all}},
				[this](const etcd::Answer &answer) { watchMessage(answer); });
	late_.start(options_.etcd.timeout);
}

void EtcdStore::watchMessage(const etcd::Answer &answer)
{
	const Result<Notice> notice = answer ? noticeOf(answer.json) : nofctl::makeError(answer.trouble);
	if (!notice)
		return lost(notice.error().message);
	if (notice->canceled && notice->compacted)
		return readAll();
	if (notice->canceled)
		return lost(fmt::format("{}: the watch has ended: {}", client_.endpoint(), notice->reason));
	if (notice->created)
		synced();
	if (!notice->events.empty())
		applyEvents(notice->events);
}

void EtcdStore::applyEvents(const std::vector<Event> &events)
{
	StoreUpdate news = view_.apply(events);
	if (!view_.generation())
		return readAll(); // the base or generation key was removed
	if (!news.changes.empty() || news.generation != generation_)
		publish(std::move(news));
	writer_.viewChanged();
	member_.viewChanged();
	sweep();
}

void EtcdStore::synced()
{
	late_.stop();
	failures_ = 0;
	backoff_.reset();
	if (!trouble_.empty())
		runtime::say(LOG_NOTICE, fmt::format("etcd is back: {}", client_.endpoint()));
	trouble_.clear();
	staleSince_ = 0;
	expected_ = 0;
	synced_ = true;
	pulse_.start(options_.pulse);
	writer_.run();
	member_.run();
	endRaises();
	sweep();
}

// A broken watch cannot be distinguished from an idle one, so the marks are polled as well.
void EtcdStore::pulse()
{
	readMarks(asked_, [this](const View::Position &now, bool follows) {
		pulse_.start(options_.pulse);
		if (!follows)
			return readAll();
		const auto time = std::chrono::steady_clock::now();
		if (view_.position().generationRevision >= expected_) {
			expected_ = now.generationRevision;
			expectedSince_ = time;
		} else if (time > expectedSince_ + options_.etcd.timeout) {
			return lost(client_.endpoint() + ": the watch does not respond");
		}
		sweep();
	});
}

// Switches to the next member at once; when all have failed, after a back-off
void EtcdStore::lost(std::string why)
{
	synced_ = false;
	for (auto *call : {&step_, &watch_, &asked_, &sweep_, &raiseCall_})
		call->reset();
	for (auto *timer : {&late_, &pulse_})
		timer->stop();
	client_.next();
	failures_++;
	retryTimer_.start(failures_ % client_.endpoints() ? 0ms : backoff_.next());
	if (failures_ >= client_.endpoints())
		reportUnreachable(why);
	writer_.stop(why);
	member_.stop(why);
	if (trouble_.empty())
		return;
	writer_.refuse(refusal());
	endRaises();
}

void EtcdStore::reportUnreachable(const std::string &why)
{
	if (!staleSince_)
		staleSince_ = lastContact_;
	const bool known = !trouble_.empty();
	trouble_ = why;
	if (known)
		return;
	const std::string served =
		generation_ ? fmt::format("hosts get the records of {}, and writes fail", timeText(staleSince_))
			    : "no records are known, so no host is served";
	runtime::say(LOG_WARNING, fmt::format("etcd is unreachable: {}; {} until it is back", why, served));
	writeCache();
}

std::string EtcdStore::refusal() const
{
	return fmt::format("etcd has been unreachable since {}: {}; writes fail until it is back",
			   timeText(staleSince_), trouble_);
}

void EtcdStore::publish(StoreUpdate news)
{
	generation_ = news.generation = std::max(generation_, news.generation);
	if (cache_) {
		if (pendingCache_.changes.empty() && !pendingCache_.whole && cacheBroken_)
			pendingCache_ = view_.whole();
		else if (news.whole)
			pendingCache_ = news;
		else
			pendingCache_.changes.insert(pendingCache_.changes.end(), news.changes.begin(),
						     news.changes.end());
		cacheTimer_.startUnlessRunning(200ms);
	}
	onUpdate_(std::move(news));
	endRaises();
}

// Writes pending changes to the cache
void EtcdStore::writeCache()
{
	if (!cache_ || !generation_)
		return;
	cacheTimer_.stop();
	StoreUpdate news = std::exchange(pendingCache_, {});
	news.generation = generation_;
	const Result<void> kept = cache_->keep(news, lastContact_);
	if (!kept && !cacheBroken_)
		runtime::say(LOG_WARNING, fmt::format("cannot write the cache: {}", kept.error().message));
	cacheBroken_ = !kept;
}

bool EtcdStore::generationIsHighEnough(const View &view) const
{
	return view.generation() && view.generation() >= std::max(generation_, minGeneration_);
}

// Raises the generation above every reported one, if etcd has lost it or never had one.
void EtcdStore::raiseGeneration(const View &view, std::function<void()> then)
{
	const std::uint64_t min = std::max(generation_, minGeneration_), revision = view.revision();
	const std::uint64_t base = std::max(static_cast<std::uint64_t>(wallMs()), min > revision ? min - revision : 0);
	const etcd::JsonValue change{
		{"compare", {isRevision(view.baseKey(), view.position().baseRevision)}},
		{"success", {put(view.baseKey(), std::to_string(base)), put(view.generationKey(), "")}}};
	raiseCall_ = client_.call("kv/txn", change, [this, then = std::move(then)](const etcd::Answer &answer) {
		raiseCall_.reset();
		if (!answer)
			return lost(answer.trouble);
		then();
	});
}

void EtcdStore::raise(std::uint64_t above, Done done)
{
	if (!trouble_.empty())
		return done(nofctl::makeError(refusal()));
	minGeneration_ = std::max(minGeneration_, above + 1);
	raises_.push_back({above, std::move(done)});
	endRaises();
}

// Completes the raises that are done, and continues with the others
void EtcdStore::endRaises()
{
	std::vector<Raise> ended;
	const auto waits = [&](const Raise &raise) { return generation_ <= raise.above && trouble_.empty(); };
	const auto end = std::partition(raises_.begin(), raises_.end(), waits);
	std::move(end, raises_.end(), std::back_inserter(ended));
	raises_.erase(end, raises_.end());
	if (!raises_.empty() && synced_ && !raiseCall_ && !generationIsHighEnough(view_))
		raiseGeneration(view_, [this, before = view_.position().baseRevision] {
			if (view_.position().baseRevision != before) // otherwise the watch has not reported it yet
				endRaises();
		});
	for (Raise &raise : ended)
		raise.done(generation_ > raise.above ? Result<void>() : nofctl::makeError(refusal()));
}

// Removes the record of an instance that is gone. All other instances try; the comparison lets one succeed.
void EtcdStore::sweep()
{
	if (sweep_ || !synced_)
		return;
	for (const std::string &id : view_.dead()) {
		if (member_.isSelf(id))
			continue;
		const std::string record = options_.prefix + std::string(prefixOf(Kind::instance)) + id;
		const etcd::JsonValue change{{"compare", {isRevision(view_.aliveKey(id), 0)}},
					     {"success", {remove(record), put(view_.generationKey(), "")}}};
		sweep_ = client_.call("kv/txn", change, [this](const etcd::Answer &answer) {
			sweep_.reset();
			if (!answer)
				lost(answer.trouble);
		});
		return;
	}
}

void EtcdStore::write(std::vector<Change> changes, Done done)
{
	if (!trouble_.empty())
		return done(nofctl::makeError(refusal()));
	writer_.write(std::move(changes), std::move(done));
}

void EtcdStore::join(const Instance &instance)
{
	member_.join(instance);
}

void EtcdStore::leave(Done done)
{
	member_.leave(std::move(done));
}

StoreState EtcdStore::state() const
{
	return {.engine = "etcd",
		.place = fmt::format("{} {}", client_.endpoint(), options_.prefix),
		.writable = trouble_.empty(),
		.trouble = trouble_.empty() ? "" : refusal(),
		.staleSince = staleSince_};
}

} // namespace cdc

namespace cdc::etcd {

using Outcome = Answer::Outcome;

// ---- class View

namespace {

// 0: not a valid number
std::uint64_t numberIn(const std::string &text)
{
	std::uint64_t number = 0;
	auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
	return error == std::errc() && end == text.data() + text.size() && number <= UINT64_MAX / 2 ? number : 0;
}

} // namespace

bool View::Position::isContinuedBy(const Position &later) const
{
	const bool sameBase = later.baseRevision == baseRevision && later.base == base;
	return later.header.cluster == header.cluster && later.header.revision >= header.revision &&
	       later.generation() && later.generationRevision >= generationRevision &&
	       (sameBase || later.baseRevision > header.revision);
}

void View::apply(const Event &event, std::vector<Change> &changes)
{
	marks_.header.revision = std::max(marks_.header.revision, event.revision);
	if (!event.key.starts_with(prefix_))
		return;
	const std::string key = event.key.substr(prefix_.size());
	if (kindOf(key)) {
		auto record = records_.find(key);
		if (event.value ? record != records_.end() && record->second == *event.value : record == records_.end())
			return;
		if (event.value)
			records_.insert_or_assign(key, *event.value);
		else
			records_.erase(record);
		changes.push_back({key, event.value});
	} else if (key.starts_with("alive/")) {
		event.value ? (void)alive_.insert(key.substr(6)) : (void)alive_.erase(key.substr(6));
	} else if (event.key == generationKey()) {
		marks_.generationRevision = event.value ? event.revision : 0;
	} else if (event.key == baseKey()) {
		marks_.base = event.value ? numberIn(*event.value) : 0;
		marks_.baseRevision = event.value ? event.revision : 0;
	}
}

StoreUpdate View::apply(const std::vector<Event> &events)
{
	StoreUpdate news;
	for (const Event &event : events)
		apply(event, news.changes);
	news.generation = generation();
	return news;
}

StoreUpdate View::whole() const
{
	StoreUpdate news{.whole = true, .changes = {}, .generation = generation()};
	for (const auto &[key, value] : records_)
		news.changes.push_back({key, value});
	return news;
}

const std::string *View::valueOf(const std::string &key) const
{
	auto found = records_.find(key);
	return found == records_.end() ? nullptr : &found->second;
}

std::vector<std::string> View::dead() const
{
	std::vector<std::string> dead;
	const std::string prefix(prefixOf(Kind::instance));
	for (auto record = records_.lower_bound(prefix); record != records_.end(); ++record) {
		if (!record->first.starts_with(prefix))
			break;
		if (const std::string id = record->first.substr(prefix.size()); !alive(id))
			dead.push_back(id);
	}
	return dead;
}

// ---- class Writer

namespace {

// etcd's defaults: 128 operations on each level of a transaction, where the operations of a level also count on the
// level below it (so 64 x 64 on two levels), and 1.5 MiB in all.
constexpr std::size_t maxFlat = 120, maxSubrequests = 64, maxChanges = 63 * maxSubrequests;
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

Writer::Writer(runtime::Loop &loop, Client &client, const View &view, std::function<void(std::string)> failed)
	: client_(client), view_(view), failed_(std::move(failed)), patience_(loop, [this] {
		  finish(nofctl::makeError("written, but etcd did not report the change within 10 s; the hosts of this "
					   "instance do not see it yet"));
		  next();
	  })
{
}

void Writer::write(std::vector<Change> changes, Store::Done done)
{
	const std::size_t bytes = sizeOf(changes);
	if (changes.size() > maxChanges || bytes > maxRequestBytes)
		return done(nofctl::makeError(
			fmt::format("{} records of {} KiB are too much for one write to etcd: the limit is "
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
		for (std::size_t i = 0; i < operations.size(); i += maxSubrequests) {
			const auto end = operations.begin() + std::min(i + maxSubrequests, operations.size());
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
		       : nofctl::makeError(
				 definite ? answer.trouble
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
	finish(nofctl::makeError(why + "; the outcome of the write is unknown: check, or repeat it"));
}

void Writer::refuse(const std::string &why)
{
	std::deque<Write> refused;
	refused.swap(queue_);
	for (Write &write : refused)
		write.done(nofctl::makeError(why));
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

// ---- class Member

Member::Member(runtime::Loop &loop, Client &client, const View &view, std::chrono::seconds ttl,
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
	put_ = 0; // the end of the records is no reason to write them again
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
