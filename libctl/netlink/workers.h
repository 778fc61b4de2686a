// SPDX-License-Identifier: LGPL-2.1-or-later
// A thread pool for blocking work: an ioctl that waits for a target, or a DNS lookup.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "libctl/base/epoll.h"

namespace nofctl {

enum class AtEnd {
	waited, // the pool's destructor waits for the job
	left,   // the process may continue or exit before the job ends
};

class Workers {
public:
	static nvmeof::Result<Workers> create();
	Workers(Workers &&) noexcept = default;
	Workers &operator=(Workers &&) = delete;
	~Workers();

	// Readable if a job has ended since the last heard().
	int fd() const { return shared_->wake.get(); }
	void heard();

	// Queues @job for a thread of the pool. Runs it in the calling thread if the pool has no thread and cannot
	// create one.
	void run(std::function<void()> job, AtEnd atEnd);

private:
	struct Job {
		std::function<void()> work;
		AtEnd atEnd;
	};
	// Shared by the pool and its threads, which may outlive it.
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
