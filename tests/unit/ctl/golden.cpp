// SPDX-License-Identifier: LGPL-2.1-or-later
// Every JSON document, byte for byte as in golden/, made from objects in which every member is set. After an intended
// change: NVMEOF_GOLDEN=write tests/sanitize/run unit_ctl "[golden]"; then review the difference and update
// Documentation/json.md.
#include <catch2/catch.hpp>

#include <cerrno>
#include <filesystem>
#include <set>
#include <sstream>

#include "command.h"
#include "snapshot.h"
#include "discover.h"
#include "doctor.h"
#include "documents.h"
#include "event_log.h"
#include "monitor.h"
#include "tests/unit/golden.h"
#include "gpu_documents.h"
#include "tests/unit/gpu/machine.h"
#include "key.h"
#include "nbft.h"
#include "policy.h"
#include "reload_report.h"
#include "stats.h"
#include "stripe.h"
#include "top_model.h"
#include "volume.h"

using namespace golden;
using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

Subsystem wholeSubsystem()
{
	Subsystem s = subsystemOf(0, "nqn.2024-01.com.example:flash1");
	s.hostid = Uuid::parse("12345678-9abc-4def-8123-456789abcdef");
	s.model = "Flash";
	s.serial = "0001";
	s.firmware = "1.0";
	s.spillLatency = 500us;
	s.spillDepth = 32;
	s.degrade = true;
	s.fencing = Fencing::safe;
	s.delayedRemoval = 60s;
	s.tags = 1024;
	s.controllers = 1;
	s.namespaces = 1;
	return s;
}

Controller wholeController()
{
	Controller c = controllerOf(0, 1, "10.0.0.1");
	c.subsysnqn = wholeSubsystem().nqn;
	c.hostnqn = "nqn.host";
	c.hostTraddr = "10.0.0.9";
	c.hostIface = "eth0";
	c.cntlid = 7;
	c.model = "Flash";
	c.serial = "0001";
	c.firmware = "1.0";
	c.ioQueues = 4;
	c.pollQueues = 1;
	c.wantedPollQueues = 2;
	c.queueSize = 128;
	c.keepAlive = 5s;
	c.reconnectDelay = 10s;
	c.ctrlLoss = 600s;
	c.fastIoFail = -1ms;
	c.connectTimeout = 10s;
	c.firstConnect = 60s;
	c.stallTimeout = 300ms;
	c.tos = 16;
	c.hdrDigest = c.dataDigest = c.sqFlow = c.copies = true;
	c.reconnects = 3;
	c.attempts = 1;
	c.lastError = "cannot connect";
	c.lastErrno = ECONNREFUSED;
	c.lastStatus = 0x184;
	c.inflight = 2;
	c.paths = 1;
	c.scans = 4;
	c.owner = "nvmeofd";
	c.authentication = Authentication{"SHA-256", "ffdhe2048", true, 800s};
	c.authKey = AuthKey{114209094, 700s, "nvmeof:dhchap:host:nqn.host:*"};
	c.authRequired = true;
	c.tls = Tls{"AES-GCM-128", 114209093, 114209093, "NVMe0R01 nqn.host nqn.2024-01.com.example:flash1",
		    600s,          800s};
	return c;
}

Namespace wholeNamespace()
{
	Namespace n = namespaceOf(0, 1, 1);
	n.wwid = "uuid.6f1b2c3d-0000-4000-8000-0123456789ab";
	n.uuid = Uuid::parse("6f1b2c3d-0000-4000-8000-0123456789ab");
	n.nguid.emplace().fill(0x11);
	n.eui64.emplace().fill(0x22);
	n.csi = 0;
	n.lbaSize = 4096;
	n.readOnly = true;
	n.usablePaths = 0;
	n.livePaths = 1;
	n.expectedPaths = 2;
	n.waiting = 17;
	n.held = 5;
	n.hold = Hold{"nvmeof0c1", "nvmeof0c2", 33250ms};
	n.openers = 1;
	n.reservations = 0x7f;
	n.protection = 1;
	n.atomicWrite = 65536;
	n.atomicBoundary = 131072;
	n.noPathSince = 990s;
	return n;
}

