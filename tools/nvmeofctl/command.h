// SPDX-License-Identifier: LGPL-2.1-or-later
// What nvmeofctl can do: one table, from which the parser, the completions and the manual page are made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

class Context;

// What a shell offers for the value of an option.
enum class Completes { nothing, controllers, nqns, objects, interfaces };

struct Option {
	std::string shortName; // "-n" or empty
	std::string longName;  // "--nqn"; for a positional one its name: "NAME"
	std::string value;     // what the value is called: "NQN"; empty for a flag
	std::string help;
	bool required = false;
	bool repeated = false;
	std::vector<std::string> choices = {};
	Completes completes = Completes::nothing;

	bool positional() const { return longName.front() != '-'; }
	bool flag() const { return value.empty() && !positional(); }
	std::string key() const { return positional() ? longName : longName.substr(2); } // in Args
};

struct Command {
	std::string name;
	std::string summary; // one line, no full stop
	std::string description;
	std::vector<Option> options;
	int (*run)(Context &context);
	bool hidden = false;
};

// Hidden ones last.
const std::vector<Command> &commands();
const Command *findCommand(std::string_view name);

// Its own options and those that every command has.
std::vector<Option> optionsOf(const Command &command);

int runConnect(Context &context);
int runDiscover(Context &context);
int runDisconnect(Context &context);
int runList(Context &context);
int runListSubsys(Context &context);
int runShow(Context &context);
int runReset(Context &context);
int runRescan(Context &context);
int runSet(Context &context);
int runApplyPolicy(Context &context);
int runMonitor(Context &context);
int runStats(Context &context);
int runTop(Context &context);
int runGenHostnqn(Context &context);
int runShowHostnqn(Context &context);
int runVersion(Context &context);
int runNames(Context &context);
int runGenerate(Context &context);
