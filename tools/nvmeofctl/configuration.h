// SPDX-License-Identifier: LGPL-2.1-or-later
// The configuration that a command goes by.
#pragma once

#include <string>

#include <nvmeof/config.h>

#include "args.h"

// The file that --config names, which has to be there, or the usual ones.
nvmeof::ConfigFiles configFiles(const Args &args);
nvmeof::Result<nvmeof::Config> configuration(const Args &args);
// What to do about one that cannot be used; empty: what is usual for that error.
std::string configStep(const nvmeof::Error &error);
