// SPDX-License-Identifier: LGPL-2.1-or-later
// Text output of the answers of nvmeof-cdc. The service may be of another version, so any member may be absent.
#pragma once

#include <string>

#include "json.h"

std::string cdcStatusText(const Json &status);
std::string cdcHostsText(const Json &document);
std::string cdcTargetsText(const Json &document);
std::string cdcZonesText(const Json &document);
std::string cdcInstancesText(const Json &document);
std::string cdcChangeText(const Json &change); // one or more lines
