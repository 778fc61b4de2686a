// SPDX-License-Identifier: LGPL-2.1-or-later
// gds config: cufile.json for this machine. Shows the changes, and makes them with --write.
#include "gds_config.h"

#include <filesystem>
#include <ostream>

#include <fmt/format.h>

#include "libctl/gpu/cufile.h"
#include "libctl/gpu/rails.h"
#include "libctl/gpu/route.h"

#include "context.h"
#include "gpu_documents.h"
#include "libctl/base/file.h"
#include "machine.h"
#include "table.h"

using namespace nvmeof;
using namespace nofctl::gpu;

namespace {

constexpr const char *defaultCufile = "/etc/cufile.json";

using Addresses = std::vector<std::pair<std::string, std::vector<std::string>>>;

Addresses addressesOfCards(const Tree &tree, const Node &node)
{
	Addresses all;
	for (const PciDevice *card : node.pci.of(Kind::nic))
		for (const std::string &interface : card->nets)
			all.emplace_back(interface, addressesOf(tree, interface));
	return all;
}

// Empty if the file does not exist.
Result<std::string> readOld(const std::string &file)
{
	constexpr std::size_t largest = 64 << 10;
	Result<std::string> text = nofctl::readWholeFile(file, largest);
	if (!text && text.error().sysErrno == ENOENT)
		return std::string();
	return text ? text : usageError(text.error().message);
}

std::string explained(const CufilePlan &plan)
{
	Table settings({{"Key"}, {"Value"}, {"Why"}}), mounts({{"Mount"}, {"Transfers"}, {"Why"}});
	for (const CufileSetting &one : plan.settings)
		settings.add({one.path.substr(1), one.value.dump(), one.why});
	for (const MountMode &one : plan.mounts)
		mounts.add({one.point, one.mode, one.why});
	return settings.render() + (plan.mounts.empty() ? "" : "\n" + mounts.render());
}

struct Outcome {
	std::string file, old, text;
	std::vector<std::string> problems;
	CufilePlan plan;
};

void tell(Context &context, const Outcome &outcome)
{
	std::ostream &out = context.out();
	const std::string difference = lineDifference(outcome.old, outcome.text);
	for (const std::string &problem : outcome.problems)
		context.note(outcome.file, problem);
	if (!outcome.plan.failed.empty())
		context.note("gds check",
			     fmt::format("fails for {}: {}{}; what fails is not enabled here",
					 outcome.plan.failed.front().subject, outcome.plan.failed.front().what,
					 outcome.plan.failed.size() > 1
						 ? fmt::format(", and {} more", outcome.plan.failed.size() - 1)
						 : ""));
	out << explained(outcome.plan) << "\n";
	if (outcome.old.empty())
		out << outcome.file << " does not exist; it would be created as:\n" << outcome.text;
	else if (difference.empty())
		out << outcome.file << " needs no change\n";
	else
		out << outcome.file << " would change:\n" << difference;
}

// Keeps the old content in FILE.before-nvmeof.
Result<void> write(const Outcome &outcome)
{
	if (!outcome.old.empty())
		if (Result<void> kept = nofctl::replaceFile(outcome.file + ".before-nvmeof", outcome.old, 0644,
							    nofctl::Durable::yes);
		    !kept)
			return kept;
	return nofctl::replaceFile(outcome.file, outcome.text, 0644, nofctl::Durable::yes);
}

} // namespace

void readCufileSources(const Tree &tree)
{
	addressesOfCards(tree, readNode(tree));
}

int configureGds(Context &context, const Tree &tree)
{
	const bool writes = context.args().has("write");
	Outcome outcome;
	outcome.file = context.args().textOr("file", defaultCufile);
	Result<std::string> old = readOld(outcome.file);
	if (!old)
		return context.fail("", old.error());
	Result<CufileJson> before = old->empty() ? Result<CufileJson>(CufileJson::object()) : parseCufile(*old);
	if (!before)
		return context.fail(outcome.file, before.error(), "correct the file, or move it away");
	const Node node = readMachine(context.args(), tree);
	outcome.old = *old;
	outcome.problems = cufileProblems(*before);
	outcome.plan = planCufile(node, addressesOfCards(tree, node));
	const CufileJson after = applyCufile(*before, outcome.plan);
	outcome.text = after == *before ? *old : formatCufile(after);
	if (!context.json())
		tell(context, outcome);
	const bool changes = writes && outcome.text != outcome.old;
	if (changes)
		if (Result<void> done = write(outcome); !done)
			return context.fail("", done.error());
	if (context.json())
		context.print(cufileDocument(outcome.file, outcome.plan, outcome.problems, outcome.text, changes));
	else if (changes)
		context.out() << fmt::format("{} was written{}\n", outcome.file,
					     outcome.old.empty() ? ""
								 : "; the old file, with its comments, is " +
									   outcome.file + ".before-nvmeof");
	return outcome.problems.empty() ? 0 : 1;
}
