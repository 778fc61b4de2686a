// SPDX-License-Identifier: LGPL-2.1-or-later
#include "etcd_store.h"

#include <algorithm>
#include <ctime>

#include <syslog.h>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "serving/journal.h"
#include "wall_clock.h"
#include "make_error.h"

namespace cdc {

using namespace std::chrono_literals;
using namespace etcd;
using nvmeof::Result;

namespace {

constexpr int page = 2000; // records per range request

EtcdOptions withSlash(EtcdOptions options)
{
	if (!options.prefix.ends_with('/'))
		options.prefix += '/';
	return options;
}

std::string shown(std::int64_t time)
{
	return fmt::format("{:%F %T} UTC", fmt::gmtime(static_cast<std::time_t>(time)));
}

} // namespace

EtcdStore::EtcdStore(serving::Loop &loop, EtcdOptions options)
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
		serving::say(LOG_WARNING, fmt::format("{} was damaged: it was renamed to {}, and is rebuilt from etcd",
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
	auto answered = [this, before = view_.position(), then = std::move(then)](const Answer &answer) {
		const Result<Range> range = answer ? rangeOf(answer.json) : makeError(answer.trouble);
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
	etcd::JsonValue ask{{"key", toBase64(from)}, {"range_end", toBase64(endOf(options_.prefix))}, {"limit", page}};
	if (const std::uint64_t revision = reading_.revision())
		ask["revision"] = std::to_string(revision);
	step_ = client_.call("kv/range", ask, [this](const Answer &answer) {
		if (answer.outcome == Answer::Outcome::missing) // compacted in the meantime
			return readAll();
		const Result<Range> range = answer ? rangeOf(answer.json) : makeError(answer.trouble);
		if (!range)
			return lost(range.error().message);
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
				[this](const Answer &answer) { watchMessage(answer); });
	late_.start(options_.etcd.timeout);
}

void EtcdStore::watchMessage(const Answer &answer)
{
	const Result<Notice> notice = answer ? noticeOf(answer.json) : makeError(answer.trouble);
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
		serving::say(LOG_NOTICE, fmt::format("etcd is back: {}", client_.endpoint()));
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
	serving::say(
		LOG_WARNING,
		fmt::format("etcd is unreachable: {}; hosts get the records of {}, and writes fail until it is back",
			    why, shown(staleSince_)));
	writeCache();
}

std::string EtcdStore::refusal() const
{
	return fmt::format("etcd has been unreachable since {}: {}; writes fail until it is back", shown(staleSince_),
			   trouble_);
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
		serving::say(LOG_WARNING, fmt::format("cannot write the cache: {}", kept.error().message));
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
	raiseCall_ = client_.call("kv/txn", change, [this, then = std::move(then)](const Answer &answer) {
		raiseCall_.reset();
		if (!answer)
			return lost(answer.trouble);
		then();
	});
}

void EtcdStore::raise(std::uint64_t above, Done done)
{
	if (!trouble_.empty())
		return done(makeError(refusal()));
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
		raise.done(generation_ > raise.above ? Result<void>() : makeError(refusal()));
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
		sweep_ = client_.call("kv/txn", change, [this](const Answer &answer) {
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
		return done(makeError(refusal()));
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
