// SPDX-License-Identifier: LGPL-2.1-or-later
// The host under test, through its library. Declare it after the targets of a test: it goes before them, and with it
// everything that was connected.
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
	// Nothing may be in flight or waiting any more; then disconnects.
	~Host();
	Host(const Host &) = delete;
	Host &operator=(const Host &) = delete;

	nvmeof::Client &client() { return *client_; }

	static nvmeof::ConnectOptions options(const std::string &address, const std::string &service,
					      const std::string &nqn = testNqn);
	// Throws with the error's message.
	nvmeof::Controller connect(const nvmeof::ConnectOptions &options, Millis timeout = 20s);
	// Present state; a controller that is gone is "dead".
	nvmeof::Controller controller(const std::string &name);
	nvmeof::ControllerState state(const std::string &name);
	bool waitState(const std::string &name, nvmeof::ControllerState state, Millis timeout = 20s);
	bool waitGone(const std::string &name, Millis timeout = 20s);
	bool waitLost(const std::string &name, Millis timeout = 20s); // its ctrl-loss-tmo has passed
	// Node of the namespace; waits for it. Empty: it did not come.
	std::string disk(std::uint32_t nsid, Millis timeout = 10s, const std::string &nqn = testNqn);
	std::optional<nvmeof::Namespace> nameSpace(std::uint32_t nsid, const std::string &nqn = testNqn);
	std::vector<nvmeof::Path> paths();
	// What is in flight or waits on any path or namespace.
	std::uint32_t busy();
	void disconnectAll();

	// Without -f, of all our modules, in the order of their use.
	static Output unload();
	static void load();
	static bool loaded();
	// The library's socket has to go before the module can.
	void forget() { client_.reset(); }
	void reopen();
	// Where lockdep is, a socket holds the module that its lock's class is of. There this disconnects
	// all controllers, between reopen() and forget(): true.
	bool letSocketsGo();

private:
	std::optional<nvmeof::Client> client_;
};

// A parameter of nvmeof.ko has another value for as long as this is there.
class ModuleParameter {
public:
	ModuleParameter(const std::string &name, const std::string &value);
	~ModuleParameter();
	ModuleParameter(const ModuleParameter &) = delete;
	ModuleParameter &operator=(const ModuleParameter &) = delete;

private:
	std::string file_, before_;
};

// Events from now on
class Watch {
public:
	Watch();
	// The first event that satisfies the condition; what came before it is dropped.
	std::optional<nvmeof::Event> find(const std::function<bool(const nvmeof::Event &)> &wanted,
					  Millis timeout = 10s);
	// Everything that comes until it has been quiet for so long
	std::vector<nvmeof::Event> drain(Millis quiet = 300ms);

private:
	nvmeof::EventStream stream_;
};

// A value out of a Result, or an exception with its message.
template <class T> T take(nvmeof::Result<T> result)
{
	if (!result)
		throw std::runtime_error(result.error().message);
	return *std::move(result);
}

} // namespace guest
