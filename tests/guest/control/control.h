// SPDX-License-Identifier: LGPL-2.1-or-later
// Helpers that run nvmeofctl.
#pragma once

#include "support/shell.h"
#include "support/transport.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <string>

namespace guest {

// Exit codes of nvmeofctl
enum {
	done = 0,
	failed = 1,
	usage = 2,
	noObject = 3,
	already = 4,
	refused = 5,
	timedOut = 6,
	notPermitted = 7,
	noModule = 8,
	otherDriver = 9,
	inUse = 10
};

// Arguments of a connect: "connect -t tcp -n NQN ADDRESSES"
inline std::string connectTo(const std::string &addresses, const std::string &nqn = "nqn.2024-01.io.nvmeof:test")
{
	return "connect -t " + transport() + " -n " + nqn + " " + addresses;
}

inline std::string connectArgs()
{
	return connectTo("-a " + here() + ":4420");
}

inline Output ctl(const std::string &args)
{
	return run("nvmeofctl " + args);
}

inline int status(const std::string &args)
{
	auto out = ctl(args);
	INFO(args << ": " << out.text);
	CHECK((out.status == 0 || !out.text.empty())); // a failure prints a message
	return out.status;
}

inline nlohmann::json json(const std::string &args)
{
	return nlohmann::json::parse(must("nvmeofctl " + args + " --json"));
}

inline bool namesIt(const std::string &text, const std::string &name)
{
	return text.find(name) != std::string::npos;
}

// Name of the only subsystem. Its number varies, because numbers are not reused at once.
inline std::string subsystem0()
{
	auto names = must("ls /sys/class/nvmeof-subsystem");
	return names.substr(0, names.find('\n'));
}

// Sockets that have subscribed to events
inline unsigned long listeners()
{
	return std::stoul(must("awk '$2 == 16 && $4 != \"00000000\"' /proc/net/netlink | wc -l"));
}

} // namespace guest
