// SPDX-License-Identifier: LGPL-2.1-or-later
// Options, output streams and exit codes of a command.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include <nvmeof/client.h>
#include <nvmeof/error.h>

#include "command.h"
#include "json.h"
#include "parse.h"

class Context {
public:
	Context(const Command &command, Args args, std::ostream &out, std::ostream &err);

	const Command &command() const { return command_; }
	const Args &args() const { return args_; }
	bool json() const { return json_; }
	std::ostream &out() { return out_; }

	// Prints a document, with schema_version as its first member.
	void print(const Json &document);

	// Reports an error of @subject (may be empty) and the next step; with --json also as a document. Returns the
	// exit code.
	int fail(std::string_view subject, const nvmeof::Error &error, std::string_view nextStep = {});
	// Like fail(), but text only, for commands whose document has the errors.
	int complain(std::string_view subject, const nvmeof::Error &error, std::string_view nextStep = {});

	// Writes a remark that is not part of the result to stderr.
	void note(std::string_view subject, std::string_view text);
	// Reports a problem that does not make the command fail.
	void warn(std::string_view subject, const nvmeof::Error &error, std::string_view nextStep);

private:
	void say(std::string_view subject, std::string_view kind, const nvmeof::Error &error,
		 std::string_view nextStep);

	const Command &command_;
	Args args_;
	bool json_;
	std::ostream &out_;
	std::ostream &err_;
};

// Default next step for the code of an error; may be empty.
std::string usualNextStep(const nvmeof::Error &error);

// Exit codes of nvmeofctl, which are part of its interface. "doctor" has its own: 0 without findings, 1 with warnings,
// 2 with problems.
enum class ExitCode {
	done = 0,
	failed = 1,
	usage = 2,
	noSuchObject = 3,
	alreadyConnected = 4,
	refused = 5,
	timedOut = 6,
	notPermitted = 7,
	noModule = 8,
	otherDriver = 9,
	inUse = 10,
};

ExitCode exitCodeOf(nvmeof::ErrorCode code);

// The meaning of each code, for the manual page
const char *describe(ExitCode code);
