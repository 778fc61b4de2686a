// SPDX-License-Identifier: LGPL-2.1-or-later
// A namespace of a command set unknown to the driver (here Key Value) has a generic node and no block device.
#include "control/nobody.h"
#include "support/stalled_writes.h"
#include "support/ports.h"
#include "support/ring.h"
#include "target/acts.h"
#include "target/connection.h"

#include <linux/fs.h>
#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

namespace guest::passthru_generic {

using namespace target;
using nobody::as;
using nobody::File;
using nobody::Who;
using target::acts::always;

namespace {

constexpr std::uint32_t nsid = 2;
constexpr std::uint32_t supported = 1, changes = 2;
constexpr std::size_t valueBytes = 3000; // not a multiple of the block size
constexpr std::uint8_t opVendor = 0x90, opBoth = 0x03;

Config config()
{
	Config c;
	c.ana = true;
	c.kas = 1;
	c.keyValue = true;
	c.keyEffects = {{op_kv_store, supported | changes}, {op_kv_retrieve, supported}, {op_kv_exist, supported}};
	c.keyEffects[opVendor] = supported;
	// of the NVM command set: must have no influence
	c.ioEffects = {{op_flush, supported}, {op_kv_delete, supported}};
	return c;
}

// A Key Value command by ioctl; returns an NVMe status or negative errno
int send(int fd, std::uint8_t opcode, std::uint32_t key, void *data = nullptr, std::size_t bytes = 0,
	 Millis limit = 0ms)
{
	nvme_passthru_cmd64 p{};
	p.opcode = opcode;
	p.nsid = nsid;
	p.cdw2 = key;
	p.cdw15 = ~key;
	p.cdw10 = static_cast<std::uint32_t>(bytes);
	p.cdw11 = 16;
	p.addr = reinterpret_cast<std::uintptr_t>(data);
	p.data_len = static_cast<std::uint32_t>(bytes);
	p.timeout_ms = static_cast<std::uint32_t>(limit.count());
	auto got = ::ioctl(fd, NVME_IOCTL_IO64_CMD, &p);
	if (got < 0)
		return -errno;
	return got & st_type_and_code;
}

int store(int fd, std::uint32_t key, std::uint32_t seed)
{
	Buffer value(4096);
	value.fill(seed);
	return send(fd, op_kv_store, key, value.data(), valueBytes);
}

// Whether the stored value has the pattern of this seed
bool holds(int fd, std::uint32_t key, std::uint32_t seed)
{
	Buffer wanted(4096), value(4096);
	wanted.fill(seed);
	return send(fd, op_kv_retrieve, key, value.data(), valueBytes) == 0 &&
	       !std::memcmp(value.data(), wanted.data(), valueBytes);
}

struct Scene {
	Ports ports;
	std::string name, node; // nvmeof0n2, /dev/ngnvmeof0n2

