// SPDX-License-Identifier: LGPL-2.1-or-later
// What nvmeofctl can do: one table, from which the parser, the completions and the manual page are made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "option.h"

class Context;

// A line that somebody could type, and what for.
struct Example {
	std::string what, line;
};

struct Command {
	std::string name;
	std::string summary; // one line, no full stop
	std::string description = {};
	std::vector<Option> options = {};
	int (*run)(Context &context) = nullptr;
	std::vector<Example> examples = {};
	bool settings = false; // help lists the settings that there are
	bool hidden = false;
	std::vector<Option> all = {}; // optionsOf(); filled in when the table is made
};

// Hidden ones last.
const std::vector<Command> &commands();
const Command *findCommand(std::string_view name);

const std::vector<Option> &commonOptions(); // of every command that is not hidden
// Its own and the common ones.
const std::vector<Option> &optionsOf(const Command &command);

int runConnect(Context &context);
int runConnectAll(Context &context);
int runConnectNbft(Context &context);
int runDiscover(Context &context);
int runDisconnectAll(Context &context);
int runImport(Context &context);
int runConfig(Context &context);
int runDisconnect(Context &context);
int runList(Context &context);
int runListSubsys(Context &context);
int runNbft(Context &context);
int runShow(Context &context);
int runReservation(Context &context);
int runReset(Context &context);
int runRescan(Context &context);
int runSet(Context &context);
int runApplyPolicy(Context &context);
int runShutdown(Context &context);
int runUpgrade(Context &context);
int runDaemon(Context &context);
int runCdc(Context &context);
int runEvents(Context &context);
int runMonitor(Context &context);
int runStats(Context &context);
int runTop(Context &context);
int runGenHostnqn(Context &context);
int runShowHostnqn(Context &context);
int runVersion(Context &context);
int runGds(Context &context);
int runMap(Context &context);
int runStripe(Context &context);
int runPlan(Context &context);
int runHelp(Context &context);
int runNames(Context &context);
int runGenerate(Context &context);
int runLinkFilter(Context &context); // for udev rules
int runLinkName(Context &context);   // likewise
int runLinkRank(Context &context);
