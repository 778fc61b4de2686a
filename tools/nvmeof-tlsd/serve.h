// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <nvmeof/result.h>

#include "handshake_family.h"

namespace tlsd {

// Does the handshakes of @queue, which are those of @family, until SIGTERM or SIGINT; while another program listens for
// them, only those that it leaves. @debug: log successes, too. Errors: failed, before it has begun.
nvmeof::Result<void> serve(HandshakeFamily &family, HandshakeQueue &queue, bool debug);

} // namespace tlsd
