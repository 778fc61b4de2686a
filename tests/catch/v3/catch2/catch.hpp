// SPDX-License-Identifier: LGPL-2.1-or-later
// Stands for the one header of Catch2 2, by the name that tests include, where there is Catch2 3: Debian 13.
#pragma once

#include <catch2/catch_all.hpp>

namespace Catch {

inline auto Contains(const std::string &part)
{
	return Matchers::ContainsSubstring(part);
}

using TestEventListenerBase = EventListenerBase;

} // namespace Catch

using Catch::Approx;
