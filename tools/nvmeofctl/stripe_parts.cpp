// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stripe.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ostream>

#include <fnmatch.h>
#include <spawn.h>
#include <sys/wait.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libctl/stripe/members.h"

#include "configuration.h"
#include "context.h"
#include "format.h"
#include "libctl/base/file.h"
#include "table.h"

using namespace nvmeof;
using namespace nofctl::stripe;

extern char **environ;

namespace {

Error noSuchPart(std::string message)
{
	Error error = usageError(std::move(message));
	error.code = ErrorCode::noSuchObject;
	return error;
}

std::string plainName(const std::string &name)
{
	return name.substr(name.rfind('/') + 1);
}

} // namespace

Result<std::vector<Member>> wantedMembers(const Args &args, const Snapshot &all)
{
	std::vector<Member> found, members = membersOf(all);
	for (Member &one : members)
		readQueueLimits(one);
	for (const std::string &name : args.all("MEMBER")) {
		auto member = std::ranges::find(members, plainName(name), &Member::disk);
		if (member == members.end())
			return noSuchPart("there is no disk " + name);
		found.push_back(*member);
	}
	for (const std::string &pattern : args.all("nqn"))
		for (const Member &one : members)
			if (::fnmatch(pattern.c_str(), one.subsystem.c_str(), 0) == 0)
				found.push_back(one);
	if (found.empty())
		return usageError("no members: give disks, or subsystems with --nqn");
	return found;
}

Result<Layout> plannedLayout(const Args &args, std::vector<Member> members)
{
	Wish wish;
	wish.width = args.number("width").value_or(0);
	wish.keepOrder = args.has("keep-order");
	if (const std::optional<std::string> text = args.text("chunk")) {
		const std::optional<std::uint64_t> chunk = parseSize(*text);
		if (!chunk || !*chunk)
			return usageError("--chunk: '" + *text + "' is not a size such as 128KiB");
		wish.chunk = *chunk;
	}
	return planStripe(std::move(members), wish);
}

Result<void> allFree(const Args &args, const Layout &layout)
{
	for (const Member &one : layout.members)
		if (Result<void> good = checkFree(one, args.has("force")); !good)
			return good;
	return {};
}

std::vector<std::string> disksOf(const Layout &layout)
{
	std::vector<std::string> disks;
	for (const Member &one : layout.members)
		disks.push_back(one.disk);
	return disks;
}

ConfigStripe configOf(const std::string &name, const Layout &layout)
{
	ConfigStripe stripe;
	stripe.name = name;
	stripe.chunk = layout.chunk;
	for (const Member &one : layout.members)
		stripe.members.push_back(one.wwid);
	return stripe;
}

std::filesystem::path stripeFile(const Args &args, const std::string &name)
{
	std::filesystem::path folder = configFiles(args).main;
	return folder.replace_extension(".d") / ("stripe-" + name + ".toml");
}

Result<void> saveStripe(const Args &args, const ConfigStripe &stripe)
{
	const std::filesystem::path file = stripeFile(args, stripe.name);
	std::error_code ignored;
	std::filesystem::create_directories(file.parent_path(), ignored);
	Config config;
	config.stripes = {stripe};
	return nofctl::replaceFile(file,
				   "# Written by 'nvmeofctl stripe', which rewrites it when the stripe grows.\n" +
					   formatConfig(config),
				   0644, nofctl::Durable::yes);
}

std::string layoutText(const std::string &name, const Layout &layout)
{
	Table table({{"#", Align::right},
		     {"Disk"},
		     {"Subsystem"},
		     {"Size", Align::right},
		     {"Usable paths", Align::right},
		     {"Owner"}});
	for (std::size_t i = 0; i < layout.members.size(); i++) {
		const Member &one = layout.members[i];
		table.add({std::to_string(i), one.disk, one.subsystem, formatSize(one.bytes),
			   std::to_string(one.usable), one.owner});
	}
	std::string text = table.render() + "\n" +
			   renderFields({{"device", "/dev/mapper/" + name},
					 {"size", formatSize(layout.bytes)},
					 {"chunk", sizeText(layout.chunk)},
					 {"full stripe", sizeText(layout.fullStripe())}});
	for (const char *type : {"xfs", "ext4"})
		text += fmt::format("mkfs.{} {} /dev/mapper/{}\n", type,
				    fmt::join(*mkfsOptions(type, layout.chunk, layout.members.size()), " "), name);
	for (const std::string &note : layout.notes)
		text += "note: " + nofctl::printable(note) + "\n";
	return text;
}

Result<void> makeFileSystem(Context &context, const std::string &type, const std::string &name, const Layout &layout)
{
	Result<std::vector<std::string>> options = mkfsOptions(type, layout.chunk, layout.members.size());
	if (!options)
		return options.error();
	std::vector<std::string> words{"mkfs." + type};
	words.insert(words.end(), options->begin(), options->end());
	if (context.args().has("force"))
		words.push_back(type == "xfs" ? "-f" : "-F");
	words.push_back("/dev/mapper/" + name);
	context.note(name, fmt::format("{}", fmt::join(words, " ")));
	std::vector<char *> arguments;
	for (std::string &word : words)
		arguments.push_back(word.data());
	arguments.push_back(nullptr);
	// mkfs prints text for people: its stdout goes to stderr, like notes
	posix_spawn_file_actions_t actions;
	::posix_spawn_file_actions_init(&actions);
	::posix_spawn_file_actions_adddup2(&actions, 2, 1);
	pid_t child = 0;
	int status = 0;
	const int number = ::posix_spawnp(&child, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
	::posix_spawn_file_actions_destroy(&actions);
	if (number == 0)
		while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
		}
	if (number == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return {};
	Error error = errorFromErrno(number ? number : EIO);
	error.code = ErrorCode::failed;
	error.message = words[0] + (number ? ": " + std::string(std::strerror(number)) : " failed");
	return error;
}

Error stripeAbsent(const std::string &name)
{
	return noSuchPart("there is no stripe " + name);
}
