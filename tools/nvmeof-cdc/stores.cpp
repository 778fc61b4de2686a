// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stores.h"

#include <fmt/format.h>

#include "etcd_store.h"
#include "libctl/base/file.h"
#include "libctl/base/make_error.h"
#include "sqlite_store.h"

namespace cdc {

using namespace std::chrono_literals;
using nvmeof::Result;

namespace {

Result<EtcdOptions> optionsOf(const EtcdRules &rules)
{
	EtcdOptions options;
	options.etcd.endpoints = rules.endpoints;
	options.etcd.tls = {rules.ca, rules.certificate, rules.key};
	options.etcd.user = rules.user;
	if (!rules.passwordFile.empty()) {
		Result<std::string> password = nofctl::readSmallFile(rules.passwordFile);
		if (!password)
			return password.error();
		options.etcd.password = password->substr(0, password->find('\n'));
	}
	options.prefix = rules.prefix;
	options.cache = rules.cache;
	return options;
}

} // namespace

Result<std::unique_ptr<Store>> makeStore(runtime::Loop &loop, const StoreRules &rules, bool rebuild)
{
	if (rules.engine == StoreRules::Engine::sqlite)
		return std::unique_ptr<Store>(std::make_unique<SqliteStore>(loop, rules.file, rebuild));
	Result<EtcdOptions> options = optionsOf(rules.etcd);
	if (!options)
		return options.error();
	options->rebuild = rebuild;
	return std::unique_ptr<Store>(std::make_unique<EtcdStore>(loop, *std::move(options)));
}

// ---- move

namespace {

// Records by key, without instances
std::map<std::string, std::string> recordsIn(const StoreUpdate &news)
{
	std::map<std::string, std::string> records;
	for (const Change &change : news.changes)
		if (change.value && kindOf(change.key) != Kind::instance)
			records.emplace(change.key, *change.value);
	return records;
}

} // namespace

Move::Move(runtime::Loop &loop, Store &from, Store &to, Done done)
	: from_(from), to_(to), done_(std::move(done)), patience_(loop, [this] {
		  const StoreState state = (read_ ? to_ : from_).state();
		  end(nofctl::makeError(fmt::format("{} {}: {}", state.engine, state.place,
						    state.trouble.empty() ? "no answer" : state.trouble)));
	  })
{
}

void Move::start()
{
	patience_.start(10s);
	auto onUpdate = [this](const StoreUpdate &news) {
		if (!read_)
			sourceRead(news);
	};
	if (Result<void> started = from_.start(onUpdate); !started)
		end(started.error());
}

void Move::sourceRead(const StoreUpdate &news)
{
	read_ = true;
	records_ = recordsIn(news);
	next_ = records_.begin();
	moved_.before = news.generation;
	auto onUpdate = [this](const StoreUpdate &there) {
		if (!there_)
			targetRead(there);
	};
	if (Result<void> started = to_.start(onUpdate); !started)
		end(started.error());
}

void Move::targetRead(const StoreUpdate &news)
{
	there_ = true;
	for (const auto &[key, value] : recordsIn(news)) {
		auto same = records_.find(key);
		if (same == records_.end() || same->second != value)
			return end(nofctl::makeError(fmt::format(
				"{} already has records ({}): move into an empty store", to_.state().place, key)));
	}
	to_.raise(moved_.before, [this](const Result<void> &raised) { isWritten(raised); });
}

void Move::isWritten(const Result<void> &written)
{
	if (!written)
		return end(written.error());
	if (next_ == records_.end())
		return end(moved_);
	writeNext();
}

void Move::writeNext()
{
	patience_.start(10s);
	std::vector<Change> changes;
	for (std::size_t bytes = 0;
	     next_ != records_.end() && changes.size() < maxWriteRecords && bytes < maxWriteBytes; ++next_) {
		bytes += next_->first.size() + next_->second.size();
		changes.push_back({next_->first, next_->second});
	}
	moved_.records += changes.size();
	to_.write(std::move(changes), [this](const Result<void> &done) { isWritten(done); });
}

void Move::end(Result<Moved> result)
{
	patience_.stop();
	if (const Done done = std::exchange(done_, {}))
		done(std::move(result));
}

} // namespace cdc
