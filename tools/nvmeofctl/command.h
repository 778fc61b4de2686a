// SPDX-License-Identifier: LGPL-2.1-or-later
// The table of commands, from which parser, help, completions and manual page are generated.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "option.h"

class Context;

// A command line, and its purpose.
struct Example {
	std::string what, line;
};

// A command, or a verb of one
struct Command {
	std::string name;
	std::string summary; // one line, no full stop
	std::string description = {};
	std::vector<Option> options = {};
	int (*run)(Context &context) = nullptr; // null: a verb is required
	std::vector<Example> examples = {};
	bool settings = false; // help lists the settings of "set"
	bool hidden = false;
	std::vector<Command> verbs = {};
	std::string exitStatus = {}; // if other than that of all commands: one sentence
	std::string instead = {};    // of an old spelling, which is hidden: the path of the command that replaces it
	// Filled in when the table is built:
	std::string path = {};        // "stripe create"
	std::vector<Option> all = {}; // optionsOf()
	std::string group = {};       // heading in the list of commands; not set for verbs and hidden commands
};

// Hidden commands are last.
const std::vector<Command> &commands();
// All commands and verbs; a command precedes its verbs.
const std::vector<const Command *> &everyCommand();
// Without hidden commands
std::vector<std::string> namesOf(const std::vector<Command> &commands);
// Null if there is none of that name.
const Command *findCommand(const std::vector<Command> &among, std::string_view name);
// @path: "list" or "stripe create". Null if there is none.
const Command *findCommand(std::string_view path);
// The former spelling @name of the command at path @instead. The program accepts it, and prints a notice.
Command oldSpelling(std::string name, std::string instead);
// @command or, for an old spelling, the command that replaces it.
const Command &currentOf(const Command &command);
// True if both begin with the same command name, as verbs of one command do.
bool sameFamily(const Command &one, const Command &other);

const std::vector<Option> &commonOptions(); // of every command that is not hidden
// Own and common options.
const std::vector<Option> &optionsOf(const Command &command);

// The commands with verbs (commands_with_verbs.cpp)
Command volumeCommand();
Command daemonCommand();
Command cdcCommand();
Command gdsCommand();
Command stripeCommand();
Command configCommand();
Command keyCommand();

int runConnect(Context &context);
int runConnectAll(Context &context);
int runConnectNbft(Context &context);
int runDiscover(Context &context);
int runDisconnectAll(Context &context);
int runImport(Context &context);
int runConfigCheck(Context &context);
int runConfigShow(Context &context);
int runConfigKeys(Context &context);
int runDisconnect(Context &context);
int runKeyGenerate(Context &context);
int runKeyCheck(Context &context);
int runKeyInsert(Context &context);
int runKeyList(Context &context);
int runKeyRevoke(Context &context);
int runKeyImport(Context &context);
int runKeyExport(Context &context);
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
int runCdcView(Context &context);    // requests with the command's name and without records: status, backup, ...
int runCdcList(Context &context);    // of hosts, targets or zones
int runCdcSetTarget(Context &context);
int runCdcSetZone(Context &context);
int runCdcSetFile(Context &context);
int runCdcRemoveTarget(Context &context);
int runCdcRemoveName(Context &context); // a host or a zone
int runCdcRemoveFile(Context &context);
int runDoctor(Context &context);
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
