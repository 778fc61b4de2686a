// SPDX-License-Identifier: LGPL-2.1-or-later
// The target uses the wire format definitions of libctl/wire, and its authentication.
#pragma once

#include "libctl/keys/dhchap.h"
#include "libctl/wire/discovery_log.h"
#include "libctl/wire/fabrics.h"
#include "libctl/wire/identify.h"
#include "libctl/wire/log_page.h"
#include "libctl/wire/pdu.h"
#include "libctl/wire/registration.h"

namespace target {

using namespace nofctl::wire;
using nofctl::Dhchap;
using nofctl::dhchapDhLength;
using nofctl::dhchapDigest;
using nofctl::dhchapHashLength;
using nofctl::dhchapMessage;
using nofctl::dhchapResponse;
using nofctl::DhKey;

} // namespace target
