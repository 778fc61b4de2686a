// SPDX-License-Identifier: LGPL-2.1-or-later
#include <csignal>
#include <exception>
#include <syslog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <systemd/sd-daemon.h>

#include <nvmeof/client.h>
#include <nvmeof/config.h>
#include <nvmeof/topology.h>

#include "bus.h"
#include "daemon.h"
#include "libctl/runtime/journal.h"
#include "libctl/runtime/loop.h"
#include "libctl/runtime/process.h"
#include "lock.h"

using namespace nvmeof;
using namespace nvmeofd;
using namespace runtime;

namespace {

// Documented in nvmeofd(8)
enum Exit { done = 0, failed = 1, usage = 2, misconfigured = 3, noModuleLoaded = 8 };

struct Options {
	Places places;
	std::filesystem::path lock = "/run/nvmeofd/lock";
};

int failWith(const Error &error)
{
	say(LOG_ERR, error.message);
	return error.code == ErrorCode::noModule ? noModuleLoaded : failed;
}

int serve(const Options &options)
{
	if (Result<void> locked = lockForLife(options.lock); !locked)
		return failWith(locked.error());
	std::error_code error;
	std::filesystem::create_directories(options.places.state, error);
	Result<Config> config = readConfig(options.places.config);
	if (!config) {
		const int code = failWith(config.error()); // an unreadable file may be readable later
		return config.error().code == ErrorCode::invalid ? misconfigured : code;
	}
	for (const std::string &note : config->notes)
		say(LOG_NOTICE, note);
	Result<Client> client = Client::open({"nvmeof_tcp"});
	if (!client)
		return failWith(client.error());
	Result<Topology> topology = Topology::open();
	if (!topology)
		return failWith(topology.error());
	Loop loop;
	Daemon daemon(loop, options.places, *std::move(config), *std::move(client), *std::move(topology));
	Bus bus(loop, daemon);
	auto end = [&] {
		// connections stay; the next daemon finds them in the kernel
		sd_notify(0, "STOPPING=1");
		daemon.end();
		// does not wait for threads that are blocked on a service
		_exit(done);
	};
	OnSignal term(loop, SIGTERM, end), interrupted(loop, SIGINT, end);
	OnSignal hup(loop, SIGHUP, [&] {
		sd_notify(0, "RELOADING=1");
		if (Result<Reloaded> reloaded = daemon.reload(); !reloaded)
			say(LOG_ERR, fmt::format("the configuration is unchanged: {}", reloaded.error().message));
		sd_notify(0, "READY=1");
	});
	return loop.run();
}

} // namespace

int main(int argc, char **argv)
{
	CLI::App app("Keeps this host connected to the controllers that its configuration and discovery services list");
	Options options;
	app.add_option("--config", options.places.config.main,
		       "configuration file NAME.toml; the files NAME.d/*.toml are read, too")
		->capture_default_str();
	app.add_option("--state", options.places.state, "directory for the last-known and event files")
		->capture_default_str();
	app.add_option("--lock", options.lock, "lock file")->capture_default_str();
	app.set_version_flag("--version", libraryVersion());
	protectMemory();
	try {
		app.parse(argc, argv);
		return serve(options);
	} catch (const CLI::ParseError &e) {
		return app.exit(e) == 0 ? done : usage;
	} catch (const std::exception &e) {
		say(LOG_ERR, e.what());
		return failed;
	}
}
