// SPDX-License-Identifier: LGPL-2.1-or-later
#include <csignal>
#include <exception>
#include <syslog.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <systemd/sd-daemon.h>

#include "backup.h"
#include "control.h"
#include "http_server.h"
#include "libctl/base/make_error.h"
#include "libctl/runtime/journal.h"
#include "libctl/runtime/loop.h"
#include "libctl/runtime/process.h"
#include "service.h"
#include "stores.h"

using namespace cdc;
using namespace runtime;
using nvmeof::Error;
using nvmeof::Result;

namespace {

// As in nvmeofctl: Documentation/stability.md
enum Exit { done = 0, failed = 1, usage = 2, misconfigured = 3 };

struct Options {
	std::filesystem::path config = "/etc/nvmeof/cdc.toml";
	std::filesystem::path from, to; // of move
	bool rebuild = false;
};

int failWith(const Error &error)
{
	say(LOG_ERR, error.message);
	return failed;
}

int checkConfig(const Options &options)
{
	const RulesReading reading = inspectRules(options.config);
	for (const nvmeof::ConfigProblem &problem : reading.problems)
		fmt::print(stderr, "{}: {}\n", problem.place.toString(), problem.message);
	const Result<HostKeys::Reading> keys = HostKeys::read(reading.rules.security.keys);
	if (!keys)
		fmt::print(stderr, "{}\n", keys.error().message);
	else
		for (const std::string &problem : keys->problems)
			fmt::print(stderr, "{}\n", problem);
	if (!reading.problems.empty() || !keys || !keys->problems.empty())
		return failed;
	fmt::print("{}: no problems found\n", options.config.string());
	return done;
}

using ReloadDone = std::function<void(const Result<Reloaded> &)>;

void takeOver(Service &service, const Options &options, ReloadMode mode, const ReloadDone &done)
{
	const bool dry = mode == ReloadMode::dryRun;
	if (!dry)
		sd_notify(0, "RELOADING=1");
	auto over = [dry, done](const Result<Reloaded> &reloaded) {
		if (!dry && !reloaded)
			say(LOG_ERR, "the configuration is unchanged: " + reloaded.error().message);
		if (!dry)
			sd_notify(0, "READY=1");
		done(reloaded);
	};
	Result<Rules> rules = readRules(options.config);
	if (!rules)
		return over(rules.error());
	reload(service, *std::move(rules), mode, over);
}

int serve(const Options &options)
{
	Result<Rules> rules = readRules(options.config);
	if (!rules) {
		const int code = failWith(rules.error()); // an unreadable file may be readable later
		return rules.error().code == nvmeof::ErrorCode::invalid ? misconfigured : code;
	}
	Result<Identity> identity = readIdentity(*rules);
	if (!identity)
		return failWith(identity.error());
	raiseFileLimit();
	Loop loop;
	Result<std::unique_ptr<Store>> store = makeStore(loop, rules->store, options.rebuild);
	if (!store)
		return failWith(store.error());
	Service service(loop, *rules, *identity, *std::move(store));
	auto end = [&](const std::function<void()> &left) {
		sd_notify(0, "STOPPING=1");
		service.drain([&loop, left] {
			left();
			loop.end(done);
		});
	};
	auto endBySignal = [&] { end([] {}); };
	OnSignal term(loop, SIGTERM, endBySignal), interrupted(loop, SIGINT, endBySignal);
	OnSignal hup(loop, SIGHUP,
		     [&] { takeOver(service, options, ReloadMode::judged, [](const Result<Reloaded> &) {}); });
	auto reloading = [&](ReloadMode mode, const ReloadDone &done) { takeOver(service, options, mode, done); };
	Control control(loop, service, {.reload = reloading, .drain = end});
	if (Result<void> started = control.start(rules->control); !started)
		return failWith(started.error());
	Web web(loop, service);
	if (Result<void> started = web.start(rules->web); !started)
		return failWith(started.error());
	auto serving = [&] {
		say(LOG_INFO, fmt::format("serves as {}, generation {}", identity->nqn, service.views().generation()));
		sd_notify(0, "READY=1");
	};
	if (Result<void> started = service.start(serving); !started)
		return failWith(started.error());
	return loop.run();
}

// A missing configuration is an error here: the default store would not be the intended one.
Result<std::unique_ptr<Store>> storeOf(Loop &loop, const std::filesystem::path &config)
{
	if (config.extension() == ".json")
		return openBackup(config);
	if (!std::filesystem::exists(config))
		return nofctl::invalidError(config.string() + ": no such file");
	Result<Rules> rules = readRules(config);
	if (!rules)
		return rules.error();
	rules->store.etcd.cache.clear();
	return makeStore(loop, rules->store, false);
}

int move(const Options &options)
{
	Loop loop;
	Result<std::unique_ptr<Store>> from = storeOf(loop, options.from), to = storeOf(loop, options.to);
	if (options.to.extension() == ".json")
		return failWith(
			nofctl::invalidError("--to must be a configuration; 'nvmeofctl cdc backup' writes backups"));
	for (const auto *store : {&from, &to})
		if (!*store)
			return failWith(store->error());
	Move moving(loop, **from, **to, [&](const Result<Moved> &moved) {
		if (!moved) {
			say(LOG_ERR, moved.error().message);
			return loop.end(failed);
		}
		fmt::print("{} records moved; the generation continues from {}\n", moved->records, moved->before);
		loop.end(done);
	});
	moving.start();
	return loop.run();
}

} // namespace

int main(int argc, char **argv)
{
	CLI::App app("A centralized discovery controller for NVMe over Fabrics: serves discovery logs to hosts");
	Options options;
	app.add_option("--config", options.config, "configuration")->capture_default_str();
	app.set_version_flag("--version", NVMEOF_VERSION);
	app.require_subcommand(1);
	app.fallthrough();
	CLI::App *serving = app.add_subcommand("serve", "serve hosts until SIGTERM");
	serving->add_flag("--rebuild", options.rebuild,
			  "move a damaged database aside; rebuild it from etcd if it is a cache, else start empty");
	CLI::App *moving = app.add_subcommand("move", "move all records to another store while no instance is running");
	moving->add_option("--from", options.from, "configuration of the source store, or a backup: FILE.json")
		->required();
	moving->add_option("--to", options.to, "configuration of the destination store")->required();
	app.add_subcommand("check-config", "check the configuration, and list its problems");
	protectMemory();
	try {
		app.parse(argc, argv);
		if (serving->parsed())
			return serve(options);
		return moving->parsed() ? move(options) : checkConfig(options);
	} catch (const CLI::ParseError &e) {
		return app.exit(e) ? usage : done;
	} catch (const std::exception &e) {
		say(LOG_ERR, e.what());
		return failed;
	}
}