Path wholePath()
{
	Path p = pathOf(wholeController(), 1, 100);
	p.anaGroup = 1;
	p.anaSince = 900s;
	p.degraded = true;
	p.inflight = 2;
	p.bytesWritten = 8192;
	p.errors = 1;
	p.retries = 2;
	p.aborts = 3;
	p.failoversFrom = 4;
	p.failoversTo = 5;
	p.writeLatency[3] = 2;
	p.reconnects = 3;
	p.lastError = "cannot connect";
	p.lastErrno = ECONNREFUSED;
	return p;
}

Snapshot wholeSnapshot()
{
	Snapshot s;
	s.time = 1000s;
	s.subsystems = {wholeSubsystem()};
	s.controllers = {wholeController()};
	s.namespaces = {wholeNamespace()};
	s.paths = {wholePath()};
	return s;
}

Error wholeError()
{
	Error error = errorFromErrno(ECONNREFUSED, "cannot connect: Connection refused");
	error.object = ErrorObject::named("nvmeof0c1");
	error.nvmeStatus = 0x184;
	return error;
}

Event goldenEvent(EventType type, EventObject object)
{
	Event event;
	event.type = type;
	event.time = 1000s;
	event.object = std::move(object);
	return event;
}

std::vector<Event> wholeEvents()
{
	Event state = goldenEvent(EventType::state, wholeController());
	state.oldState = ControllerState::connecting;
	Event failed = goldenEvent(EventType::connectFailed, wholeController());
	failed.reason = "cannot connect";
	Event scanned = goldenEvent(EventType::scanned, wholeController());
	scanned.scanErrno = EIO;
	Event failover = goldenEvent(EventType::failover, wholeNamespace());
	failover.failover = Failover{"nvmeof0c1n1", 12, 3200us};
	return {goldenEvent(EventType::added, wholeSubsystem()),
		state,
		failed,
		scanned,
		failover,
		goldenEvent(EventType::noPath, wholeNamespace()),
		goldenEvent(EventType::aen, Aen{"nvmeof0c1", 2, 3, 0xc}),
		goldenEvent(EventType::lost, {})};
}

std::string monitorLines()
{
	std::string lines;
	for (const Event &event : wholeEvents())
		lines += monitorLine(event, {}, true) + "\n";
	return lines + monitorLine(goldenEvent(EventType::state, wholePath()), AnaBefore{AnaState::change, 5s}, true) +
	       "\n";
}

Json discoveryDocument()
{
	DiscoveryEntry entry;
	entry.kind = EntryKind::subsystem;
	entry.transport = "tcp";
	entry.addressFamily = "ipv4";
	entry.traddr = "10.0.0.1";
	entry.trsvcid = "4420";
	entry.subsysnqn = wholeSubsystem().nqn;
	entry.portId = 1;
	entry.cntlid = 7;
	entry.adminQueueSize = 32;
	entry.secureChannel = SecureChannel::required;
	entry.tcpSecurity = TcpSecurity::tls13;
	entry.rdma = RdmaAddress{RdmaQueuePair::connected, RdmaProvider::roceV2, RdmaConnectionManagement::rdmaCm, 1};
	entry.defect = "the port is 0";
	return discoverDocument(
		Json::array({discoverEntry("address", "10.0.0.1:8009", "target.example", DiscoveryLog{12, {entry}}),
			     discoverEntry("controller", "nvmeof0c1", "", wholeError())}));
}

Json policies()
{
	ConfigDefaults rule{"nqn.*", {}, {}, {"/etc/nvmeof/nvmeof.toml", 3}};
	Json array = Json::array();
	array.push_back(toJson(PolicyOutcome{"nvmeof0", rule, wholeError()}));
	return array;
}

Json connected()
{
	ConnectPlan plan;
	plan.options.resize(2);
	plan.options[0].address = {"10.0.0.1", "4420"};
	plan.options[1].address = {"fd00::2", "4420"};
	plan.typed = {"", "target.example"};
	return connectDocument(plan, {wholeController(), wholeError()}, policies());
}

