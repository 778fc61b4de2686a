// SPDX-License-Identifier: LGPL-2.1-or-later
// import: writes the configuration of other host software as nvmeof.toml.
#include <filesystem>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "context.h"
#include "documents.h"
#include "import.h"
#include "libctl/base/file.h"
#include "table.h"

using namespace nvmeof;

namespace {

Result<std::string> read(const std::string &file)
{
	constexpr std::size_t largest = 1 << 20;
	return nofctl::readWholeFile(file, largest);
}

std::string describe(const NotCarried &one)
{
	return nofctl::printable(fmt::format("{}: {}: {}", one.place.toString(), one.key, one.reason));
}

// Several files may name the same target: keeps the first of each.
void dropDoubles(Config &config)
{
	for (auto *targets : {&config.services, &config.connections}) {
		std::vector<ConfigTarget> kept;
		for (ConfigTarget &one : *targets) {
			auto same = [&](const ConfigTarget &other) {
				return other.transport == one.transport && other.addresses == one.addresses &&
				       other.port == one.port && other.nqn == one.nqn && other.hostnqn == one.hostnqn &&
				       other.hostTraddr == one.hostTraddr && other.hostIface == one.hostIface;
			};
			if (std::ranges::none_of(kept, same))
				kept.push_back(std::move(one));
		}
		*targets = std::move(kept);
	}
}

std::string written(const Import &into, const std::vector<std::string> &files)
{
	std::string text = fmt::format("# Written by 'nvmeofctl import' from {}\n",
				       nofctl::printable(fmt::format("{}", fmt::join(files, ", "))));
	for (const NotCarried &one : into.notCarried)
		text += "# Not carried over: " + describe(one) + "\n";
	return text + "\n" + formatConfig(into.config);
}

Result<void> put(const Args &args, const std::string &text)
{
	const std::string file = args.textOr("output", "");
	std::error_code ignored;
	if (std::filesystem::exists(std::filesystem::symlink_status(file, ignored)) && !args.has("force")) {
		Error error = errorFromErrno(EEXIST, file + " exists already");
		error.code = ErrorCode::failed;
		return error;
	}
	return nofctl::replaceFile(file, text, 0644, nofctl::Durable::yes);
}

} // namespace

int runImport(Context &context)
{
	std::vector<std::string> files = context.args().all("FILE");
	if (files.empty())
		files = importPlaces();
	if (files.empty())
		return context.fail("", usageError("no file to import found; give the files"));
	Import into;
	for (const std::string &file : files) {
		Result<std::string> text = read(file);
		if (!text)
			return context.fail("", text.error(), "give the files to import");
		if (Result<void> done = importText(into, *text, file); !done)
			return context.fail("", done.error());
	}
	dropDoubles(into.config);
	const std::string text = written(into, files);
	if (context.args().has("output"))
		if (Result<void> done = put(context.args(), text); !done)
			return context.fail("", done.error(),
					    done.error().sysErrno == EEXIST ? "--force overwrites it" : "");
	for (const NotCarried &one : into.notCarried)
		context.note("not carried over", describe(one));
	if (context.json())
		context.print(importDocument(files, into.notCarried, text));
	else if (!context.args().has("output"))
		context.out() << text;
	return 0;
}
