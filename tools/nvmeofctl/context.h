// SPDX-License-Identifier: LGPL-2.1-or-later
// What a command runs with: its options, and where its output goes.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include <nvmeof/client.h>
#include <nvmeof/error.h>

#include "args.h"
#include "command.h"
#include "json.h"

class Context {
public:
	Context(const Command &command, Args args, std::ostream &out, std::ostream &err);

	const Command &command() const { return command_; }
	const Args &args() const { return args_; }
	bool json() const { return json_; }
	std::ostream &out() { return out_; }

	// A document, with the schema version put first.
	void print(const Json &document);

	// Says what went wrong with @subject (may be empty) and what to do next. Returns the exit code.
	int fail(std::string_view subject, const nvmeof::Error &error, std::string_view nextStep = {});
	// The same, text only, for commands whose document carries the errors.
	int complain(std::string_view subject, const nvmeof::Error &error, std::string_view nextStep = {});

	// What is worth knowing, and is no result: to stderr.
	void note(std::string_view subject, std::string_view text);
	// Something that is wrong while the command itself has done what it was asked for.
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

// A next step that fits the kind of error whatever the command; may be empty.
std::string usualNextStep(const nvmeof::Error &error);
