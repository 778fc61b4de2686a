// SPDX-License-Identifier: LGPL-2.1-or-later
// A few threads for what can only be waited for: an ioctl that a target answers, a name that DNS has to tell.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "epoll.h"

namespace nofctl {

enum class AtEnd {
	waited, // the pool ends after it
	left,   // the process goes on, or ends, without it
};

class Workers {
public:
	static nvmeof::Result<Workers> create();
	Workers(Workers &&) noexcept = default;
	Workers &operator=(Workers &&) = delete;
	~Workers();

	// Readable when a job has ended since heard().
	int fd() const { return shared_->wake.get(); }
	void heard();

	// Runs @job on one of the threads, when one is free; here and now, when there is no memory for a thread.
	void run(std::function<void()> job, AtEnd atEnd);

private:
	struct Job {
		std::function<void()> work;
		AtEnd atEnd;
	};
	// Of the pool and its threads, which may outlive it.
	struct Shared {
		OwnedFd wake;
		std::mutex mutex{};
		std::condition_variable queued{}, ended{};
		std::deque<Job> jobs{};
		int threads = 0, idle = 0, waitedFor = 0;
		bool closing = false;
	};

	explicit Workers(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
	static void serve(const std::shared_ptr<Shared> &shared);
	static void execute(Shared &shared, Job job);

	std::shared_ptr<Shared> shared_;
};

} // namespace nofctl
