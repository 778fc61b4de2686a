// SPDX-License-Identifier: LGPL-2.1-or-later
// doctor: gathers the facts, and prints the diagnosis.
#include <filesystem>
#include <ostream>
#include <sys/timex.h>

#include "builds.h"
#include "cdc.h"
#include "context.h"
#include "daemon_bus.h"
#include "doctor.h"
#include "libctl/base/file.h"
#include "libctl/base/toml.h"
#include "monitor.h"

using namespace nvmeof;
using namespace std::chrono_literals;

std::string cdcSocketIn(std::string_view config)
{
	std::vector<ConfigProblem> ignored;
	const std::optional<toml::table> table = nofctl::parseToml(config, "cdc.toml", ignored);
	return table ? (*table)["control"].value_or(std::string(usualCdcSocket)) : usualCdcSocket;
}

namespace doctor {

namespace {

constexpr auto probePatience = 900ms; // for all addresses together
constexpr auto cdcPatience = 1s;
constexpr const char *cdcConfigFile = "/etc/nvmeof/cdc.toml";
constexpr std::size_t largestConfig = 1u << 20; // bytes

// Names of the disks that links in /dev/disk/by-id lead to. Not set if udev does not run.
std::optional<std::set<std::string>> linkedDisks()
{
	std::error_code error;
	if (!std::filesystem::exists("/run/udev/control", error))
		return std::nullopt;
	std::set<std::string> names;
	for (std::filesystem::directory_iterator at("/dev/disk/by-id", error), end; !error && at != end;
	     at.increment(error)) {
		std::error_code unread;
		names.insert(std::filesystem::read_symlink(at->path(), unread).filename());
	}
	return names;
}

void readEvents(Facts &facts)
{
	Result<std::string> text = nofctl::readSmallFile(recordedEventsFile, largestEventsFile);
	if (text)
		facts.events = chooseEvents(*text, {});
	else if (text.error().code != ErrorCode::noSuchObject)
		facts.eventsUnread = text.error().message;
}

std::optional<bool> clockSynchronized()
{
	timex state{};
	const int result = ::adjtimex(&state);
	if (result < 0)
		return std::nullopt;
	return result != TIME_ERROR && !(state.status & STA_UNSYNC);
}

ServiceFacts daemonFacts()
{
	ServiceFacts facts;
	facts.enabled = unitEnabled("nvmeofd.service");
	Result<Json> status = daemonStatus();
	if (status)
		facts.status = *status;
	else
		facts.error = status.error().message;
	if (status || status.error().code == ErrorCode::noSuchObject)
		facts.runs = status.ok();
	else
		facts.runs = daemonRuns(); // does not answer: is it there at all?
	return facts;
}

ServiceFacts cdcFacts()
{
	ServiceFacts facts;
	constexpr const char *unit = "nvmeof-cdc.service";
	facts.enabled = unitEnabled(unit);
	Result<std::string> config = nofctl::readSmallFile(cdcConfigFile, largestConfig);
	Result<CdcSocket> socket = CdcSocket::open(cdcSocketIn(config ? *config : ""), cdcPatience);
	if (!socket) {
		// It may listen elsewhere: it does not run only if systemd says so, or if nothing starts it.
		if (socket.error().code == ErrorCode::noSuchObject && !unitActive(unit).value_or(facts.enabled))
			facts.runs = false;
		else
			facts.error = socket.error().message;
		return facts;
	}
	facts.runs = true;
	Result<void> sent = socket->send({{"command", "status"}});
	Result<Json> status = sent ? socket->receive(cdcPatience) : Result<Json>(sent.error());
	if (status)
		facts.status = *status;
	else
		facts.error = status.error().message;
	return facts;
}

Facts gather(bool probe)
{
	Facts facts;
	facts.builds = judgeMachine(moduleBuilds());
	if (Result<Snapshot> snapshot = readSnapshot())
		facts.snapshot = *std::move(snapshot);
	else
		facts.unreadable = snapshot.error();
	facts.now = std::chrono::system_clock::now();
	for (const Subsystem &s : facts.snapshot.subsystems)
		if (std::vector<ForeignController> others = foreignControllers(s.nqn); !others.empty())
			facts.inTree[s.nqn] = std::move(others);
	const ConfigReading reading = inspectConfig();
	for (const Controller &c : facts.snapshot.controllers)
		if (std::optional<SecurityRule> rule = reading.config.securityFor(c.subsysnqn))
			facts.rules.emplace(c.subsysnqn, *std::move(rule));
	facts.disks = nvmeDisks();
	facts.linked = linkedDisks();
	readEvents(facts);
	facts.clockSynchronized = clockSynchronized();
	facts.daemon = daemonFacts();
	facts.cdc = cdcFacts();
	facts.probed = probe;
	if (probe)
		facts.probes = probePaths(facts.snapshot.controllers, probePatience);
	return facts;
}

} // namespace

} // namespace doctor

// The exit codes of this command differ from those of others: see Documentation/operations.md.
int runDoctor(Context &context)
{
	const doctor::Diagnosis diagnosis = doctor::diagnose(doctor::gather(!context.args().has("no-probe")));
	if (context.json())
		context.print(doctor::documentOf(diagnosis));
	else
		context.out() << doctor::textOf(diagnosis);
	return diagnosis.exitCode();
}
