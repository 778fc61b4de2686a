// SPDX-License-Identifier: LGPL-2.1-or-later
#include "in_tree_driver.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nvmeof/discovery.h>

#include "exit_code.h"

using namespace nvmeof;

std::optional<std::string> inTreeConflict(const std::string &subsysnqn,
					  const std::vector<ForeignController> &controllers)
{
	if (controllers.empty() || subsysnqn == discoveryNqn)
		return std::nullopt;
	std::vector<std::string> words;
	words.reserve(controllers.size());
	for (const ForeignController &one : controllers)
		words.push_back(fmt::format("{} ({}, {})", one.name, one.transport, one.state));
	return fmt::format("the in-tree NVMe driver is connected to {}: {}", subsysnqn, fmt::join(words, ", "));
}

static Error asError(const std::string &message)
{
	Error error;
	error.message = message;
	return error;
}

static std::string nextStep(const std::string &subsysnqn)
{
	return fmt::format("unmount its disks, then 'nvme disconnect -n {}'; with --force each disk appears twice, and "
			   "mounting both destroys the file system",
			   subsysnqn);
}

int reportInTreeConflict(Context &context, const std::string &subsysnqn, const std::string &held)
{
	Json error = toJson(asError(held));
	error["code"] = "other_driver"; // no code of the library, which would connect
	if (context.json())
		context.print(Json{{"error", error}});
	context.complain("", asError(held), nextStep(subsysnqn));
	return static_cast<int>(ExitCode::otherDriver);
}

void warnInTreeConflict(Context &context, const std::string &subsysnqn, const std::string &held)
{
	context.warn("", asError(held), nextStep(subsysnqn));
}

Json warnDuplicateIdentifiers(Context &context, const std::vector<Namespace> &namespaces)
{
	Json all = Json::object();
	for (const Namespace &ns : namespaces) {
		std::vector<std::string> nodes;
		for (const Namespace &other : namespaces)
			if (other.subsystem != ns.subsystem && other.wwid == ns.wwid)
				nodes.push_back("/dev/" + other.name);
		if (nodes.empty())
			continue;
		all[ns.name] = nodes;
		context.warn("/dev/" + ns.name,
			     asError(fmt::format("{} in another subsystem has the same identifiers",
						 fmt::join(nodes, ", "))),
			     "links in /dev/disk/by-id point to only one of them");
	}
	return all;
}

Json warnInTreeDuplicates(Context &context, const std::vector<Namespace> &namespaces,
			  const std::vector<NvmeDisk> &disks)
{
	Json all = Json::object();
	for (const Namespace &ns : namespaces) {
		std::vector<std::string> nodes;
		for (const NvmeDisk &twin : foreignTwins(ns.name, disks))
			nodes.push_back("/dev/" + twin.name);
		if (nodes.empty())
			continue;
		all[ns.name] = nodes;
		std::string words =
			fmt::format("the in-tree NVMe driver has the same namespace as {}", fmt::join(nodes, ", "));
		context.warn("/dev/" + ns.name, asError(words),
			     "mount only one of them; links in /dev/disk point to the disk that appeared first");
	}
	return all;
}