Json connectedAll()
{
	Plan plan;
	PlannedService first, second;
	first.options.address = {"10.0.0.1", "8009"};
	first.key = "first";
	first.state = PlannedService::State::told;
	second.options.address = {"10.0.0.2", "8009"};
	second.toldBy = 0;
	second.state = PlannedService::State::failed;
	plan.services = {first, second};
	const KnownServices known{{"first", {DiscoveryLog{7, {}}, false}}};
	Json failed = serviceEntry(plan, second, known);
	failed["error"] = toJson(wholeError());
	ConnectOptions options;
	options.address = {"10.0.0.1", "4420"};
	options.subsysnqn = "nqn.s";
	Json path = pathEntry(options, true);
	path["error"] = toJson(wholeError());
	const Json refused = refusalEntry(plan, {"tcp 10.0.0.9:4420 nqn.bad", "excluded", 0});
	return connectAllDocument({serviceEntry(plan, first, known), failed}, Json::array({path}),
				  Json::array({refused}), Json::array());
}

Json configChecked()
{
	Json problem{{"file", "/etc/nvmeof/nvmeof.toml"}, {"message", "there is no key 'x' here"}, {"line", 2}};
	Json document = configDocument({"/etc/nvmeof/nvmeof.toml"}, Json::array({problem}), {"a note"});
	document["text"] = "[host]\n";
	document["keys"] = Json::array({{{"setting", "tls-key"}, {"source", "/etc/nvmeof/keys/tls.key"}}});
	return document;
}

Json versionOfNow()
{
	Json json = versionDocument({1, "0.1.0", {"tcp"}, {"numa", "latency"}});
	json["version"] = "VERSION"; // changes with each release
	return json;
}

Json frame()
{
	Rates rates;
	Path before;
	before.name = wholePath().name;
	rates.update(999s, {before});
	rates.update(1000s, {wholePath()});
	return toJson(topModel(wholeSnapshot(), rates));
}

std::string pretty(const Json &document)
{
	return dump(withSchema(document), 2) + "\n";
}

nofctl::nbft::BootTable wholeNbft()
{
	const Uuid id = *Uuid::parse("12345678-9abc-4def-8123-456789abcdef");
	nofctl::nbft::BootTable table;
	table.file = "/sys/firmware/acpi/tables/NBFT";
	table.oem = "MAKER";
	table.major = 1;
	table.host = {"nqn.2024-01.com.example:node7", id, true, true, true};
	table.interfaces = {{1,
			     "52:54:00:12:34:56",
			     7,
			     "192.168.10.77",
			     "192.168.10.1",
			     "192.168.10.3",
			     24,
			     {"192.168.10.2"},
			     true,
			     true,
			     500,
			     "node7"}};
	table.securities = {{1, true, true}};
	table.discoveries = {{1, 1, "nvme+tcp://192.168.10.5:8009/", "nqn.2024-01.com.example:cdc", 1}};
	table.problems = {"subsystem 2: it has no NQN"};
	nofctl::nbft::Namespace ns;
	ns.index = 1;
	ns.address = {"192.168.10.5", "4420"};
	ns.subsysnqn = "nqn.2024-01.com.example:flash1";
	ns.portId = 1;
	ns.nsid = 1;
	ns.idType = "uuid";
	ns.id = id.toString();
	ns.interfaces = {1};
	ns.discovery = ns.security = 1;
	ns.discovered = ns.hdrDigest = ns.dataDigest = ns.dhcp = true;
	ns.availability = nofctl::nbft::Availability::available;
	ns.cntlid = 2;
	ns.adminQueueSize = 32;
	ns.dhcpRootPath = "NVME+TCP://192.168.10.5:4420/nqn.2024-01.com.example:flash1/1";
	table.namespaces = {ns};
	return table;
}

Json connectedByNbft()
{
	const nofctl::nbft::BootTable table = wholeNbft();
	ConnectOptions options;
	options.address = {"192.168.10.5", "4420"};
	options.subsysnqn = "nqn.2024-01.com.example:flash1";
	Json path = pathEntry(options, false);
	path["error"] = toJson(errorFromErrno(ECONNREFUSED));
	const std::vector<nofctl::nbft::Skipped> skipped{
		{&table, 2, "nqn.2024-01.com.example:data", "the firmware could not reach it"}};
	return connectNbftDocument(Json::array({path}), skipped, Json::array());
}

struct Golden {
	std::string command; // the command that prints it
	std::string file, text;
};

Json gdsChecked()
{
	Machine machine = wrongSlots();
	const nofctl::gpu::Node node = machine.node();
	return gdsDocument(check(node, {}));
}

