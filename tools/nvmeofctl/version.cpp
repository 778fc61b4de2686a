// SPDX-License-Identifier: LGPL-2.1-or-later
// version: versions of this program and of the loaded modules.
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "builds.h"
#include "context.h"
#include "documents.h"

using namespace nvmeof;

namespace {

std::string formatModule(const ModuleVersion &module)
{
	return fmt::format("module {} (API {})\ntransports: {}\nselectors: {}\n", module.module, module.api,
			   fmt::join(module.transports, " "), fmt::join(module.selectors, " "));
}

Json arrayOf(const auto &all)
{
	Json array = Json::array();
	for (const auto &one : all)
		array.push_back(toJson(one));
	return array;
}

} // namespace

// Prints all versions found in any case. The exit code shows whether the module can be used.
int runVersion(Context &context)
{
	Result<Client> client = Client::open();
	Result<ModuleVersion> module = client ? client->version() : Result<ModuleVersion>(client.error());
	Build tool = toolBuild();
	std::vector<ModuleBuild> modules = moduleBuilds();
	std::vector<BuildFinding> found = judgeMachine(modules);
	if (context.json()) {
		Json json = module ? versionDocument(*module)
				   : Json{{"version", tool.version},
					  {"module", nullptr},
					  {"error", toJson(module.error())}};
		json["source"] = tool.source;
		json["modules"] = arrayOf(modules);
		json["findings"] = arrayOf(found);
		context.print(json);
	} else {
		context.out() << fmt::format("nvmeofctl {} (sources {})\n", tool.version, tool.source)
			      << (module ? formatModule(*module) : "") << formatModules(modules) << std::flush;
	}
	for (const BuildFinding &finding : found) {
		Error error;
		error.message = finding.message;
		context.warn("", error, finding.step);
	}
	return module ? 0 : context.complain("", module.error());
}
