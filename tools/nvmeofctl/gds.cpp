// SPDX-License-Identifier: LGPL-2.1-or-later
// gds: checks whether data can move between disks and GPU memory directly, and why not.
#include <array>
#include <ostream>

#include <fmt/format.h>

#include "libctl/gpu/finding.h"
#include "libctl/gpu/recording.h"

#include "context.h"
#include "gds_config.h"
#include "gpu_documents.h"
#include "libctl/base/file.h"
#include "machine.h"
#include "table.h"

using namespace nvmeof;
using namespace nofctl::gpu;

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
			Error error = usageError("--dev: there is no disk " + name);
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

int withMachine(Context &context, int (*run)(Context &, const Tree &))
{
	Result<std::unique_ptr<Tree>> tree = openMachine(context.args());
	if (!tree)
		return context.fail("", tree.error(),
				    tree.error().code == ErrorCode::invalid
					    ? ""
					    : "give another directory or recording with --root");
	return run(context, **tree);
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
