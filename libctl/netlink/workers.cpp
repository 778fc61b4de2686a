// SPDX-License-Identifier: LGPL-2.1-or-later
#include "workers.h"

#include <cstdint>
#include <sys/eventfd.h>
#include <system_error>
#include <thread>

namespace nofctl {

using nvmeof::Result;

namespace {

constexpr int maxThreads = 16;

} // namespace

Result<Workers> Workers::create()
{
	OwnedFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (wake.get() < 0)
		return nvmeof::errorFromErrno(errno);
	auto shared = std::make_shared<Shared>();
	shared->wake = std::move(wake);
	return Workers(std::move(shared));
}

// Discards queued jobs of kind AtEnd::left. Waits for the others; their owners have asked them to stop soon.
Workers::~Workers()
{
	if (!shared_)
		return;
	std::unique_lock lock(shared_->mutex);
	std::erase_if(shared_->jobs, [](const Job &job) { return job.atEnd == AtEnd::left; });
	shared_->closing = true;
	shared_->queued.notify_all();
	shared_->ended.wait(lock, [this] { return shared_->waitedFor == 0; });
}

void Workers::heard()
{
	std::uint64_t count;
	while (::read(shared_->wake.get(), &count, sizeof(count)) < 0 && errno == EINTR)
		;
}

void Workers::execute(Shared &shared, Job job)
{
	job.work();
	job.work = nullptr; // releases captured objects before completion is reported
	std::uint64_t one = 1;
	while (::write(shared.wake.get(), &one, sizeof(one)) < 0 && errno == EINTR)
		;
	std::lock_guard lock(shared.mutex);
	shared.waitedFor -= job.atEnd == AtEnd::waited;
	shared.ended.notify_all();
}

void Workers::serve(const std::shared_ptr<Shared> &shared)
{
	std::unique_lock lock(shared->mutex);
	for (;;) {
		shared->idle++;
		shared->queued.wait(lock, [&] { return !shared->jobs.empty() || shared->closing; });
		shared->idle--;
		if (shared->jobs.empty())
			break;
		Job job = std::move(shared->jobs.front());
		shared->jobs.pop_front();
		lock.unlock();
		execute(*shared, std::move(job));
		lock.lock();
	}
	shared->threads--;
}

void Workers::run(std::function<void()> job, AtEnd atEnd)
{
	std::unique_lock lock(shared_->mutex);
	shared_->waitedFor += atEnd == AtEnd::waited;
	shared_->jobs.push_back({std::move(job), atEnd});
	if (shared_->idle >= static_cast<int>(shared_->jobs.size()) || shared_->threads == maxThreads) {
		shared_->queued.notify_one();
		return;
	}
	try {
		std::thread([shared = shared_] { serve(shared); }).detach();
		shared_->threads++;
		return;
	} catch (const std::system_error &) {
	}
	if (shared_->threads) // an existing thread will run the job
		return;
	Job alone = std::move(shared_->jobs.back());
	shared_->jobs.pop_back();
	lock.unlock();
	execute(*shared_, std::move(alone));
}

} // namespace nofctl