Json mapped()
{
	Machine machine = hgxH100();
	machine.head("nvmeof0n1", "uuid.1");
	machine.path("nvmeof0n1", "nvmeof0c1", "rdma", "traddr=10.0.0.1,trsvcid=4420,host_iface=ibp0");
	const nofctl::gpu::Node node = machine.node();
	const std::vector<const nofctl::gpu::PciDevice *> cards{node.pci.find("0000:19:00.0")};
	return mapDocument(node, planRails(node, {node.pci.find("0000:18:00.0")}, cards), cards);
}

Json cufileWritten()
{
	nofctl::gpu::CufilePlan plan;
	plan.settings = {{"/properties/allow_compat_mode", true, "because"}};
	plan.mounts = {{"/data", "compat", "nvmeof0c1n1: TCP"}};
	plan.failed = {
		{nofctl::gpu::Level::fail, "kernel", "6.12", "no P2PDMA", "use another", "kernel-p2pdma", "guide"}};
	return cufileDocument("/etc/cufile.json", plan, {"properties/io_batchsize: expected an integer"}, "{}\n", true);
}

Json sized()
{
	nofctl::sizing::Sizing sizing;
	sizing.stages = {{"drives", 2e9, 1e9}};
	sizing.lines = {{"stripe", "width", 16, "", "how", "whose", nofctl::sizing::Verdict::enough, true}};
	return sizingDocument(sizing, {{"GPUs", 8, 4, false, "add some"}});
}

nofctl::stripe::Layout wholeLayout()
{
	nofctl::stripe::Member member;
	member.disk = "nvmeof0n1";
	member.wwid = "uuid.1";
	member.bytes = 1 << 30;
	member.subsystem = wholeSubsystem().nqn;
	member.owner = "nvmeof0c1";
	member.usable = 2;
	return {{member}, 131072, 1 << 30, 4096, {"a note"}};
}

nofctl::volume::ReservationReport wholeReservation()
{
	nofctl::volume::ReservationReport report{7, 1, true, {}};
	report.registrants.push_back({"12345678-9abc-4def-8123-456789abcdef", 0xa, true, true});
	return report;
}

std::vector<Json> keptEvents()
{
	const std::chrono::system_clock::time_point now{1764220450s};
	nvmeofd::EventLog log("/none");
	log.add("daemon_started", now);
	for (const Event &event : wholeEvents())
		log.add(event, now, event.time);
	log.add(goldenEvent(EventType::state, wholePath()), now, 1000s);
	std::vector<Json> events;
	for (const std::string &line : log.lines())
		events.push_back(Json::parse(line));
	return events;
}

Json reloadedConfiguration()
{
	using nvmeofd::ConfigChange;
	nvmeofd::Reloaded reloaded;
	reloaded.changes.push_back(
		{ConfigChange::Kind::changed, "limits", "", {"connections = 200"}, {"connections = 100"}});
	reloaded.changes.push_back(
		{ConfigChange::Kind::added, "connection", "nqn.s", {}, {"nqn = \"nqn.s\"", "address = \"10.0.0.1\""}});
	reloaded.wanted = {"tcp 10.0.0.1:4420 nqn.s"};
	reloaded.bygone = {"tcp 10.0.0.9:8009"};
	reloaded.rekeyed = {"nvmeof0c1"};
	reloaded.notes = {"/etc/nvmeof/policy.conf is read as well"};
	return reloadDocument(nvmeofd::toJson(reloaded));
}

nofctl::volume::Attached wholeVolume()
{
	using namespace nofctl::volume;
	Attached volume;
	volume.entry = {wholeSubsystem().nqn, *VolumeId::parse("uuid.6f1b2c3d-0000-4000-8000-0123456789ab")};
	volume.subsystem = wholeSubsystem();
	volume.ns = wholeNamespace();
	volume.byId = "/dev/disk/by-id/nvme-uuid.6f1b2c3d-0000-4000-8000-0123456789ab";
	volume.paths = {{"tcp", "10.0.0.1:4420", "nvmeof0c1", {}}, {"tcp", "10.0.0.2:4420", "nvmeof0c2", wholeError()}};
	return volume;
}

