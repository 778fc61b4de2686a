// SPDX-License-Identifier: LGPL-2.1-or-later
// Converts netlink attributes to objects. The only place that maps attributes to members.
#pragma once

#include <cstdint>
#include <optional>

#include <nvmeof/client.h>

#include "message.h"

namespace nofctl {

/*
 * Required attributes: names, IDs and NQNs of objects; transport, address and state of controllers. Other attributes
 * may be missing, as with an older module; their members keep the default. An attribute of the wrong size is always an
 * error.
 */
nvmeof::Result<nvmeof::ModuleVersion> decodeVersion(const Attributes &attributes);
nvmeof::Result<nvmeof::Subsystem> decodeSubsystem(const Attributes &attributes);
nvmeof::Result<nvmeof::Controller> decodeController(const Attributes &attributes);
nvmeof::Result<nvmeof::Namespace> decodeNamespace(const Attributes &attributes);
nvmeof::Result<nvmeof::Path> decodePath(const Attributes &attributes);

// Nothing for a notification type that this library does not know.
nvmeof::Result<std::optional<nvmeof::Event>> decodeEvent(std::uint8_t command, const Attributes &attributes);

} // namespace nofctl
