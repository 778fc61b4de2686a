// SPDX-License-Identifier: LGPL-2.1-or-later
// The target uses the wire format definitions of libctl/wire.
#pragma once

#include "libctl/wire/discovery_log.h"
#include "libctl/wire/fabrics.h"
#include "libctl/wire/identify.h"
#include "libctl/wire/log_page.h"
#include "libctl/wire/pdu.h"
#include "libctl/wire/registration.h"

namespace target {

using namespace nofctl::wire;

} // namespace target
