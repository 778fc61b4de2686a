// SPDX-License-Identifier: LGPL-2.1-or-later
#include "generate.h"

#include <span>

#include <fmt/format.h>

#include <nvmeof/client.h>

#include "command.h"
#include "exit_code.h"
#include "settings_table.h"

namespace {

// Escapes - (else a hyphen), \ (else an escape), and . or ' at the start of a line (else a request).
std::string roff(const std::string &text)
{
	std::string safe;
	for (char c : text) {
		if (c == '-')
			safe += "\\-";
		else if (c == '\\')
			safe += "\\e";
		else
			safe += c;
	}
	if (safe.starts_with('.') || safe.starts_with('\''))
		safe.insert(0, "\\&");
	return safe;
}

std::string bold(const std::string &text)
{
	return "\\fB" + roff(text) + "\\fR";
}

std::string italic(const std::string &text)
{
	return "\\fI" + roff(text) + "\\fR";
}

std::string optionHead(const Option &option)
{
	if (option.positional())
		return italic(option.longName);
	std::string text = option.shortName.empty() ? "" : bold(option.shortName) + ", ";
	text += bold(option.longName);
	if (option.flag())
		return text;
	return text + (option.mayLackValue ? "[=" + italic(option.value) + "]" : " " + italic(option.value));
}

std::string optionEntry(const Option &option)
{
	std::string note = valueNote(option);
	return fmt::format(".TP\n{}\n{}{}.\n", optionHead(option), roff(option.help),
			   note.empty() ? "" : roff(" (" + note + ")"));
}

std::string settingEntries(const char *whose, std::span<const SettingText> settings)
{
	std::string text = fmt::format(".PP\nSettings of a {}:\n", whose);
	for (const SettingText &setting : settings)
		text += fmt::format(".TP\n{}\n{}: {}; default {}.\n", bold(setting.name), roff(setting.meaning),
				    roff(setting.values), roff(setting.preset));
	return text;
}

std::string exampleText(const Command &command)
{
	std::string text;
	for (const Example &example : command.examples)
		text += fmt::format(".PP\nExample: {}\n.PP\n.nf\n.RS\n{}\n.RE\n.fi\n", roff(example.what),
				    roff(example.line));
	return text;
}

std::string synopsis(const Command &command)
{
	std::string text = bold("nvmeofctl") + " " + bold(command.path);
	const std::string withVerb = text + " " + italic("verb") + " [" + italic("options") + "]";
	if (!command.run)
		return withVerb;
	for (const Option &option : command.options) {
		std::string one = option.positional() || !option.required ? "" : " " + optionHead(option);
		if (option.positional())
			one = " " + italic(option.required ? option.longName : "[" + option.longName + "]") +
			      (option.repeated ? " ..." : "");
		text += one;
	}
	text += " [" + italic("options") + "]";
	return command.verbs.empty() ? text : text + "\n.br\n" + withVerb;
}

std::string section(const Command &command)
{
	std::string text =
		fmt::format(".SS {}\n{}\n.PP\n{}\n", roff(command.path), synopsis(command), roff(command.description));
	for (const Command &verb : command.verbs)
		text += fmt::format(".TP\n{}\n{}.\n", bold(verb.name), roff(verb.summary));
	for (const Option &option : command.options)
		text += optionEntry(option);
	if (command.settings) {
		text += settingEntries("subsystem", subsystemSettingTexts());
		text += settingEntries("controller", controllerSettingTexts());
	}
	return text + exampleText(command);
}

std::string exitStatus()
{
	std::string text = ".SH EXIT STATUS\n";
	for (int code = 0; code <= static_cast<int>(ExitCode::inUse); code++)
		text += fmt::format(".TP\n{}\n{}\n", bold(std::to_string(code)),
				    roff(describe(static_cast<ExitCode>(code))));
	return text + ".PP\nWith several addresses, connect ends with 0 when one of them is connected, or with " +
	       bold("--require all") + " when all are; else with the code of the first that failed.\n.PP\n" +
	       bold("doctor") +
	       " has exit codes of its own: 0 without findings, 1 with warnings, 2 with at least one problem.\n";
}

std::string commonEntries()
{
	std::string text = ".SH COMMON OPTIONS\nEvery command has these; they may stand before it, too.\n";
	for (const Option &option : commonOptions())
		text += optionEntry(option);
	return text + ".PP\n" + bold("nvmeofctl --version") + " prints the version of the program.\n";
}

constexpr const char *names = R"(.SH NAMES
.TP
.B nvmeof0
a subsystem, as seen with one host NQN and host ID
.TP
.B nvmeof0c1
a controller of it: one connection to one address
.TP
.B nvmeof0n1
a namespace of it: the disk /dev/nvmeof0n1
.TP
.B nvmeof0c1n1
a path: that namespace through that controller
)";

constexpr const char *tail = R"(.SH OUTPUT
Text is for people and may change. JSON carries a member schema_version; within one version members keep their
meaning, and new ones may be added.
A failure leaves a member error, or in the results of connect one for each address, with code, exit_code and message.
monitor prints one object on each line.
.SH FILES
.TP
.I /etc/nvme/hostnqn
the NQN of this host
.TP
.I /etc/nvme/hostid
the ID of this host, a UUID
.TP
.I /etc/nvmeof/nvmeof.toml, /etc/nvmeof/nvmeof.d/*.toml
the configuration: this host, discovery services, connections, how to connect and how subsystems are set by NQN, what
not to connect to. An error in it is told with its line. A commented example is
.I share/doc/nvmeof/examples/nvmeof.toml
.TP
.I /etc/nvmeof/policy.conf
that of older versions, which is still read: settings of subsystems by NQN, a rule a line: a pattern, then what
.B set
takes
.TP
.I /dev/nvmeof0n1, /dev/nvmeof0c1
a disk, and a controller for the ioctls of nvme\-cli
.TP
.I /sys/class/nvmeof, /sys/class/nvmeof\-subsystem
the same as
.B show
tells, to read
.SH ENVIRONMENT
.TP
.B NO_COLOR
where it is set and not empty,
.B top
has no colours
.SH SEE ALSO
.BR nvmeof.toml (5),
.BR nvmeofd (8),
.BR nvme (1),
.BR modprobe (8)
)";

} // namespace

std::string manPage()
{
	std::string text = fmt::format(
		".\\\" Generated by nvmeofctl itself\n.TH NVMEOFCTL 8 \"\" \"nvmeof {}\" \"System Administration\"\n",
		nvmeof::libraryVersion());
	text += ".SH NAME\nnvmeofctl \\- control of the nvmeof NVMe\\-over\\-Fabrics host\n";
	text += ".SH SYNOPSIS\n" + bold("nvmeofctl") + " " + italic("command") + " [" + italic("verb") + "] [" +
		italic("options") + "]\n";
	text += ".SH DESCRIPTION\nConnects this machine to NVMe subsystems over a network, and shows and changes what "
		"is connected, through the "
		"kernel module nvmeof. Times are in seconds, with fractions.\n";
	text += names;
	text += ".SH COMMANDS\n";
	for (const Command *command : shownCommands())
		text += section(*command);
	return text + commonEntries() + exitStatus() + tail;
}
