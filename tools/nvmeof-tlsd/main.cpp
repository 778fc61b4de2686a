// SPDX-License-Identifier: LGPL-2.1-or-later
#include <exception>
#include <syslog.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "check.h"
#include "handshake_family.h"
#include "libctl/runtime/journal.h"
#include "libctl/runtime/process.h"
#include "serve.h"

using namespace tlsd;
using namespace runtime;
using nvmeof::Error;
using nvmeof::ErrorCode;
using nvmeof::Result;

namespace {

// Documented in nvmeof-tlsd(8)
enum Exit { done = 0, failed = 1, usage = 2, noHandshakeApi = 8 };

int failWith(const Error &error)
{
	say(LOG_ERR, error.message);
	return error.code == ErrorCode::noModule ? noHandshakeApi : failed;
}

int serve(bool debug)
{
	Result<HandshakeFamily> family = HandshakeFamily::open();
	if (!family)
		return failWith(family.error());
	if (const Result<void> rights = family->checkRights(); !rights)
		return failWith(rights.error());
	const Result<void> served = serve(*family, *family, debug);
	return served ? done : failWith(served.error());
}

int check()
{
	bool ok = true;
	for (const Finding &finding : checkMachine()) {
		constexpr const char *words[] = {"ok", "note", "missing"};
		fmt::print("{}: {}\n", words[static_cast<std::size_t>(finding.kind)], finding.text);
		ok &= finding.kind != Finding::Kind::missing;
	}
	return ok ? done : failed;
}

} // namespace

int main(int argc, char **argv)
{
	CLI::App app(
		"Does the TLS handshakes of NVMe/TCP connections for the kernel, with pre-shared keys of its keyrings");
	bool debug = false, checks = false;
	app.add_flag("--debug", debug, "log handshakes that succeed, too");
	app.add_flag("--check", checks,
		     "print whether this machine has what TLS connections need, and exit with 0 or 1");
	app.set_version_flag("--version", NVMEOF_VERSION);
	protectMemory();
	raiseFileLimit();
	try {
		app.parse(argc, argv);
		return checks ? check() : serve(debug);
	} catch (const CLI::ParseError &e) {
		return app.exit(e) == 0 ? done : usage;
	} catch (const std::exception &e) {
		say(LOG_ERR, e.what());
		return failed;
	}
}
