// SPDX-License-Identifier: LGPL-2.1-or-later
#include "input.h"

#include "libctl/gpu/cufile.h"

using namespace nofctl::gpu;

void fuzz(Input in)
{
	const std::string text(in.text());
	const nvmeof::Result<CufileJson> file = parseCufile(text);
	if (!file)
		return;
	for (const std::string &problem : cufileProblems(*file))
		expect(!problem.empty() && problem.find('\n') == problem.npos, "a problem is a line");
	const CufilePlan plan = planCufile({}, {});
	const CufileJson after = applyCufile(*file, plan);
	expect(applyCufile(after, plan) == after, "a correct file stays unchanged");
	for (const CufileSetting &one : plan.settings)
		expect(after.contains(CufileJson::json_pointer(one.path)), "each setting is in it");
	const std::string written = formatCufile(after);
	const nvmeof::Result<CufileJson> again = parseCufile(written);
	expect(again.ok(), "a written file can be read");
	const std::string difference = lineDifference(text, written);
	expect((difference == "") == (lines(text) == lines(written)), "a difference is shown where there is one");
}
