// SPDX-License-Identifier: LGPL-2.1-or-later
// Operations of a Client: starts them and returns their handles.
#pragma once

#include <cerrno>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>

#include "engine.h"

namespace nofctl {

nvmeof::Pending<std::vector<nvmeof::Result<nvmeof::Connection>>>
startConnects(Engine &engine, std::span<const nvmeof::ConnectOptions> options, const nvmeof::WaitOptions &wait,
	      std::stop_token stop = {});
nvmeof::Pending<nvmeof::Result<nvmeof::Connection>> startConnect(Engine &engine, const nvmeof::ConnectOptions &options,
								 const nvmeof::WaitOptions &wait);
// For an existing controller. Names have no /dev/ from here on.
nvmeof::Pending<nvmeof::Result<nvmeof::Connection>> startWait(Engine &engine, const std::string &controller,
							      const nvmeof::WaitOptions &wait);
// For a controller that was created after listen(). An error becomes the result.
nvmeof::Pending<nvmeof::Result<nvmeof::Connection>>
startWait(Engine &engine, nvmeof::Result<nvmeof::Controller> controller, const nvmeof::WaitOptions &wait);

// noSuchObject if there is no such controller. startRemovals() counts a missing controller as removed.
nvmeof::Pending<nvmeof::Result<void>> startRemoval(Engine &engine, const std::string &controller);
nvmeof::Pending<nvmeof::Result<nvmeof::Removal>> startRemovals(Engine &engine,
							       const std::vector<nvmeof::Controller> &controllers);
nvmeof::Pending<nvmeof::Result<void>> startRescan(Engine &engine, const std::string &controller);
nvmeof::Pending<nvmeof::Result<void>> startSet(Engine &engine, const std::string &controller,
					       const nvmeof::ControllerSettings &settings);

template <typename T> [[gnu::visibility("hidden")]] nvmeof::Pending<T> started(Engine &engine, T value)
{
	Promise<T> promise;
	nvmeof::Pending<T> pending = promise.pending({});
	promise.finish(engine, std::move(value));
	return pending;
}

// A job on a worker thread, and the operation that waits for it. @T: result of the job. The job owns its data and
// sockets: it may outlive this operation.
template <typename T> class JobOperation : public Operation {
public:
	using Work = std::function<T(std::stop_token)>;

	JobOperation(Engine &engine, Work work, AtEnd atEnd, std::function<void(T)> done) : done_(std::move(done))
	{
		engine.workers().run(
			[shared = shared_, work = std::move(work)] {
				try {
					T value = work(shared->stop.get_token());
					std::lock_guard lock(shared->mutex);
					shared->value = std::move(value);
				} catch (const std::exception &) { // an exception would terminate the process
					std::lock_guard lock(shared->mutex);
					shared->failed = true;
				}
			},
			atEnd);
	}

	bool advance() override
	{
		if (cancelled_)
			return true;
		std::lock_guard lock(shared_->mutex);
		if (!shared_->value && !shared_->failed)
			return false;
		done_(shared_->value ? *std::move(shared_->value)
				     : T(nvmeof::errorFromErrno(ENOMEM, "out of memory, or failed in a thread")));
		return true;
	}

	void cancel() override
	{
		cancelled_ = true;
		shared_->stop.request_stop();
	}

private:
	struct Shared {
		std::stop_source stop;
		std::mutex mutex;
		std::optional<T> value;
		bool failed = false; // the job threw an exception
	};

	std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
	std::function<void(T)> done_;
	bool cancelled_ = false;
};

template <typename T>
[[gnu::visibility("hidden")]] nvmeof::Pending<T> startJob(Engine &engine, typename JobOperation<T>::Work work,
							  AtEnd atEnd)
{
	Promise<T> promise;
	auto job =
		std::make_shared<JobOperation<T>>(engine, std::move(work), atEnd, [&engine, promise](T value) mutable {
			promise.finish(engine, std::move(value));
		});
	nvmeof::Pending<T> pending = promise.pending(job);
	engine.add(std::move(job));
	return pending;
}

// Waits until the job is done or @stop is requested.
template <typename T>
[[gnu::visibility("hidden")]] T waitOrStop(Engine &engine, nvmeof::Pending<T> pending, const std::stop_token &stop)
{
	engine.wait(pending, stop);
	return pending.ready() ? pending.take() : T(nvmeof::errorFromErrno(EINTR, "interrupted"));
}

} // namespace nofctl
