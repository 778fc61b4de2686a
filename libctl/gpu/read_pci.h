// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "pci.h"
#include "tree.h"

namespace nofctl::gpu {

Pci readPci(const Tree &tree);

// Completes "07:00.0" to "0000:07:00.0"; empty if @text is not a PCI address.
std::string pciAddress(const std::string &text);

} // namespace nofctl::gpu
