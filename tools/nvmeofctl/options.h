// SPDX-License-Identifier: LGPL-2.1-or-later
// Functions that build the options of the command table.
#pragma once

#include <string>
#include <vector>

#include "option.h"

namespace opt {

constexpr std::int64_t day = 86'400'000, anyTime = INT32_MAX; // ms
constexpr std::int64_t anyNumber = UINT32_MAX;

Option flag(std::string shortName, std::string longName, std::string help);
// @name: placeholder of the value
Option value(std::string shortName, std::string longName, std::string name, std::string help,
	     Completes completes = Completes::nothing);
Option positional(const std::string &name, std::string help, Completes completes = Completes::nothing);

Option required(Option option);
Option repeated(Option option);
Option oneOf(std::vector<std::string> choices, Option option);
Option of(Type type, Option option);
Option number(std::int64_t min, std::int64_t max, Option option);
Option time(std::int64_t min, std::int64_t max, Option option); // ms
Option preset(std::string holds, Option option);
// @option as another spelling of positional option @name
Option aliasOf(const std::string &name, Option option);

// A former spelling of the option @longName
Option oldSpelling(const std::string &longName, Option option);

// Concatenates the lists.
std::vector<Option> joined(std::vector<std::vector<Option>> all);
// @name, also as -d NAME, then @more
std::vector<Option> withName(Option name, std::vector<Option> more = {});
// @options, then those for host identity and local address
std::vector<Option> withHost(std::vector<Option> options);
// Options for connecting and reconnecting. The configuration file has them by the same names.
std::vector<Option> settingOptions();
Option setting(std::string shortName, const std::string &name, const std::string &called);

Option addresses(std::string help);
Option transportOption();
Option portOption(std::string usual);
Option configOption();
Option rootOption();
Option gpuOption();

} // namespace opt