Json disconnectedAll()
{
	Controller owned = wholeController(), other = wholeController();
	owned.owner = "nvmeofd";
	other.name = "nvmeof0c2";
	other.owner.clear();
	Json document = disconnectDocument({"nvmeof0c3"});
	addKept(document, {{owned, false}, {other, true}});
	return document;
}

Json wouldDisconnect()
{
	Json document = disconnectDocument({});
	addPlan(document, {wholeController()}, {wholeNamespace()});
	return document;
}

doctor::Diagnosis wholeDiagnosis()
{
	doctor::Diagnosis diagnosis;
	diagnosis.findings = {
		{doctor::Severity::problem, "no_usable_path", "nvmeof0n1", "no usable path for 10 s; 17 requests wait",
		 "restore nvmeof0c1"},
		{doctor::Severity::warning, "clock_unsynchronized", "clock", "not synchronized", "start chrony"}};
	diagnosis.skipped = {{"mtu", "nvmeof0c1", "10.0.0.1 does not answer ping"}};
	diagnosis.subsystems = 1;
	diagnosis.controllers = 2;
	diagnosis.namespaces = 3;
	diagnosis.paths = 4;
	return diagnosis;
}

nofctl::KeyringKey wholeKey()
{
	return {205230604, "logon", "nvmeof:dhchap:host:nqn.host:nqn.2024-01.com.example:flash1"};
}

nofctl::KeyringKey wholeTlsKey()
{
	return {114209093, "psk", "NVMe0R01 nqn.host nqn.2024-01.com.example:flash1"};
}

std::vector<Golden> all()
{
	Snapshot s = wholeSnapshot();
	return {
		{"list", "list.json", pretty(listDocument(s))},
		{"list-subsys", "list-subsys.json", pretty(subsystemsDocument(s))},
		{"show", "show-subsystem.json", pretty(showDocument(wholeSubsystem(), s))},
		{"show", "show-controller.json", pretty(showDocument(wholeController(), s))},
		{"show", "show-namespace.json", pretty(showDocument(wholeNamespace(), s))},
		{"show", "show-path.json", pretty(showDocument(wholePath(), s))},
		{"reservation", "reservation.json", pretty(reservationDocument("nvmeof0n1", wholeReservation()))},
		{"stats", "stats.json", pretty(statsJson(s))},
		{"top", "top.json", pretty(frame())},
		{"monitor", "monitor.ndjson", monitorLines()},
		{"doctor", "doctor.json", pretty(doctor::documentOf(wholeDiagnosis()))},
		{"events", "events.json", pretty(eventsDocument("/var/lib/nvmeof/events", keptEvents()))},
		{"connect", "connect.json", pretty(connected())},
		{"connect-all", "connect-all.json", pretty(connectedAll())},
		{"connect-nbft", "connect-nbft.json", pretty(connectedByNbft())},
		{"nbft", "nbft.json", pretty(nbftDocument(std::vector{wholeNbft()}))},
		{"config", "config.json", pretty(configChecked())},
		{"import", "import.json",
		 pretty(importDocument({"stafd.conf"}, {{{"stafd.conf", 3}, "tron", "no place"}}, "[mdns]\n"))},
		{"discover", "discover.json", pretty(discoveryDocument())},
		{"disconnect-all", "disconnect-all.json", pretty(disconnectedAll())},
		{"disconnect", "disconnect.json", pretty(disconnectDocument({"nvmeof0c1"}))},
		{"disconnect", "disconnect-dry-run.json", pretty(wouldDisconnect())},
		{"disconnect", "disconnect-in-use.json",
		 pretty(disksInUseDocument({{"nvmeof0n1", {{"mount", "/data"}, {"device", "dm-3 (scratch)"}}}}))},
		{"apply-policy", "apply-policy.json", pretty(policiesDocument(policies()))},
		{"reset", "reset.json", pretty(doneDocument("nvmeof0c1", "reset started"))},
		{"rescan", "rescan.json", pretty(doneDocument("nvmeof0c1", "scanned"))},
		{"set", "set.json", pretty(doneDocument("nvmeof0", "set"))},
		{"daemon", "daemon.json", pretty(reloadedConfiguration())},
		{"cdc", "cdc.json", pretty({{"done", "set"}, {"records", 2}, {"generation", 7}})},
		{"upgrade", "upgrade.json",
		 pretty(upgradeDocument({"nvmeof_tcp",
					 {"0.1.0", "aaaaaaaaaaaaaaaa", "01ab", "cccccccccccccccc"},
					 {"0.2.0", "bbbbbbbbbbbbbbbb", "02ab", "cccccccccccccccc"},
					 "/lib/modules/6.12/updates/nvmeof_tcp.ko",
					 {"nvmeof0c1", "nvmeof0c2"},
					 {"nvmeof0c2"},
					 213ms}))},
		{"shutdown", "shutdown.json",
		 pretty(shutdownDocument(15000ms, {"nvmeof0", "nvmeof0c1"}, {wholeError()}))},
		{"gds", "gds-check.json", pretty(gdsChecked())},
		{"gds", "gds-config.json", pretty(cufileWritten())},
		{"map", "map.json", pretty(mapped())},
		{"plan", "plan.json", pretty(sized())},
		{"stripe", "stripe-plan.json",
		 pretty(layoutDocument("scratch", wholeLayout(), "[[stripe]]\n", "planned"))},
		{"stripe", "stripe-show.json",
		 pretty(stripesDocument({{"scratch", "active", 131072, 1 << 30, {"uuid.1"}, {"uuid.2"}, true, 1}}))},
		{"volume", "volume-attach.json", pretty(attachedDocument(wholeVolume()))},
		{"volume", "volume-detach.json",
		 pretty(detachedDocument(wholeVolume().entry, {true, {"nvmeof0c1"}, {{"mount", "/data"}}}))},
		{"volume", "volume-list.json",
		 pretty(volumesDocument(
			 {{wholeVolume().entry, wholeNamespace(), wholeVolume().byId, {{"mount", "/data"}}}}))},
		{"key", "key-check.json",
		 pretty(keyDocument({"/etc/nvmeof/keys/host.key", "DHHC-1", nofctl::KeyHash::sha256, 32}))},
		{"key", "key-insert.json", pretty(insertedKeyDocument(wholeKey()))},
		{"key", "key-list.json", pretty(keysDocument({wholeKey()}))},
		{"key", "key-export.json", pretty(exportedKeysDocument("/etc/nvmeof/keys/tls-keys", {wholeTlsKey()}))},
		{"key", "key-revoke.json", pretty(doneDocument(wholeKey().description, "revoked"))},
		{"gen-hostnqn", "gen-hostnqn.json", pretty(hostnqnDocument("nqn.host"))},
		{"show-hostnqn", "show-hostnqn.json", pretty(hostnqnDocument("nqn.host"))},
		{"version", "version.json", pretty(versionOfNow())},
		{"help", "error.json", pretty(errorDocument(wholeError()))}, // of every command that fails
	};
}

} // namespace

