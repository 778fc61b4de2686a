// SPDX-License-Identifier: LGPL-2.1-or-later
#include "operations.h"

#include "connect_wait.h"
#include "removal.h"

namespace nofctl {

using namespace nvmeof;

namespace {

using Outcome = Result<Connection>;

// Waits for the answer to a request that has been sent. Cancelling ends the wait only.
class RequestOperation : public Operation {
public:
	RequestOperation(Engine &engine, Socket::Id asked, std::function<void(Result<void>)> done)
		: engine_(engine), asked_(asked), done_(std::move(done))
	{
	}

	bool advance() override
	{
		if (cancelled_)
			return true;
		std::optional<Result<void>> result = engine_.session().finished(asked_);
		if (result)
			done_(*std::move(result));
		return result.has_value();
	}

	void cancel() override
	{
		engine_.session().forget(asked_);
		cancelled_ = true;
	}

private:
	Engine &engine_;
	Socket::Id asked_;
	std::function<void(Result<void>)> done_;
	bool cancelled_ = false;
};

Pending<Result<void>> startAnswer(Engine &engine, Socket::Id asked)
{
	Promise<Result<void>> promise;
	auto answer = std::make_shared<RequestOperation>(engine, asked, [&engine, promise](Result<void> done) mutable {
		promise.finish(engine, std::move(done));
	});
	Pending<Result<void>> pending = promise.pending(answer);
	engine.add(std::move(answer));
	return pending;
}

// Subscribes to events, which has to precede the connect requests. An error becomes the result of each connect.
Result<void> prepare(Engine &engine, const WaitOptions &wait)
{
	bool nothing = wait.wait == WaitFor::none && !wait.nsid && !wait.uuid;
	return nothing ? Result<void>() : engine.listen();
}

// @begin: adds one controller to the wait.
template <typename F> Pending<Outcome> startOne(Engine &engine, const WaitOptions &wait, F begin)
{
	if (Result<void> ready = prepare(engine, wait); !ready)
		return started(engine, Outcome(ready.error()));
	Promise<Outcome> promise;
	auto waiting =
		std::make_shared<ConnectWait>(engine, wait, [&engine, promise](std::vector<Outcome> all) mutable {
			promise.finish(engine, std::move(all.front()));
		});
	begin(*waiting);
	Pending<Outcome> pending = promise.pending(waiting);
	engine.add(std::move(waiting));
	return pending;
}

} // namespace

Pending<std::vector<Outcome>> startConnects(Engine &engine, std::span<const ConnectOptions> options,
					    const WaitOptions &wait, std::stop_token stop)
{
	if (Result<void> ready = prepare(engine, wait); !ready)
		return started(engine, std::vector<Outcome>(options.size(), ready.error()));
	Promise<std::vector<Outcome>> promise;
	auto waiting =
		std::make_shared<ConnectWait>(engine, wait, [&engine, promise](std::vector<Outcome> all) mutable {
			promise.finish(engine, std::move(all));
		});
	waiting->endWith(std::move(stop));
	for (const ConnectOptions &one : options)
		waiting->start(one);
	Pending<std::vector<Outcome>> pending = promise.pending(waiting);
	engine.add(std::move(waiting));
	return pending;
}

Pending<Outcome> startConnect(Engine &engine, const ConnectOptions &options, const WaitOptions &wait)
{
	return startOne(engine, wait, [&](ConnectWait &waiting) { waiting.start(options); });
}

Pending<Outcome> startWait(Engine &engine, const std::string &controller, const WaitOptions &wait)
{
	return startOne(engine, wait, [&](ConnectWait &waiting) { waiting.join(controller); });
}

Pending<Outcome> startWait(Engine &engine, Result<Controller> controller, const WaitOptions &wait)
{
	return startOne(engine, wait, [&](ConnectWait &waiting) { waiting.add(std::move(controller)); });
}

Pending<Result<Removal>> startRemovals(Engine &engine, const std::vector<Controller> &controllers)
{
	Promise<Result<Removal>> promise;
	auto removal =
		std::make_shared<RemovalOperation>(engine, controllers, [&engine, promise](Removal done) mutable {
			promise.finish(engine, std::move(done));
		});
	Pending<Result<Removal>> pending = promise.pending(removal);
	engine.add(std::move(removal));
	return pending;
}

Pending<Result<void>> startRemoval(Engine &engine, const std::string &controller)
{
	Promise<Result<void>> promise;
	Controller one;
	one.name = controller;
	auto take = [&engine, promise](Removal done) mutable {
		bool failed = !done.failures.empty();
		promise.finish(engine, failed ? Result<void>(done.failures.front()) : Result<void>());
	};
	auto removal = std::make_shared<RemovalOperation>(engine, std::vector{one}, take, Missing::reported);
	Pending<Result<void>> pending = promise.pending(removal);
	engine.add(std::move(removal));
	return pending;
}

Pending<Result<void>> startRescan(Engine &engine, const std::string &controller)
{
	return startAnswer(engine, engine.session().startRescan(controller));
}

Pending<Result<void>> startSet(Engine &engine, const std::string &controller, const ControllerSettings &settings)
{
	const Result<Socket::Id> asked = engine.session().startSet(controller, settings);
	return asked ? startAnswer(engine, *asked) : started(engine, Result<void>(asked.error()));
}

} // namespace nofctl
