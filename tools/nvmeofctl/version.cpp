// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "context.h"
#include "documents.h"

using namespace nvmeof;

static int printModule(Context &context, const ModuleVersion &module)
{
	if (context.json()) {
		context.print(versionDocument(module));
		return 0;
	}
	context.out() << fmt::format("nvmeofctl {}\nmodule {} (API {})\ntransports: {}\nselectors: {}\n",
				     libraryVersion(), module.module, module.api, fmt::join(module.transports, " "),
				     fmt::join(module.selectors, " "));
	return 0;
}

// The program's own version is told in any case; the exit code tells whether there is a module to work with.
int runVersion(Context &context)
{
	Result<Client> client = Client::open();
	Result<ModuleVersion> module = client ? client->version() : Result<ModuleVersion>(client.error());
	if (module)
		return printModule(context, *module);
	if (context.json())
		context.print(
			Json{{"version", libraryVersion()}, {"module", nullptr}, {"error", toJson(module.error())}});
	else
		context.out() << fmt::format("nvmeofctl {}\n", libraryVersion());
	return context.complain("", module.error());
}
