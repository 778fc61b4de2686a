// SPDX-License-Identifier: LGPL-2.1-or-later
// An option of a command, and what its value has to be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What a shell offers for the value of an option.
enum class Completes { nothing, controllers, nqns, objects, interfaces, files, settings };

// What is not of its type the parser refuses.
enum class Type {
	text,
	number,      // whole, of 32 bits
	time,        // in seconds, "0.5", "300ms"
	timeOrNever, // and -1
	port,
	nqn,
	uuid,
	address,    // numeric, without a port
	stripeName, // as libctl/stripe_name.h has it
};

struct Option {
	std::string shortName; // "-n" or empty
	std::string longName;  // "--nqn"; for a positional one its name: "NAME"
	std::string value;     // what the value is called: "NQN"; empty for a flag
	std::string help;      // no full stop
	bool required = false;
	bool repeated = false;
	std::vector<std::string> choices = {};
	Completes completes = Completes::nothing;
	Type type = Type::text;
	std::int64_t least = 0, most = 0; // of a number or, in milliseconds, of a time
	std::string preset = "";          // what holds if it is not given, for people; empty: nothing to tell
	std::string sameAs = "";          // another spelling of the positional one of that name
	bool mayLackValue = false;        // --name or --name=VALUE
	bool secret = false;              // no message repeats the value

	bool positional() const { return longName.front() != '-'; }
	bool flag() const { return value.empty() && !positional(); }
	// The word behind it is not its value.
	bool alone() const { return flag() || mayLackValue; }
	std::string key() const { return !sameAs.empty() ? sameAs : positional() ? longName : longName.substr(2); }
	// "-n, --nqn NQN"
	std::string heading() const;
};

// "16 to 1024", "0.001 to 86400 s"; empty where there is no range to tell of.
std::string rangeOf(const Option &option);
// "16 to 1024; 128 if not given", with choices and unit; may be empty.
std::string valueNote(const Option &option);

// What is wrong with @value, without the option's name: "'x' is not a number from 16 to 1024".
std::optional<std::string> refusalOf(const Option &option, const std::string &value);
