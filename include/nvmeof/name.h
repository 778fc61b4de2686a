// SPDX-License-Identifier: LGPL-2.1-or-later
// Object names: nvmeof0 (subsystem), nvmeof0c1 (controller), nvmeof0n1 (namespace), nvmeof0c1n1 (path).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nvmeof {

enum class ObjectKind { subsystem, controller, nameSpace, path };

const char *toString(ObjectKind kind); // "subsystem", "controller", "namespace", "path"

struct ObjectName {
	std::uint32_t subsystem = 0;
	std::optional<std::uint32_t> controller;
	std::optional<std::uint32_t> nameSpace;

	bool operator==(const ObjectName &) const = default;
	ObjectKind kind() const;
	std::string toString() const;
};

// Accepts a leading /dev/. Does not check that the object exists.
std::optional<ObjectName> parseName(std::string_view text);
// The same as text, without /dev/. Other text is returned unchanged.
std::string plainName(std::string_view text);

} // namespace nvmeof
