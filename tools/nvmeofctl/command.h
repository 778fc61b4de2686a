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

// A command, or a verb of one
struct Command {
	std::string name;
	std::string summary; // one line, no full stop
	std::string description = {};
	std::vector<Option> options = {};
	int (*run)(Context &context) = nullptr; // null: one of its verbs has to be given
	std::vector<Example> examples = {};
	bool settings = false; // help lists the settings that there are
	bool hidden = false;
	std::vector<Command> verbs = {};
	// Filled in when the table is made:
	std::string path = {};        // "stripe create"
	std::vector<Option> all = {}; // optionsOf()
};

// Hidden ones last.
const std::vector<Command> &commands();
// Each command with its verbs behind it.
const std::vector<const Command *> &everyCommand();
// Hidden ones left out
std::vector<std::string> namesOf(const std::vector<Command> &commands);
// Null: there is none of that name.
const Command *findCommand(const std::vector<Command> &among, std::string_view name);
// By its path, "list" or "stripe create"
const Command *findCommand(std::string_view path);
// True for verbs of one command.
bool sameFamily(const Command &one, const Command &other);

const std::vector<Option> &commonOptions(); // of every command that is not hidden
// Its own and the common ones.
const std::vector<Option> &optionsOf(const Command &command);

int runConnect(Context &context);
int runConnectAll(Context &context);
int runConnectNbft(Context &context);
int runDiscover(Context &context);
int runDisconnectAll(Context &context);
int runImport(Context &context);
int runConfigCheck(Context &context);
int runConfigShow(Context &context);
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
int runDaemonStatus(Context &context);
int runDaemonReload(Context &context);
int runDaemonCall(Context &context); // rescan, pause, resume
int runCdcView(Context &context);    // and what the service is asked to do by one word
int runCdcSetTarget(Context &context);
int runCdcSetZone(Context &context);
int runCdcSetFile(Context &context);
int runCdcRemoveTarget(Context &context);
int runCdcRemoveName(Context &context);
int runCdcRemoveFile(Context &context);
int runEvents(Context &context);
int runMonitor(Context &context);
int runStats(Context &context);
int runTop(Context &context);
int runGenHostnqn(Context &context);
int runShowHostnqn(Context &context);
int runVersion(Context &context);
int runGdsCheck(Context &context);
int runGdsConfig(Context &context);
int runGdsRecord(Context &context);
int runMap(Context &context);
int runStripePlan(Context &context);
int runStripeCreate(Context &context);
int runStripeShow(Context &context);
int runStripeStart(Context &context);
int runStripeStop(Context &context);
int runStripeGrow(Context &context);
int runVolumeAttach(Context &context);
int runVolumeDetach(Context &context);
int runVolumeList(Context &context);
int runPlan(Context &context);
int runHelp(Context &context);
int runNames(Context &context);
int runGenerate(Context &context);
int runLinkFilter(Context &context); // for udev rules
int runLinkName(Context &context);   // likewise
int runLinkRank(Context &context);
