// SPDX-License-Identifier: LGPL-2.1-or-later
#include "probe.h"

#include "block.h"

#include <algorithm>
#include <cerrno>

namespace guest {

Probe::Probe(const std::string &disk) : Probe(disk, Options{}) {}

Probe::Probe(const std::string &disk, const Options &options) : thread_([this, disk, options] { work(disk, options); })
{
}

Probe::~Probe()
{
	stop();
}

void Probe::stop()
{
	stopping_ = true;
	if (thread_.joinable())
		thread_.join();
}

template <class Io> bool Probe::timed(const Io &io)
{
	auto begin = now();
	begun_ = begin;
	int err = io();
	auto took = now() - begin;
	if (took > maxSize_)
		maxSize_ = took;
	begun_ = 0;
	if (err && !error_)
		error_ = err;
	ios_++;
	return !err;
}

void Probe::work(const std::string &path, const Options &options)
{
	Disk disk(path);
	Buffer out(options.blockSize), in(options.blockSize);
	for (std::uint32_t seed = 1; !stopping_ && !error_; seed++) {
		auto at = options.offset + seed % options.blocks * options.blockSize;
		out.fill(seed);
		if (options.writes && !timed([&] { return disk.write(at, out); }))
			return;
		if (!timed([&] { return disk.read(at, in); }))
			return;
		if (options.writes && !in.holds(seed))
			error_ = -EILSEQ;
		if (options.pause > 0ms)
			std::this_thread::sleep_for(options.pause);
	}
}

Millis Probe::longest() const
{
	auto begin = begun_.load();
	auto sofar = begin ? now() - begin : 0;
	return std::chrono::duration_cast<Millis>(std::chrono::nanoseconds(std::max(maxSize_.load(), sofar)));
}

void Probe::mark()
{
	maxSize_ = 0;
}

bool Probe::moves(Millis timeout) const
{
	auto before = ios();
	return eventually([&] { return ios() > before; }, timeout);
}

} // namespace guest
