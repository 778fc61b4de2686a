// SPDX-License-Identifier: LGPL-2.1-or-later
// HKDF (RFC 5869) by OpenSSL, with the labels of TLS 1.3 (RFC 8446, 7.1).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nvmeof/result.h>

#include "secret.h"

namespace nofctl {

enum class HkdfMode {
	expand,           // HKDF-Expand(key, info)
	extractAndExpand, // HKDF-Expand(HKDF-Extract(0, key), info)
};

// @info: see hkdfLabel(). Errors: failed, if OpenSSL has no HKDF with this hash function.
nvmeof::Result<SecretBytes> hkdf(HkdfMode mode, KeyHash hash, const SecretBytes &key, const std::string &info,
				 std::size_t length);

// HkdfLabel, for HKDF-Expand-Label(secret, @label, @context, @length); neither has more than 249 and 255 bytes.
std::string hkdfLabel(std::string_view label, std::string_view context, std::size_t length);

} // namespace nofctl