	explicit Scene(std::size_t count = 2, const Config &c = config()) : ports(std::vector<Config>(count, c))
	{
		add();
		if (count > 1)
			ports[1].setAnaState(1, ana_non_optimized);
	}
	void add() { ports.subsystem().stores().add(nsid, 1 << 20)->makeKeyValue(); }
	std::optional<nvmeof::Namespace> ns() { return ports.host.nameSpace(nsid, ports[0].config().nqn); }
	void find()
	{
		REQUIRE(eventually([this] {
			auto found = ns();
			name = found ? found->name : "";
			node = "/dev/ng" + name;
			return found && exists(node);
		}));
	}
	void connect()
	{
		ports.connectAll();
		find();
		REQUIRE(eventually([this] { return ns()->usablePaths == ports.count(); }, 20s));
	}
	void tell()
	{
		for (std::size_t i = 0; i < ports.count(); i++)
			ports[i].namespacesChanged();
	}
	std::string attribute(const char *file) const { return readFile("/sys/block/" + name + "/" + file); }
};

bool cutCommand(Strike &s)
{
	if (!s.io())
		return false;
	auto *conn = &s.conn;
	s.verdict = Verdict::drop;
	s.after = [conn] { conn->end(true); };
	return true;
}

const auto cut = always(Hook::command, cutCommand);

} // namespace

TEST_CASE("a namespace of another command set has only a generic node", "[passthru][generic][short]")
{
	Scene s;
	s.connect();
	struct stat node {};
	REQUIRE(::stat(s.node.c_str(), &node) == 0);
	CHECK(S_ISCHR(node.st_mode));
	CHECK_FALSE(exists("/dev/" + s.name));
	CHECK(s.attribute("hidden") == "1");
	CHECK(s.attribute("size") == "0");
	CHECK(s.attribute("csi") == "1");
	CHECK(s.attribute("nsid") == "2");
	CHECK_FALSE(exists("/sys/block/" + s.name + "/nuse"));
	CHECK(readFile("/proc/partitions").find(s.name) == std::string::npos);
	CHECK(nvmeof::genericOnly(*s.ns()));

	CHECK(must("nvmeofctl list").find(s.node + " ") != std::string::npos);
	CHECK(must("nvmeofctl list").find("generic only") != std::string::npos);
	auto shown = must("nvmeofctl show " + s.name);
	CHECK(shown.find("1: generic node only") != std::string::npos);
	CHECK(shown.find(s.node) != std::string::npos);
	auto json = must("nvmeofctl show --json " + s.name);
	CHECK(json.find("\"generic_only\": true") != std::string::npos);
	CHECK(json.find("\"csi\": 1") != std::string::npos);
	CHECK(must("nvmeofctl list --json").find("\"csi\": 0") != std::string::npos);

	File file(s.node, O_RDWR);
	REQUIRE(file.fd >= 0);
	CHECK(::ioctl(file.fd, NVME_IOCTL_ID) == int(nsid));
	CHECK(store(file.fd, 7, 1) == 0);
	CHECK(store(file.fd, 8, 2) == 0);
	CHECK(holds(file.fd, 7, 1));
	CHECK(holds(file.fd, 8, 2));
	CHECK(send(file.fd, op_kv_exist, 7) == 0);
	CHECK(send(file.fd, op_kv_exist, 9) == st_no_such_key);
	CHECK(send(file.fd, op_kv_delete, 7) == 0);
	CHECK(send(file.fd, op_kv_exist, 7) == st_no_such_key);
	CHECK(send(file.fd, op_flush, 0) == 0);

	// by io_uring, to an address that the transport cannot transfer data to
	Ring ring(4);
	Buffer odd(8192), wanted(4096);
	wanted.fill(2);
	nvme_uring_cmd cmd{};
	cmd.opcode = op_kv_retrieve;
	cmd.nsid = nsid;
	cmd.cdw2 = 8;
	cmd.cdw15 = ~8u;
	cmd.addr = reinterpret_cast<std::uintptr_t>(odd.data() + 1);
	cmd.data_len = valueBytes;
	CHECK(ring.one(file.fd, NVME_URING_CMD_IO, cmd).res == 0);
	CHECK(!std::memcmp(odd.data() + 1, wanted.data(), valueBytes));

	// requests without meaning for this namespace
	nvme_user_io old{};
	old.opcode = 2;
	old.addr = cmd.addr;
	std::uint64_t bytes = 0;
	CHECK((::ioctl(file.fd, NVME_IOCTL_SUBMIT_IO, &old) < 0 && errno == EOPNOTSUPP));
	CHECK((::ioctl(file.fd, BLKGETSIZE64, &bytes) < 0 && errno == ENOTTY));
	CHECK(send(file.fd, op_flush, 0, odd.data(), 512) == -EINVAL);
	CHECK(send(file.fd, opBoth, 0, odd.data(), 512) == -EINVAL);

	// the other namespace is an ordinary disk
	Disk disk(s.ports.disk());
	CHECK(s.ports.work(disk) == 0);
	CHECK(holds(file.fd, 8, 2));
}

TEST_CASE("commands of another command set use either path", "[passthru][generic]")
{
	Scene s;
	s.connect();
	File file(s.node, O_RDWR);
	REQUIRE(store(file.fd, 1, 1) == 0);
	auto both = [&] { return eventually([&] { return s.ns()->usablePaths == 2; }, 20s); };

	// the ANA state makes the first path unusable
	s.ports[0].setAnaState(1, ana_inaccessible);
	CHECK(eventually([&] { return s.ns()->usablePaths == 1; }));
	CHECK(holds(file.fd, 1, 1));
	CHECK(store(file.fd, 2, 2) == 0);
	s.ports[0].setAnaState(1, ana_optimized);
	CHECK(both());

	// lost in flight: not retried, because their effects are unknown, except those that all command sets define
	for (auto [opcode, bytes] :
	     {std::pair{op_kv_store, valueBytes}, {op_kv_retrieve, valueBytes}, {op_kv_exist, std::size_t(0)}}) {
		INFO("opcode " << int(opcode));
		Buffer data(4096);
		s.ports[0].script().arm(cut);
		CHECK(send(file.fd, opcode, 1, data.data(), bytes) == st_host_aborted);
		CHECK(both());
	}
	s.ports[0].script().arm(cut);
	CHECK(send(file.fd, op_flush, 0) == 0);
	CHECK(both());
	CHECK(holds(file.fd, 2, 2));

	// without the first path
	s.ports[0].stop();
	CHECK(eventually([&] { return s.ns()->usablePaths == 1; }));
	CHECK(holds(file.fd, 2, 2));
	CHECK(store(file.fd, 3, 3) == 0);
	s.ports[0].start();
	CHECK(both());
	CHECK(holds(file.fd, 3, 3));
}

TEST_CASE("another command set: an ANA status goes to the caller and takes the path out of use",
	  "[passthru][generic][ana]")
{
	Scene s;
	s.connect();
	File file(s.node, O_RDWR);
	REQUIRE(store(file.fd, 1, 1) == 0);
	auto usable = [&](std::uint32_t count) {
		return eventually([&] { return s.ns()->usablePaths == count; }, 20s);
	};
	auto refusals = [&] { return s.ports[0].counters().anaRefusals + s.ports[1].counters().anaRefusals; };
	// without an event, so that the host sends the command there
	struct {
		AnaState state;
		int status;
	} const states[] = {{ana_inaccessible, st_ana_inaccessible},
			    {ana_persistent_loss, st_ana_persistent_loss},
			    {ana_change, st_ana_transition}};
	for (auto [state, status] : states) {
		INFO("state " << int(state));
		for (auto [opcode, bytes] : {std::pair{op_kv_store, valueBytes}, {op_kv_exist, std::size_t(0)}}) {
			INFO("opcode " << int(opcode));
			Buffer value(4096);
			value.fill(9);
			auto before = refusals();
			s.ports[0].setAnaState(1, state, false);
			CHECK(send(file.fd, opcode, 1, value.data(), bytes) == status);
			CHECK(refusals() == before + 1);
			// the refusal makes the host read the ANA log
			CHECK(usable(1));
			CHECK(holds(file.fd, 1, 1));
			CHECK(refusals() == before + 1);
			s.ports[0].setAnaState(1, ana_optimized);
			CHECK(usable(2));
		}
		auto before = refusals();
		s.ports[0].setAnaState(1, state, false);
		CHECK(send(file.fd, op_flush, 0) == 0);
		CHECK(refusals() == before + 1);
		CHECK(usable(1));
		s.ports[0].setAnaState(1, ana_optimized);
		CHECK(usable(2));
	}

	// no usable path: commands wait, up to their time limit
	for (std::size_t i : {0u, 1u})
		s.ports[i].setAnaState(1, ana_inaccessible);
	REQUIRE(usable(0));
	auto before = refusals();
	CHECK(send(file.fd, op_kv_exist, 1, nullptr, 0, scaled(500ms)) == -ENOLINK);
	Pending waits([&file] { return store(file.fd, 2, 2); });
	std::this_thread::sleep_for(scaled(300ms));
	CHECK(waits.waits());
	CHECK(refusals() == before);
	s.ports[1].setAnaState(1, ana_non_optimized);
	REQUIRE(waits.join(20s));
	CHECK(waits.status() == 0);
	CHECK(holds(file.fd, 2, 2));
}

namespace {

// Assigns the namespaces to several command sets, in the list of identification descriptors
constexpr std::uint8_t firstSet = 0x30, sets = 6, keptSets = 4, opFormat = 0x80;

bool tellSets(Strike &s)
{
	if (!s.identify(cns_descs) || s.cmd->nsid < nsid)
		return false;
	put<std::uint8_t>(*s.data, csi_at, static_cast<std::uint8_t>(firstSet + s.cmd->nsid % sets));
	return false;
}

// Counts reads of the effects log of unknown command sets
bool effectsRead(Strike &s)
{
	auto csi = s.cmd->cdw14 >> 24;
	return s.log(log_effects) && csi != 0 && csi != csi_zns;
}

constexpr std::uint8_t extendedLogPage = 1 << 2;
const auto withoutEffects = always(Hook::adminData, [](Strike &s) {
	return target::acts::poke<std::uint8_t>(s.identify(cns_ctrl), s, at::lpa, extendedLogPage);
});
const auto effectsOfOne = always(Hook::adminData, effectsRead);
const auto effectsOfMany = always(Hook::adminData, [](Strike &s) { return tellSets(s) || effectsRead(s); });

} // namespace

TEST_CASE("the effects log of another command set is read once per connection", "[passthru][generic][effects]")
{
	bool many = GENERATE(false, true);
	constexpr std::uint32_t count = 30; // more than are identified at a time
	const std::size_t reads = many ? keptSets : 1;
	Scene s(1);
	for (std::uint32_t i = 1; i < count; i++)
		s.ports.subsystem().stores().add(nsid + i, 1 << 20)->makeKeyValue();
	s.ports[0].script().arm(many ? effectsOfMany : effectsOfOne, Script::forever);
	auto name = s.ports.connect(0).name;
	s.find();
	auto scanned = [&] {
		return eventually(
			[&] {
				auto c = s.ports.host.controller(name);
				auto all = take(s.ports.host.client().namespaces());
				return c.state == nvmeof::ControllerState::live && c.scans > 0u &&
				       std::ranges::count_if(all, nvmeof::genericOnly) == std::ptrdiff_t(count);
			},
			20s);
	};
	// Number of nodes at which a command that the log reports as harmless is permitted
	auto open = [&] {
		std::size_t open = 0;
		for (std::uint32_t i = 0; i < count; i++) {
			auto ns = s.ports.host.nameSpace(nsid + i, s.ports[0].config().nqn);
			File readable("/dev/ng" + ns->name, O_RDONLY);
			nvme_passthru_cmd64 p{};
			p.opcode = many ? std::uint8_t(op_flush) : op_kv_exist;
			p.nsid = nsid + i;
			open += as(Who::nobody, [&] {
					auto got = ::ioctl(readable.fd, NVME_IOCTL_IO64_CMD, &p);
					return got < 0 && errno == EACCES ? 1 : 0;
				}) == 0;
		}
		return open;
	};
	const std::size_t opened = many ? count / sets * keptSets : count;
	REQUIRE(scanned());
	CHECK(s.ports[0].script().strikes() == reads);
	CHECK(open() == opened);

	must("nvmeofctl rescan " + name);
	CHECK(s.ports[0].script().strikes() == reads);
	CHECK(open() == opened);

	// a command that stops I/O may change anything
	{
		File controller("/dev/" + name, O_RDWR);
		nvme_passthru_cmd p{};
		p.opcode = opFormat;
		p.nsid = nsid;
		CHECK(::ioctl(controller.fd, NVME_IOCTL_ADMIN_CMD, &p) > 0);
	}
	CHECK(s.ports[0].script().strikes() == 2 * reads);

	// after a reconnect it may be another target
	must("nvmeofctl reset " + name);
	REQUIRE(eventually([&] { return s.ports.host.controller(name).reconnects == 1; }, 20s));
	REQUIRE(scanned());
	CHECK(s.ports[0].script().strikes() == 3 * reads);
	CHECK(open() == opened);
	if (many)
		return;

	// without the log no command is known to be harmless
	s.ports[0].script().arm(withoutEffects, Script::forever);
	must("nvmeofctl reset " + name);
	REQUIRE(eventually([&] { return s.ports.host.controller(name).reconnects == 2; }, 20s));
	REQUIRE(scanned());
	CHECK(open() == 0);
}

TEST_CASE("commands of another command set without privilege: as the effects log permits",
	  "[passthru][generic][nobody]")
{
	bool logged = GENERATE(true, false);
	auto c = config();
	if (!logged)
		c.keyEffects.clear(), c.ioEffects.clear();
	Scene s(2, c);
	s.connect();
	File readable(s.node, O_RDONLY), writable(s.node, O_RDWR), writeOnly(s.node, O_WRONLY);
	auto may = [](int fd, std::uint8_t opcode) {
		Buffer data(4096);
		auto bytes = opcode & 3 ? valueBytes : 0;
		return as(Who::nobody, [&] { return send(fd, opcode, 1, data.data(), bytes) == -EACCES ? 1 : 0; }) == 0;
	};
	struct Expected {
		std::uint8_t opcode;
		bool reader, writer, onlyWriter;
	};
	// Delete and Flush are only in the log of the NVM command set
	const Expected all[] = {
		{op_kv_store, false, true, true},       {op_kv_retrieve, true, true, false},
		{op_kv_exist, true, true, true},        {op_kv_delete, false, false, false},
		{op_flush, false, false, false},        {opVendor, false, false, false},
		{op_write_zeroes, false, false, false},
	};
	for (auto &one : all) {
		INFO("opcode " << int(one.opcode) << (logged ? ", as logged" : ", no log"));
		CHECK(may(readable.fd, one.opcode) == (logged && one.reader));
		CHECK(may(writable.fd, one.opcode) == (logged && one.writer));
		CHECK(may(writeOnly.fd, one.opcode) == (logged && one.onlyWriter));
	}
	CHECK(as(Who::nobody, [&] { return nobody::identify(readable.fd, nsid, cns_indep); }) == 0);
	CHECK(as(Who::nobody, [&] { return nobody::identify(readable.fd, 1, cns_indep); }) == EACCES);
}

TEST_CASE("a namespace of another command set disappears and returns", "[passthru][generic][short]")
{
	Scene s;
	s.connect();
	File file(s.node, O_RDWR);
	REQUIRE(store(file.fd, 1, 1) == 0);
	s.ports.subsystem().stores().remove(nsid);
	s.tell();
	CHECK(eventually([&] { return !exists(s.node); }));
	CHECK(eventually([&] { return !exists("/sys/block/" + s.name); }));
	CHECK(store(file.fd, 1, 1) == -ENODEV);
	s.add();
	s.tell();
	s.find();
	File again(s.node, O_RDWR);
	CHECK(store(again.fd, 1, 2) == 0);
	CHECK(holds(again.fd, 1, 2));

	// write protection is reported; the target enforces it
	s.ports.subsystem().stores().find(nsid)->writeProtect(true);
	s.tell();
	CHECK(eventually([&] { return s.ns() && s.ns()->readOnly; }));
	CHECK(store(again.fd, 1, 3) == st_write_protected);
	s.ports.subsystem().stores().find(nsid)->writeProtect(false);
	s.tell();
	CHECK(eventually([&] { return s.ns() && !s.ns()->readOnly; }));

	// the neighbouring disk changes to another command set
	auto disk = s.ports.disk();
	s.ports.store().makeKeyValue();
	s.tell();
	CHECK(eventually([&] { return !exists(disk); }));
	CHECK(eventually([&] {
		auto ns = s.ports.host.nameSpace(1, s.ports[0].config().nqn);
		return ns && nvmeof::genericOnly(*ns) && exists("/dev/ng" + ns->name);
	}));
}

TEST_CASE("WaitFor::udev includes the generic node, which is no volume", "[passthru][generic][udev][short]")
{
	must("pidof systemd-udevd || pidof udevd || /usr/lib/systemd/systemd-udevd --daemon --resolve-names=never");
	Scene s;
	for (std::size_t i : {0u, 1u}) {
		auto made = take(s.ports.host.client().connect(s.ports.options(i), nvmeof::WaitFor::udev, scaled(20s)));
		s.find();
		CHECK(std::ranges::count(made.disks, s.name) == 1);
	}
	auto attach = run("nvmeofctl volume attach -n " + s.ports[0].config().nqn + " --nsid " + std::to_string(nsid) +
			  " -t " + (overRdma() ? "rdma" : "tcp") + " -a " + here() + ":" +
			  std::to_string(s.ports[0].port()) + " --timeout 20");
	CHECK(attach.status != 0);
	CHECK(attach.text.find("only a character device") != std::string::npos);
	run("udevadm control --exit");
}

namespace {

const Misbehaviour wrong[] = {
	always(Hook::adminData,
	       [](Strike &s) { return acts::when(s.identify(cns_indep), [&] { std::ranges::fill(*s.data, 0xff); }); }),
	always(Hook::adminData,
	       [](Strike &s) { return acts::poke(s.identify(cns_indep), s, at::indep_fpi, 0x80 | 101); }),
	always(Hook::adminData, [](Strike &s) { return acts::poke(s.identify(cns_indep), s, at::indep_anagrpid, 0); }),
	always(Hook::adminData, [](Strike &s) { return acts::poke(s.identify(cns_indep), s, at::indep_anagrpid, 99); }),
	always(Hook::command,
	       [](Strike &s) { return acts::failed(s.identify(cns_indep), s, st_invalid_field | st_dnr); }),
};
const char *const reasons[] = {"FPI", "FPI", "ANAGRPID", "ANAGRPID", "Identify Namespace of CNS 08h failed"};
static_assert(std::size(wrong) == std::size(reasons));

} // namespace

TEST_CASE("wrong identification of a namespace of another command set is refused",
	  "[passthru][generic][hostile][short]")
{
	for (std::size_t i = 0; i < std::size(wrong); i++) {
		INFO(i << ": " << reasons[i]);
		Scene s(1);
		Watch watch;
		s.ports[0].script().arm(wrong[i], Script::forever);
		s.ports.connect(0);
		auto event = watch.find([](auto &e) { return e.type == nvmeof::EventType::refused; });
		REQUIRE(event);
		CHECK(event->reason.find("namespace 2 refused") != std::string::npos);
		CHECK(event->reason.find(reasons[i]) != std::string::npos);
		CHECK_FALSE(s.ns());
		Disk disk(s.ports.disk());
		CHECK(s.ports.work(disk) == 0);
		s.ports[0].script().disarm();
	}
}

TEST_CASE("a namespace of another command set that is not ready is tried again", "[passthru][generic][short]")
{
	static const auto unready = always(
		Hook::adminData, [](Strike &s) { return acts::poke(s.identify(cns_indep), s, at::indep_nstat, 0); });
	static const auto busy = always(Hook::command, [](Strike &s) {
		return acts::failed(s.identify(cns_descs) && s.cmd->nsid == nsid, s, st_ns_not_ready);
	});
	auto &late = GENERATE(true, false) ? unready : busy;
	Scene s(1);
	Watch watch;
	s.ports[0].script().arm(late, Script::forever);
	auto options = s.ports.options(0);
	REQUIRE(s.ports.host.client().connect(options, nvmeof::WaitFor::controller, 10s));
	auto event = watch.find([](auto &e) { return e.type == nvmeof::EventType::refused; });
	REQUIRE(event);
	CHECK(event->reason.find("tried again later") != std::string::npos);
	CHECK((event->reason.find("not ready") != std::string::npos) == (&late == &unready));
	CHECK_FALSE(s.ns());
	s.ports[0].script().disarm();
	s.find();
	{
		File file(s.node, O_RDWR);
		CHECK(store(file.fd, 1, 1) == 0);
	}
	// a namespace that was ready keeps its node
	s.ports[0].script().arm(late, Script::forever);
	s.tell();
	CHECK(eventually([&] { return s.ports[0].script().strikes() > 1; }));
	File file(s.node, O_RDWR);
	CHECK(holds(file.fd, 1, 1));
	s.ports[0].script().disarm();
}

} // namespace guest::passthru_generic
