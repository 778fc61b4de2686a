// SPDX-License-Identifier: LGPL-2.1-or-later
// What has one name and is there twice: by the in-tree driver on the same target, through both of which a mounted file
// system is lost; by two subsystems.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nvmeof/foreign.h>
#include <nvmeof/namespace.h>

#include "context.h"

// That the in-tree driver is connected to the subsystem, for which these are its controllers; nothing when there are
// none, or it is a discovery service, which has no disks.
std::optional<std::string> heldByOther(const std::string &subsysnqn,
				       const std::vector<nvmeof::ForeignController> &controllers);

// Says so, with what to do; returns the exit code.
int refuseForOther(Context &context, const std::string &subsysnqn, const std::string &held);
void warnOfOther(Context &context, const std::string &subsysnqn, const std::string &held);

// Warns of each of these namespaces whose identifiers one of another subsystem has. Returns, for programs, the nodes of
// those others by the name of each.
Json warnOfSame(Context &context, const std::vector<nvmeof::Namespace> &namespaces);

// Warns of each of these namespaces that is a disk of the in-tree driver's, too. Returns, for programs, those disks by
// the name of ours.
Json warnOfTwins(Context &context, const std::vector<nvmeof::Namespace> &namespaces,
		 const std::vector<nvmeof::NvmeDisk> &disks);
