// SPDX-License-Identifier: LGPL-2.1-or-later
// An option of a command, and the type and range of its value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Suggestions of shell completion for the value of an option.
enum class Completes { nothing, controllers, nqns, objects, interfaces, files, settings };

// The parser rejects a value that is not of the type of its option.
enum class Type {
	text,
	number,      // integer of 32 bits
	time,        // in seconds, "0.5", "300ms"
	timeOrNever, // or -1
	port,
	nqn,
	uuid,
	address,    // numeric, without a port
	keySource,  // checked by libctl/keys/source.h
	stripeName, // checked by libctl/config/config_parse.h
};

struct Option {
	std::string shortName; // "-n" or empty
	std::string longName;  // "--nqn"; of a positional option its name: "NAME"
	std::string value;     // placeholder of the value: "NQN"; empty for a flag
	std::string help;      // no full stop
	bool required = false;
	bool repeated = false;
	std::vector<std::string> choices = {};
	Completes completes = Completes::nothing;
	Type type = Type::text;
	std::int64_t min = 0, max = 0; // range of a number, or of a time in milliseconds
	std::string preset = "";       // default, as shown in the help; empty: not shown
	std::string aliasOf = "";      // other spelling of the positional option of this name
	bool mayLackValue = false;     // --name or --name=VALUE
	bool secret = false;           // no message repeats the value
	bool old = false;              // former spelling: accepted with a notice, and not shown
	std::string wasNumber = "";    // the option that a number after the short name meant in older versions

	bool positional() const { return longName.front() != '-'; }
	bool flag() const { return value.empty() && !positional(); }
	// The next word is not its value.
	bool alone() const { return flag() || mayLackValue; }
	std::string key() const { return !aliasOf.empty() ? aliasOf : positional() ? longName : longName.substr(2); }
	// "-n, --nqn NQN"
	std::string heading() const;
};

// "16 to 1024", "0.001 to 86400 s"; empty if there is no limit.
std::string rangeOf(const Option &option);
// "16 to 1024; 128 if not given", with choices and unit; may be empty.
std::string valueNote(const Option &option);

// The error in @value, without the option's name: "'x' is not a number from 16 to 1024". Empty if it is valid.
std::optional<std::string> refusalOf(const Option &option, const std::string &value);
