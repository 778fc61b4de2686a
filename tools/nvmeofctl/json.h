// SPDX-License-Identifier: LGPL-2.1-or-later
// Objects as JSON. Members keep their meaning within one schema version; new ones may be added.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include <nvmeof/client.h>
#include <nvmeof/event.h>

using Json = nlohmann::ordered_json;

inline constexpr int schemaVersion = 1;

// Omits an empty text, so that programs need not distinguish "" from an absent member.
void putText(Json &json, const char *key, const std::string &text);

Json withSchema(const Json &document);
// Text from a target may be invalid UTF-8; invalid bytes are replaced. @indent -1: one line
std::string dump(const Json &document, int indent);

Json toJson(const nvmeof::Subsystem &subsystem);
Json toJson(const nvmeof::Controller &controller);
Json toJson(const nvmeof::Namespace &ns);
Json toJson(const nvmeof::Path &path);
// Count and buckets; unless the count is 0 also p50, p99, the end of the last bucket in use and whether it is open.
Json toJson(const nvmeof::Histogram &histogram);
// The member "latency" of a path.
Json latencyJson(const nvmeof::Histogram &read, const nvmeof::Histogram &write);
Json toJson(const nvmeof::Aen &aen);
Json toJson(const nvmeof::Event &event);
Json toJson(const nvmeof::Error &error);
// A member as text: a string as it is, another value as JSON, "-" if absent or null.
std::string memberText(const Json &object, const char *key);

/*
 * Members of an answer or a record that may be of another version: of another type or absent counts as empty. @object
 * may be anything, too.
 */
const Json &member(const Json &object, const char *key); // null
const Json &listOf(const Json &object, const char *key); // an empty array
bool isTrue(const Json &object, const char *key);
double numberOf(const Json &object, const char *key);    // 0
std::string textIn(const Json &object, const char *key); // ""

const char *kindOf(const nvmeof::AnyObject &object); // "subsystem", "controller", "namespace", "path"
