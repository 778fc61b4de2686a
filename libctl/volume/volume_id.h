// SPDX-License-Identifier: LGPL-2.1-or-later
// Identifies a volume within its subsystem: by one of the identifiers of a namespace.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <nvmeof/namespace.h>

namespace nofctl::volume {

using Nguid = std::array<std::uint8_t, 16>;
using Eui64 = std::array<std::uint8_t, 8>;

struct VolumeId {
	std::variant<nvmeof::Uuid, Nguid, Eui64, std::uint32_t> value; // uint32_t: NSID

	bool operator==(const VolumeId &) const = default;
	bool names(const nvmeof::Namespace &ns) const;
	// "uuid.6f1b2c3d-...", "nguid.<32 digits>", "eui.<16 digits>", "nsid.1"
	std::string toString() const;
	// The inverse of toString(). Hexadecimal digits in either case, with or without "-".
	static std::optional<VolumeId> parse(std::string_view text);
};

} // namespace nofctl::volume
