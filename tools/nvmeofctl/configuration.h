// SPDX-License-Identifier: LGPL-2.1-or-later
// The configuration that a command uses.
#pragma once

#include <string>

#include <nvmeof/config.h>

#include "parse.h"

// The file named by --config, which must exist, or the default files.
nvmeof::ConfigFiles configFiles(const Args &args);
nvmeof::Result<nvmeof::Config> configuration(const Args &args);
// Next step for a configuration that cannot be used; empty: usualNextStep() applies.
std::string configStep(const nvmeof::Error &error);
