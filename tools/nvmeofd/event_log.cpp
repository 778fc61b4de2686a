// SPDX-License-Identifier: LGPL-2.1-or-later
#include "event_log.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <fstream>

#include <fmt/chrono.h>
#include <nlohmann/json.hpp>

#include "libctl/base/file.h"

using namespace nvmeof;
using Json = nlohmann::json;

namespace nvmeofd {

namespace {

constexpr mode_t fileMode = 0644;
constexpr std::size_t maxFailing = 4096; // controllers whose failures are counted

// "2026-11-27T05:14:10.123Z"
std::string utc(std::chrono::system_clock::time_point when)
{
	const auto ms = std::chrono::floor<std::chrono::milliseconds>(when);
	const auto s = std::chrono::floor<std::chrono::seconds>(ms);
	return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(s)),
			   (ms - s).count());
}

struct Details {
	Json &line;

	void operator()(std::monostate) const {}
	void operator()(const Subsystem &s) const
	{
		line["kind"] = "subsystem";
		line["nqn"] = s.nqn;
	}
	void operator()(const Controller &c) const
	{
		line["kind"] = "controller";
		line["nqn"] = c.subsysnqn;
		line["transport"] = c.transport;
		line["traddr"] = c.traddr;
		line["trsvcid"] = c.trsvcid;
		line["state"] = toString(c.state);
		line["reconnects"] = c.reconnects;
		if (c.lastErrno)
			line["errno"] = c.lastErrno;
		if (!c.lastError.empty())
			line["last_error"] = c.lastError;
	}
	void operator()(const Namespace &n) const
	{
		line["kind"] = "namespace";
		line["nsid"] = n.nsid;
		line["wwid"] = n.wwid;
		line["usable_paths"] = n.usablePaths;
		line["live_paths"] = n.livePaths;
		line["expected_paths"] = n.expectedPaths;
		line["waiting"] = n.waiting;
		line["held"] = n.held;
	}
	void operator()(const Path &p) const
	{
		line["kind"] = "path";
		line["namespace"] = p.nameSpace;
		line["controller"] = p.controller;
		line["ana_state"] = toString(p.anaState);
		line["usable"] = p.usable;
		line["suspect"] = p.suspect;
		line["probation"] = p.probation;
	}
	void operator()(const Aen &aen) const
	{
		line["kind"] = "controller";
		line["aen"] = {{"type", aen.type}, {"info", aen.info}, {"log_page", aen.logPage}};
	}
};

std::string dumped(const Json &line)
{
	return line.dump(-1, ' ', true, Json::error_handler_t::replace);
}

} // namespace

EventLog::EventLog(std::filesystem::path file) : file_(std::move(file)), writer_(file_)
{
	constexpr std::size_t maxRead = 2 * maxBytes; // our files are no larger
	std::error_code error;
	nofctl::removeUnfinished(file_); // left by a killed daemon
	std::ifstream in(file_, std::ios::binary);
	whole_ = true;
	const std::uintmax_t size = std::filesystem::file_size(file_, error);
	if (!error && size > maxRead) {
		in.seekg(static_cast<std::streamoff>(size - maxRead));
		whole_ = false;
	}
	for (std::string line; std::getline(in, line); inFile_++) {
		bytesInFile_ += line.size() + 1;
		const bool ended = !in.eof();
		if (!ended || line.size() > maxLineLength || !Json::accept(line)) {
			whole_ = false; // incomplete: the machine stopped while it was written
			continue;
		}
		keep(std::move(line));
	}
}

void EventLog::keep(std::string line)
{
	bytes_ += line.size() + 1;
	lines_.push_back(std::move(line));
	while (lines_.size() > max || bytes_ > maxBytes) {
		bytes_ -= lines_.front().size() + 1;
		lines_.pop_front();
	}
}

std::uint64_t EventLog::failures(const Event &event)
{
	const Controller *controller = event.controller();
	if (!controller)
		return 1;
	if (event.type != EventType::connectFailed) {
		if (event.type == EventType::removed || controller->state == ControllerState::live)
			failures_.erase(controller->name);
		return 1;
	}
	if (failures_.size() >= maxFailing && !failures_.contains(controller->name))
		failures_.clear();
	Failures &failures = failures_[controller->name];
	if (std::exchange(failures.reason, event.reason) != event.reason)
		failures.count = 0;
	failures.count++;
	return std::has_single_bit(failures.count) ? failures.count : 0;
}

