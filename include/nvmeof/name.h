// SPDX-License-Identifier: LGPL-2.1-or-later
// Names of objects: nvmeof0, nvmeof0c1, nvmeof0n1, nvmeof0c1n1.
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

// Accepts a leading /dev/ too. Says nothing about whether such an object exists.
std::optional<ObjectName> parseName(std::string_view text);
// The same as text: without /dev/. What is no name stays as it is.
std::string plainName(std::string_view text);

} // namespace nvmeof
