// SPDX-License-Identifier: LGPL-2.1-or-later
// Detects namespaces that appear as two disks: through the in-tree driver as well, where mounting both disks destroys
// the file system, or in two subsystems.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nvmeof/foreign.h>
#include <nvmeof/namespace.h>

#include "context.h"

// The message that the in-tree driver is connected to the subsystem through @controllers. Empty if there are none, and
// for a discovery service, which has no disks.
std::optional<std::string> inTreeConflict(const std::string &subsysnqn,
					  const std::vector<nvmeof::ForeignController> &controllers);

// Reports @held as an error, with the next step. Returns the exit code.
int reportInTreeConflict(Context &context, const std::string &subsysnqn, const std::string &held);
void warnInTreeConflict(Context &context, const std::string &subsysnqn, const std::string &held);

// Warns about each namespace whose identifiers a namespace of another subsystem has, too. Returns the nodes of the
// others by namespace name, for the JSON document.
Json warnDuplicateIdentifiers(Context &context, const std::vector<nvmeof::Namespace> &namespaces);

// Warns about each namespace that is also a disk of the in-tree driver. Returns these disks by namespace name, for the
// JSON document.
Json warnInTreeDuplicates(Context &context, const std::vector<nvmeof::Namespace> &namespaces,
			  const std::vector<nvmeof::NvmeDisk> &disks);