void EventLog::add(const Event &event, std::chrono::system_clock::time_point now, std::chrono::nanoseconds bootNow)
{
	if (event.type == EventType::present || event.type == EventType::synced)
		return;
	const std::uint64_t times = failures(event);
	if (!times)
		return;
	const auto ago = std::max(bootNow - event.time, std::chrono::nanoseconds(0));
	Json line{{"time", utc(now - std::chrono::duration_cast<std::chrono::system_clock::duration>(ago))},
		  {"event", toString(event.type)},
		  {"name", event.name()}};
	std::visit(Details{line}, event.object);
	if (event.oldState)
		line["old_state"] = toString(*event.oldState);
	if (!event.reason.empty())
		line["reason"] = event.reason;
	if (times > 1)
		line["times"] = times;
	if (event.scanErrno)
		line["scan_errno"] = event.scanErrno;
	if (event.failover)
		line["failover"] = {{"path", event.failover->path},
				    {"ios", event.failover->ios},
				    {"duration_ns", event.failover->duration.count()}};
	std::string text = dumped(line);
	if (text.size() > maxLineLength) {
		for (const char *key : {"reason", "last_error", "nqn"})
			line.erase(key);
		text = dumped(line);
	}
	if (text.size() <= maxLineLength)
		push(std::move(text));
}

void EventLog::add(std::string_view what, std::chrono::system_clock::time_point now)
{
	push(dumped({{"time", utc(now)}, {"event", what}, {"kind", "daemon"}, {"name", "nvmeofd"}}));
}

void EventLog::push(std::string line)
{
	keep(std::move(line));
	fresh_ = std::min(fresh_ + 1, lines_.size());
}

EventLog::Batch EventLog::batch() const
{
	std::size_t freshBytes = 0;
	for (std::size_t i = lines_.size() - fresh_; i < lines_.size(); i++)
		freshBytes += lines_[i].size() + 1;
	const bool full = inFile_ + fresh_ > 2 * max || bytesInFile_ + freshBytes > 2 * maxBytes;
	Batch batch{file_, !whole_ || full, {}, 0};
	for (std::size_t i = batch.whole ? 0 : lines_.size() - fresh_; i < lines_.size(); i++, batch.lines++)
		batch.text += lines_[i] + "\n";
	return batch;
}

Result<void> EventLog::store(const Batch &batch)
{
	return batch.whole ? nofctl::replaceFile(batch.file, batch.text, fileMode, nofctl::Durable::yes)
			   : nofctl::appendToFile(batch.file, batch.text, fileMode);
}

void EventLog::begin()
{
	Batch work = batch();
	replacing_ = work.whole;
	written_ = work.lines;
	bytesWritten_ = work.text.size();
	if (writer_.begin([work = std::move(work)] { return store(work); })) // otherwise, the next call tries again
		fresh_ = 0;
}

Result<void> EventLog::finish()
{
	const Result<void> done = writer_.take();
	whole_ = done.ok(); // a failed append may leave an incomplete line
	if (done) {
		inFile_ = replacing_ ? written_ : inFile_ + written_;
		bytesInFile_ = replacing_ ? bytesWritten_ : bytesInFile_ + bytesWritten_;
	} else {
		fresh_ = std::min(lines_.size(), std::max<std::size_t>(fresh_, 1));
	}
	return done;
}

Result<void> EventLog::write()
{
	if (writer_.running()) {
		if (!writer_.ended())
			return {};
		if (Result<void> done = finish(); !done)
			return done;
	}
	if (fresh_)
		begin();
	return {};
}

Result<void> EventLog::writeAndWait(std::chrono::milliseconds patience)
{
	const auto deadline = FileWriter::Clock::now() + patience;
	Result<void> done;
	do {
		if (writer_.running() && !writer_.ended(deadline))
			return errorFromErrno(ETIMEDOUT, "timed out writing the event file");
		done = write();
	} while (done && writer_.running()); // not pending(): there may be no thread for the write
	return done;
}

} // namespace nvmeofd
