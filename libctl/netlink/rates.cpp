// SPDX-License-Identifier: LGPL-2.1-or-later
#include <nvmeof/rates.h>

namespace nvmeof {

Rate &Rate::operator+=(const Rate &other)
{
	ios += other.ios;
	bytesRead += other.bytesRead;
	bytesWritten += other.bytesWritten;
	errors += other.errors;
	retries += other.retries;
	latency = sum(latency, other.latency);
	return *this;
}

Rates::Counters Rates::countersOf(const Path &path)
{
	return {path.ios,    path.bytesRead, path.bytesWritten,
		path.errors, path.retries,   sum(path.readLatency, path.writeLatency)};
}

bool Rates::wentBack(const Counters &now, const Counters &before)
{
	return now.ios < before.ios || now.bytesRead < before.bytesRead || now.bytesWritten < before.bytesWritten ||
	       now.errors < before.errors || now.retries < before.retries ||
	       countOf(now.latency) < countOf(before.latency);
}

Rate Rates::rateOf(const Counters &now, const Counters &before, double seconds)
{
	auto perSecond = [seconds](std::uint64_t last, std::uint64_t first) {
		return static_cast<double>(last - first) / seconds;
	};
	Rate rate;
	rate.ios = perSecond(now.ios, before.ios);
	rate.bytesRead = perSecond(now.bytesRead, before.bytesRead);
	rate.bytesWritten = perSecond(now.bytesWritten, before.bytesWritten);
	rate.errors = perSecond(now.errors, before.errors);
	rate.retries = perSecond(now.retries, before.retries);
	rate.latency = difference(now.latency, before.latency);
	return rate;
}

void Rates::update(std::chrono::nanoseconds time, const std::vector<Path> &paths)
{
	if (started_ && time <= time_)
		return;
	double seconds = std::chrono::duration<double>(time - time_).count();
	std::map<std::string, Counters> next;
	rates_.clear();
	for (const Path &path : paths) {
		Counters now = countersOf(path);
		auto before = counters_.find(path.name);
		bool anew = before == counters_.end() || wentBack(now, before->second);
		if (started_)
			rates_[path.name] = rateOf(now, anew ? Counters() : before->second, seconds);
		next[path.name] = now;
	}
	interval_ = started_ ? time - time_ : std::chrono::nanoseconds(0);
	counters_ = std::move(next);
	time_ = time;
	started_ = true;
}

void Rates::reset()
{
	*this = Rates();
}

const Rate *Rates::of(const std::string &path) const
{
	auto found = rates_.find(path);
	return found == rates_.end() ? nullptr : &found->second;
}

} // namespace nvmeof