TEST_CASE("JSON documents equal the golden files byte for byte", "[golden]")
{
	for (const Golden &golden : all()) {
		CAPTURE(golden.file);
		checkFile(sources / "ctl/golden" / golden.file, golden.text);
	}
}

TEST_CASE("each command and each file has a golden document", "[golden]")
{
	std::set<std::string> commandsSeen, files;
	for (const Golden &golden : all()) {
		commandsSeen.insert(golden.command);
		CHECK(files.insert(golden.file).second);
	}
	for (const Command &command : commands())
		CHECK(commandsSeen.contains(command.name) != command.hidden);
	for (const auto &entry : std::filesystem::directory_iterator(sources / "ctl/golden"))
		CHECK(files.contains(entry.path().filename()));
}

TEST_CASE("each document has the schema version, and each member is in the reference", "[golden]")
{
	const std::string reference = textOf(sources / "../../Documentation/json.md");
	REQUIRE_FALSE(reference.empty());
	std::set<std::string> keys;
	for (const Golden &golden : all()) {
		CAPTURE(golden.file);
		std::istringstream lines(golden.text);
		bool many = golden.file.ends_with(".ndjson");
		for (std::string text = golden.text; many ? bool(std::getline(lines, text)) : !text.empty();) {
			Json json = Json::parse(text);
			CHECK(json.items().begin().key() == "schema_version");
			CHECK(json["schema_version"] == schemaVersion);
			keysOf(json, keys);
			if (!many)
				break;
		}
	}
	for (const std::string &key : keys) {
		CAPTURE(key);
		CHECK(reference.find("`" + key + "`") != std::string::npos);
	}
}
