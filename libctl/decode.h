// SPDX-License-Identifier: LGPL-2.1-or-later
// From attributes to objects: the one place that knows which attribute is which member.
#pragma once

#include <cstdint>
#include <optional>

#include <nvmeof/client.h>

#include "attributes.h"

namespace nofctl {

/*
 * What names an object (its name, ids, addresses, state) must be there; a counter or description that is not, as from
 * an older module, keeps its default. An attribute of the wrong size is an error wherever it is.
 */
nvmeof::Result<nvmeof::ModuleVersion> decodeVersion(const Attributes &attributes);
nvmeof::Result<nvmeof::Subsystem> decodeSubsystem(const Attributes &attributes);
nvmeof::Result<nvmeof::Controller> decodeController(const Attributes &attributes);
nvmeof::Result<nvmeof::Namespace> decodeNamespace(const Attributes &attributes);
nvmeof::Result<nvmeof::Path> decodePath(const Attributes &attributes);

// Nothing for a notification that this library does not know.
nvmeof::Result<std::optional<nvmeof::Event>> decodeEvent(std::uint8_t command, const Attributes &attributes);

} // namespace nofctl
