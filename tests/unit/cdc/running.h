// SPDX-License-Identifier: LGPL-2.1-or-later
// A whole service in its own thread, with a store in a temporary directory.
#pragma once

#include <catch2/catch.hpp>

#include <future>
#include <thread>

#include <unistd.h>

#include "free_port.h"
#include "sample.h"
#include "control.h"
#include "tests/unit/scratch.h"
#include "service.h"
#include "sqlite_store.h"
#include "http_server.h"

namespace cdc {

class ServiceFixture {
public:
	explicit ServiceFixture(Control::Limits limits = {}) : limits(limits)
	{
		rules.listen = {{"127.0.0.1", std::to_string(freePort())}};
		rules.web = {{"127.0.0.1", std::to_string(freePort())}};
		rules.control = dir.path() / "control";
		rules.threads = 1;
		rules.drainMs = 0;
	}
	~ServiceFixture() { stop(); }

	ServiceFixture &start()
	{
		std::promise<bool> ready;
		auto waiting = ready.get_future();
		thread_ = std::thread([this, &ready] { run(ready); });
		REQUIRE(waiting.get());
		// The store reports this instance's own record asynchronously.
		for (bool joined = false; !joined;)
			in([&] { joined = !service->model().instances().empty(); });
		return *this;
	}
	void stop()
	{
		if (!thread_.joinable())
			return;
		if (!over_)
			in([this] { loop_->end(0); });
		thread_.join();
	}
	// Runs @work in the service's thread and waits for it.
	void in(const std::function<void()> &work)
	{
		std::promise<void> done;
		mailbox_->post([&] {
			work();
			done.set_value();
		});
		done.get_future().get();
	}
	void write(std::vector<Change> changes)
	{
		std::promise<bool> done;
		in([&] {
			service->write(changes, [&](nvmeof::Result<void> written) { done.set_value(written.ok()); });
		});
		CHECK(done.get_future().get());
	}
	std::string web() const { return "http://" + rules.web[0].toString(); }

	Scratch dir;
	Rules rules;
	Control::Limits limits;
	Service *service = nullptr;
	std::atomic<int> reloads{0};
	std::string problem; // error of the next reload; empty: none

private:
	void run(std::promise<bool> &ready)
	{
		runtime::Loop loop(runtime::Loop::Watchdog::none);
		runtime::Mailbox mailbox(loop);
		Service its(loop, rules, {selfId, "nqn.self", "serial", "0.0"},
			    std::make_unique<SqliteStore>(loop, dir.path() / "cdc.db"));
		Control control(loop, its,
				{.reload =
					 [&](ReloadMode mode,
					     const std::function<void(const nvmeof::Result<Reloaded> &)> &done) {
						 reloads++;
						 if (problem.empty())
							 reload(its, rules, mode, done);
						 else
							 done(nvmeof::errorFromErrno(EINVAL, problem));
					 },
				 .drain =
					 [&](const std::function<void()> &done) {
						 its.drain([&, done] {
							 done();
							 over_ = true;
							 loop.end(0);
						 });
					 }},
				limits);
		Web web(loop, its);
		const bool started =
			control.start(rules.control).ok() && web.start(rules.web).ok() && its.start([] {}).ok();
		loop_ = &loop;
		mailbox_ = &mailbox;
		service = &its;
		ready.set_value(started);
		loop.run();
	}

	std::atomic<bool> over_{false};
	runtime::Loop *loop_ = nullptr;
	runtime::Mailbox *mailbox_ = nullptr;
	std::thread thread_;
};

} // namespace cdc
