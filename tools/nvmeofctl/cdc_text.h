// SPDX-License-Identifier: LGPL-2.1-or-later
// What nvmeof-cdc tells, for people. Nothing is taken for granted in its documents: it may be of another version.
#pragma once

#include <string>

#include "json.h"

std::string cdcStatusText(const Json &status);
std::string cdcHostsText(const Json &document);
std::string cdcTargetsText(const Json &document);
std::string cdcZonesText(const Json &document);
std::string cdcInstancesText(const Json &document);
std::string cdcChangeText(const Json &change); // lines
