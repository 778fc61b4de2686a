// SPDX-License-Identifier: LGPL-2.1-or-later
#include "disconnect_plan.h"

#include <algorithm>
#include <chrono>
#include <fnmatch.h>
#include <map>
#include <set>
#include <thread>

#include <fmt/format.h>

#include <nvmeof/name.h>

using namespace nvmeof;
using namespace std::chrono_literals;
using nofctl::volume::User;

namespace {

bool excepted(const Controller &controller, const Args &args)
{
	return std::ranges::any_of(args.all("except"), [&](const std::string &word) {
		return plainName(word) == controller.name ||
		       ::fnmatch(word.c_str(), controller.subsysnqn.c_str(), 0) == 0;
	});
}

// The current state of @disks. Disks that were removed meanwhile are left out.
Result<std::vector<Namespace>> openedOf(Client &client, const std::vector<Namespace> &disks)
{
	Result<std::vector<Namespace>> now = client.namespaces();
	if (now)
		std::erase_if(*now, [&](const Namespace &ns) {
			return ns.openers == 0 || std::ranges::find(disks, ns.name, &Namespace::name) == disks.end();
		});
	return now;
}

// @disks have openers. udev alone does not count; openers that this process cannot see do.
std::vector<DiskInUse> usersNow(const std::vector<Namespace> &disks)
{
	std::vector<DiskInUse> found;
	for (const Namespace &ns : disks) {
		std::vector<User> users = nofctl::volume::usersOf({}, ns.name);
		if (users.empty())
			users.push_back({"unseen", fmt::format("the kernel counts {} that cannot be seen from here",
							       ns.openers)});
		if (users = withoutUdev(std::move(users)); !users.empty())
			found.push_back({ns.name, std::move(users)});
	}
	return found;
}

bool lasting(const DiskInUse &disk)
{
	return std::ranges::any_of(disk.users,
				   [](const User &user) { return user.kind != "program" && user.kind != "unseen"; });
}

} // namespace

DisconnectPlan planDisconnect(std::vector<Controller> all, const Args &args)
{
	std::set<std::string> names;
	for (const std::string &word : args.all("NAME"))
		names.insert(plainName(word));
	std::erase_if(all, [&](const Controller &one) {
		return !args.has("all") && args.text("nqn") != one.subsysnqn && !names.contains(one.name);
	});
	return {.controllers = std::move(all), .kept = {}};
}

DisconnectPlan planDisconnectAll(std::vector<Controller> all, const Args &args)
{
	DisconnectPlan plan;
	for (Controller &one : all) {
		const bool spared = excepted(one, args);
		if (spared || (!one.owner.empty() && !args.has("owned")))
			plan.kept.push_back({std::move(one), spared});
		else
			plan.controllers.push_back(std::move(one));
	}
	return plan;
}

std::vector<Namespace> disksLostWith(const std::vector<Controller> &gone, const std::vector<Controller> &all,
				     const std::vector<Namespace> &namespaces, const std::vector<Path> &paths)
{
	struct Count {
		std::size_t paths = 0, usable = 0;
	};
	std::set<std::string> names;
	for (const Controller &one : gone)
		names.insert(one.name);
	std::map<std::string, Count> removed, remaining;
	for (const Path &path : paths) {
		Count &count = (names.contains(path.controller) ? removed : remaining)[path.nameSpace];
		count.paths++;
		count.usable += path.usable;
	}
	std::set<std::uint32_t> touched,
		others; // subsystems with a controller that is removed, and with one that is not
	for (const Controller &one : all)
		(names.contains(one.name) ? touched : others).insert(one.subsystem);
	std::vector<Namespace> lost;
	for (const Namespace &ns : namespaces) {
		const Count before = removed[ns.name], after = remaining[ns.name];
		// Without any path a disk still waits for one, until the last controller of its subsystem is removed.
		const bool waits = before.paths + after.paths == 0 && touched.contains(ns.subsystem) &&
				   !others.contains(ns.subsystem);
		if (waits || (before.paths && !after.paths) || (before.usable && !after.usable))
			lost.push_back(ns);
	}
	return lost;
}

std::vector<User> withoutUdev(std::vector<User> users)
{
	std::erase_if(users, [](const User &user) {
		return user.kind == "program" &&
		       (user.what.starts_with("(udev-worker)") || user.what.starts_with("systemd-udevd"));
	});
	return users;
}

Result<std::vector<DiskInUse>> disksInUse(Client &client, const std::vector<Namespace> &disks)
{
	for (auto deadline = std::chrono::steady_clock::now() + 2s;; std::this_thread::sleep_for(50ms)) {
		Result<std::vector<Namespace>> opened = openedOf(client, disks);
		if (!opened)
			return opened.error();
		std::vector<DiskInUse> found = usersNow(*opened);
		if (found.empty() || std::ranges::any_of(found, lasting) ||
		    std::chrono::steady_clock::now() >= deadline)
			return found;
	}
}
