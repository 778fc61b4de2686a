// SPDX-License-Identifier: LGPL-2.1-or-later
#include "file_writer.h"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <thread>

using namespace nvmeof;

namespace nvmeofd {

bool FileWriter::begin(Work work)
{
	try {
		std::packaged_task<Result<void>()> task(std::move(work));
		writing_ = task.get_future();
		std::thread(std::move(task)).detach();
	} catch (const std::exception &) {
		writing_ = {};
	}
	return running();
}

bool FileWriter::ended(Clock::time_point deadline) const
{
	return writing_.wait_until(deadline) == std::future_status::ready;
}

Result<void> FileWriter::take()
{
	Result<void> done = errorFromErrno(EIO);
	try {
		done = writing_.get();
	} catch (const std::exception &e) {
		done = errorFromErrno(ENOMEM, file_.string() + ": " + e.what());
	}
	failures_ = done ? 0 : failures_ + 1;
	return done;
}

std::chrono::milliseconds FileWriter::delay() const
{
	constexpr unsigned maxDoublings = 6; // about a minute
	return std::chrono::seconds(1) * (1 << std::min(failures_, maxDoublings));
}

} // namespace nvmeofd
