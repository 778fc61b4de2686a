// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "pci.h"
#include "tree.h"

namespace nofctl::gpu {

Pci readPci(const Tree &tree);

// "0000:07:00.0" from that, or from "07:00.0"; empty: it is neither.
std::string pciAddress(const std::string &text);

} // namespace nofctl::gpu
