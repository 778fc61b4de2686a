// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <nvmeof/suggest.h>

using nvmeof::closest;
