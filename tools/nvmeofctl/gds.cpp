// SPDX-License-Identifier: LGPL-2.1-or-later
// gds: checks whether data can move between disks and GPU memory directly, and why not.
#include <array>
#include <filesystem>
#include <ostream>

#include <fmt/format.h>

#include "context.h"
#include "gpu_documents.h"
#include "libctl/base/file.h"
#include "libctl/gpu/cufile.h"
#include "libctl/gpu/finding.h"
#include "libctl/gpu/rails.h"
#include "libctl/gpu/recording.h"
#include "libctl/gpu/tree.h"
#include "machine.h"
#include "table.h"

using namespace nvmeof;
using namespace nofctl::gpu;

int configureGds(Context &context, const nofctl::gpu::Tree &tree);
// Reads every file that configureGds() depends on, so that a RecordingTree records it.
void readCufileSources(const nofctl::gpu::Tree &tree);

namespace {

// A row per GPU, a column per card: their distance, marked if the verdict is WARN or FAIL.
std::string matrix(const CheckReport &answer)
{
	std::vector<Table::Column> columns{{"GPU"}};
	for (const PciDevice *card : answer.cards)
		columns.push_back({card->rdmas.empty() ? card->address : card->rdmas.front()});
	Table table(columns);
	for (const PciDevice *gpu : answer.gpus) {
		std::vector<std::string> row{gpu->address};
		for (const Pair &pair : answer.pairs)
			if (pair.gpu == gpu)
				row.push_back(fmt::format("{}{}", toString(pair.state.distance),
							  pair.level == Level::pass   ? ""
							  : pair.level == Level::warn ? " ?"
										      : " !"));
		table.add(row);
	}
	return answer.pairs.empty() ? "" : table.render() + "? is WARN, ! is FAIL\n\n";
}

std::string lineOf(const Finding &one)
{
	std::string line = fmt::format("{} {} {}: {}\n", toString(one.level), one.check, one.subject, one.what);
	if (one.level == Level::pass)
		return line;
	if (!one.step.empty())
		line += fmt::format("     do: {}\n", one.step);
	return line + fmt::format("     rule: {}{}\n", one.row, one.source.empty() ? "" : " (" + one.source + ")");
}

std::string textOf(const CheckReport &answer, bool all)
{
	std::string text = matrix(answer);
	std::array<std::size_t, 3> counts{};
	for (Level level : {Level::fail, Level::warn, Level::pass})
		for (const Finding &one : answer.findings) {
			if (one.level != level)
				continue;
			counts[static_cast<std::size_t>(level)]++;
			if (level != Level::pass || all)
				for (const std::string &line : linesOf(lineOf(one)))
					text += nofctl::printable(line) + "\n";
		}
	return text + fmt::format("{} passed, {} warnings, {} failed\n", counts[0], counts[1], counts[2]);
}

Result<void> knownDisks(const Args &args, const Node &node)
{
	for (const std::string &name : args.all("device"))
		if (!node.disk(name)) {
			Error error = usageError("--device: there is no disk " + name);
			error.code = ErrorCode::noSuchObject;
			return error;
		}
	return {};
}

int checkGds(Context &context, const Tree &tree)
{
	const Node node = readMachine(context.args(), tree);
	Result<std::vector<std::string>> gpus = gpusOf(context.args(), node);
	if (!gpus)
		return context.fail("", gpus.error(), machineStep(gpus.error()));
	if (Result<void> known = knownDisks(context.args(), node); !known)
		return context.fail("", known.error(), "'nvmeofctl list' shows all disks");
	const CheckReport answer = check(node, {*gpus, context.args().all("device")});
	if (context.json())
		context.print(gdsDocument(answer));
	else
		context.out() << textOf(answer, context.args().has("all"));
	return worst(answer.findings) == Level::fail ? 1 : 0;
}

int recordGds(Context &context, const Tree &tree)
{
	const RecordingTree keeping(tree);
	readNode(keeping);
	readCufileSources(keeping);
	const std::string text = formatRecording(keeping.kept());
	const std::string file = context.args().textOr("output", "");
	if (file.empty()) {
		context.out() << text;
		return 0;
	}
	if (Result<void> done = nofctl::replaceFile(file, text); !done)
		return context.fail("", done.error());
	if (context.json())
		context.print({{"file", file}, {"done", "recorded"}});
	else
		context.out() << fmt::format("{}: {} files and links\n", file,
					     keeping.kept().files().size() + keeping.kept().links().size());
	return 0;
}

} // namespace

int runGdsCheck(Context &context)
{
	return withMachine(context, checkGds);
}

int runGdsConfig(Context &context)
{
	return withMachine(context, configureGds);
}

int runGdsRecord(Context &context)
{
	return withMachine(context, recordGds);
}

// ---- gds config: cufile.json for this machine; shows the changes, and makes them with --write

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
			     fmt::format("fails for {}: {}{}; features that depend on it are not enabled",
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
