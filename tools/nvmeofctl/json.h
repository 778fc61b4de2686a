// SPDX-License-Identifier: LGPL-2.1-or-later
// Objects as JSON. Members keep their meaning within one schema version; new ones may come.
#pragma once

#include <string>

#include <nlohmann/json.hpp>
#include <nvmeof/client.h>
#include <nvmeof/event.h>

using Json = nlohmann::ordered_json;

inline constexpr int schemaVersion = 1;

Json withSchema(const Json &document);
// Text from the target need not be UTF-8; what is not is replaced. @indent -1: one line.
std::string dump(const Json &document, int indent);

Json toJson(const nvmeof::Subsystem &subsystem);
Json toJson(const nvmeof::Controller &controller);
Json toJson(const nvmeof::Namespace &ns);
Json toJson(const nvmeof::Path &path);
// Count, and where there is one: p50, p99, the end of the last bucket in use and whether it is open; the buckets.
Json toJson(const nvmeof::Histogram &histogram);
// Of reads and of writes, as in a path.
Json latencyJson(const nvmeof::Histogram &read, const nvmeof::Histogram &write);
Json toJson(const nvmeof::Aen &aen);
Json toJson(const nvmeof::Event &event);
Json toJson(const nvmeof::Error &error);
// Of a member that may be absent: its text, what it prints as, or "-"
std::string memberText(const Json &object, const char *key);
const char *kindOf(const nvmeof::AnyObject &object); // "subsystem", "controller", "namespace", "path"
