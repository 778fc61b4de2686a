// SPDX-License-Identifier: LGPL-2.1-or-later
// The host under test, through its library. Declare it after the targets of a test, so that it disconnects before they
// are destroyed.
#pragma once

#include "shell.h"

#include <nvmeof/nvmeof.h>

#include <optional>
#include <string>
#include <vector>

namespace guest {

constexpr const char *testNqn = "nqn.2024-01.io.nvmeof:test";

class Host {
public:
	// Loads the modules.
	Host();
	// Fails the test if requests are still in flight or waiting, then disconnects all controllers.
	~Host();
	Host(const Host &) = delete;
	Host &operator=(const Host &) = delete;

	nvmeof::Client &client() { return *client_; }

	static nvmeof::ConnectOptions options(const std::string &address, const std::string &service,
					      const std::string &nqn = testNqn);
	// Throws with the error's message.
	nvmeof::Controller connect(const nvmeof::ConnectOptions &options, Millis timeout = 20s);
	// Current state; a controller that no longer exists is "dead".
	nvmeof::Controller controller(const std::string &name);
	nvmeof::ControllerState state(const std::string &name);
	bool waitState(const std::string &name, nvmeof::ControllerState state, Millis timeout = 20s);
	bool waitGone(const std::string &name, Millis timeout = 20s);
	bool waitLost(const std::string &name, Millis timeout = 20s); // ctrl-loss-tmo has passed
	// Waits for the namespace and returns its device node; empty: timeout
	std::string disk(std::uint32_t nsid, Millis timeout = 10s, const std::string &nqn = testNqn);
	std::optional<nvmeof::Namespace> nameSpace(std::uint32_t nsid, const std::string &nqn = testNqn);
	std::vector<nvmeof::Path> paths();
	// Number of requests in flight or waiting, on all paths and namespaces
	std::uint32_t busy();
	void disconnectAll();

	// Removes all our modules in dependency order, without -f.
	static Output unload();
	static void load();
	static bool loaded();
	// The library's socket holds a reference on the module.
	void forget() { client_.reset(); }
	void reopen();
	// With lockdep, a socket holds the module that its lock class belongs to. In that case this disconnects all
	// controllers and returns true. Call it between reopen() and forget().
	bool releaseLockdepReferences();

private:
	std::optional<nvmeof::Client> client_;
};

// Changes a parameter of nvmeof.ko during its lifetime.
class ModuleParameter {
public:
	ModuleParameter(const std::string &name, const std::string &value);
	~ModuleParameter();
	ModuleParameter(const ModuleParameter &) = delete;
	ModuleParameter &operator=(const ModuleParameter &) = delete;

private:
	std::string file_, before_;
};

// Events since its construction
class Watch {
public:
	Watch();
	// Returns the first event that satisfies the condition; drops the events before it.
	std::optional<nvmeof::Event> find(const std::function<bool(const nvmeof::Event &)> &wanted,
					  Millis timeout = 10s);
	// All events until none has arrived for `quiet`
	std::vector<nvmeof::Event> drain(Millis quiet = 300ms);

private:
	nvmeof::EventStream stream_;
};

// The value of a Result; throws with the error's message.
template <class T> T take(nvmeof::Result<T> result)
{
	if (!result)
		throw std::runtime_error(result.error().message);
	return *std::move(result);
}

} // namespace guest
