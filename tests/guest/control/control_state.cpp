// SPDX-License-Identifier: LGPL-2.1-or-later
// Reports of the kernel to programs that manage its objects: owners, users of disks, and scans.
#include "control.h"
#include "support/rig.h"

#include <cerrno>
#include <memory>

namespace guest::control_state {

using nvmeof::EventType;

namespace {

std::uint32_t openers(Rig &rig)
{
	return rig.host.nameSpace(1).value().openers;
}

std::unique_ptr<Background> holdOpen(const std::string &disk)
{
	return std::make_unique<Background>("exec sleep 60 < " + disk);
}

} // namespace

TEST_CASE("a controller is configured, reset and deleted by sysfs, with the names of the in-tree driver",
	  "[control][sysfs]")
{
	Rig rig;
	auto c = rig.connect();
	auto file = [&](const std::string &name) { return "/sys/class/nvmeof/" + c.name + "/" + name; };
	auto write = [&](const std::string &name, const std::string &text) {
		return run("echo " + text + " > " + file(name)).status == 0;
	};
	CHECK(readFile(file("cntrltype")) == "io");
	CHECK(readFile(file("dctype")) == "none");
	CHECK(readFile("/sys/block/" + rig.disk().substr(5) + "/csi") == "0");
	CHECK(readFile("/sys/block/" + rig.disk().substr(5) + "/metadata_bytes") == "0");
	// As the target reports: without thin provisioning the whole namespace is in use.
	CHECK(std::stoull(readFile("/sys/block/" + rig.disk().substr(5) + "/nuse")) > 0);
	CHECK(write("ctrl_loss_tmo", "120"));
	CHECK(write("fast_io_fail_tmo", "60"));
	CHECK(write("reconnect_delay", "3"));
	auto now = rig.host.controller(c.name);
	CHECK(now.ctrlLoss == 120s);
	CHECK(now.fastIoFail == 60s);
	CHECK(now.reconnectDelay == 3s);
	CHECK(readFile(file("ctrl_loss_tmo")) == "120");
	for (auto *text : {"121", "abc", "99999999999", "''"})
		CHECK_FALSE(write("fast_io_fail_tmo", text)); // longer than ctrl_loss_tmo, or not a time
	for (auto *text : {"0", "-1", "off", "86401"})
		CHECK_FALSE(write("reconnect_delay", text));
	CHECK(rig.host.controller(c.name).reconnectDelay == 3s);
	CHECK(write("fast_io_fail_tmo", "-1"));
	CHECK(write("ctrl_loss_tmo", "off"));
	CHECK(readFile(file("ctrl_loss_tmo")) == "off");
	CHECK(rig.host.controller(c.name).ctrlLoss < 0s);

	auto scans = rig.host.controller(c.name).scans.value_or(0);
	CHECK(write("rescan_controller", "1"));
	CHECK(eventually([&] { return rig.host.controller(c.name).scans.value_or(0) > scans; }));
	CHECK(write("reset_controller", "1"));
	CHECK(eventually([&] { return rig.host.controller(c.name).reconnects > c.reconnects; }));
	CHECK(rig.host.waitState(c.name, nvmeof::ControllerState::live));
	CHECK(write("delete_controller", "1"));
	CHECK(eventually([&] { return !exists(file("state")); }));
}

TEST_CASE("the end of each scan is reported, and scans are counted since the controller became live",
	  "[control][scans][events]")
{
	Rig rig;
	Watch watch;
	auto c = rig.connect();
	auto scanned = [&](std::uint32_t count) {
		auto event = watch.find(
			[&](const nvmeof::Event &e) { return e.type == EventType::scanned && e.name() == c.name; });
		REQUIRE(event);
		CHECK(event->scanErrno == 0);
		CHECK(event->controller()->scans == count);
		CHECK(rig.host.controller(c.name).scans == count);
	};
	scanned(1);
	CHECK(rig.host.client().rescan(c.name).ok());
	scanned(2);
	Loop more(1 << 20);
	rig.subsystem.addNamespace(2, more.device());
	scanned(3);
	CHECK(rig.host.nameSpace(2)); // the event follows the disk
	rig.subsystem.removeNamespace(2);
	scanned(4);
	CHECK_FALSE(rig.host.nameSpace(2));
	CHECK(rig.host.client().reset(c.name).ok());
	scanned(1);
}

TEST_CASE("the owner of a controller is set, changed and cleared", "[control][owner]")
{
	Rig rig;
	auto &client = rig.host.client();
	auto o = rig.options();
	o.owner = "some-daemon";
	Watch watch;
	auto c = rig.host.connect(o);
	CHECK(c.owner == "some-daemon");
	auto tells = [&](const std::string &owner) {
		auto event = watch.find(
			[&](const nvmeof::Event &e) { return e.name() == c.name && e.type == EventType::changed; });
		CHECK((event && event->controller()->owner == owner));
		CHECK(rig.host.controller(c.name).owner == owner);
	};
	auto set = [&](const std::string &owner) {
		nvmeof::ControllerSettings settings;
		settings.owner = owner;
		return client.set(c.name, settings);
	};
	const std::string longest(31, 'o');
	CHECK(set(longest).ok());
	tells(longest);
	auto refused = [](const auto &result) {
		REQUIRE_FALSE(result.ok());
		CHECK(result.error().sysErrno == EINVAL);
		CHECK(result.error().code != nvmeof::ErrorCode::refused); // refused by the kernel, not the target
	};
	o.duplicateConnect = true;
	for (const char *bad : {"longer-than-31-bytes-by-one-byte", "a b", "a\nb", "\x1b[2J", "\x7f"}) {
		INFO(bad);
		refused(set(bad));
		o.owner = bad;
		refused(client.start(o));
	}
	CHECK(take(client.controllers()).size() == 1);
	CHECK(rig.host.controller(c.name).owner == longest);
	CHECK(set("o\xc3\xa4").ok()); // names are UTF-8
	tells("o\xc3\xa4");
	CHECK(set("").ok());
	tells("");
	CHECK(rig.host.controller(c.name).ctrlLoss == c.ctrlLoss); // nothing else has changed
}

// Like one target with two NQNs, or a copy of a volume with the identifiers of the original
struct Copy {
	nvmet::Subsystem subsystem{"testcopy"}; // not a valid NQN
	Loop backing{8 << 20};
	Rig &rig;

	explicit Copy(Rig &r) : rig(r)
	{
		subsystem.addNamespace(1, backing.device(), {.uuid = nvmet::Subsystem::uuidFor(1)});
		rig.port.link(subsystem);
	}
	~Copy() { rig.port.unlink(subsystem); }

	Output connect(const std::string &wait)
	{
		return run("nvmeofctl connect -t " + transport() + " -n testcopy -a " + here() + " --wait " + wait);
	}
	bool hasDisk() const { return rig.host.nameSpace(1, subsystem.nqn()).has_value(); }
	// Names depend on earlier tests in this guest.
	std::string controller() const
	{
		for (auto &c : take(rig.host.client().controllers()))
			if (c.subsysnqn == subsystem.nqn())
				return c.name;
		return "";
	}
};

TEST_CASE("of two namespaces with one identifier only the first becomes a disk", "[control][same-ids]")
{
	Rig rig;
	rig.connect();
	const std::string first = rig.disk();
	Copy copy(rig);
	auto connected = copy.connect("ctrl");
	INFO(connected.text);
	CHECK(connected.status == 0);
	CHECK(connected.text.find("testcopy: not a valid NQN") != std::string::npos);
	CHECK(eventually(
		[&] { return kernelLogHas("namespace 1 refused: " + first.substr(5) + " has the same identifiers"); },
		5s));
	CHECK_FALSE(copy.hasDisk());
	auto shown = run("nvmeofctl show " + copy.controller());
	INFO(shown.text);
	CHECK(shown.text.find("a disk of another subsystem has its identifiers") != std::string::npos);
	// After the first is gone, a rescan makes the second a disk, and then the first is refused.
	must("nvmeofctl disconnect -n " + std::string(testNqn));
	pause(500ms);
	CHECK_FALSE(copy.hasDisk());
	must("nvmeofctl rescan " + copy.controller());
	CHECK(copy.hasDisk());
	auto again = rig.connect();
	pause(500ms);
	CHECK_FALSE(rig.host.nameSpace(1));
	must("nvmeofctl disconnect -n testcopy");
	must("nvmeofctl rescan " + again.name);
	CHECK(rig.disk() == first);
}

TEST_CASE("two disks with one identifier are reported if duplicate_ids allows them", "[control][same-ids]")
{
	Rig rig;
	ModuleParameter allowed("duplicate_ids", "1");
	rig.connect();
	const std::string first = rig.disk();
	Copy copy(rig);
	Watch watch;
	CHECK(copy.connect("ns").status == 0);
	auto event = watch.find([](const nvmeof::Event &e) { return e.type == EventType::sameIds; });
	REQUIRE(event);
	auto listed = run("nvmeofctl list");
	CHECK(listed.status == 0);
	CHECK(listed.text.find(first + ": ") != std::string::npos);
	CHECK(listed.text.find("has the same identifiers") != std::string::npos);
	CHECK(run("nvmeofctl disconnect -n testcopy").status == 0);
	CHECK(run("nvmeofctl list").text.find("has the same identifiers") == std::string::npos);
}

TEST_CASE("connect to a target that requires authentication exits with code 5", "[control][authentication]")
{
	const std::string host = "nqn.2024-01.io.example:with-a-key";
	const std::string dir = "/sys/kernel/config/nvmet/hosts/" + host;
	nvmet::Subsystem subsystem("nqn.2024-01.io.example:keys", false);
	nvmet::Port port(7, here(), 4427);
	must("mkdir " + dir);
	must("nvme gen-dhchap-key -m 0 -n " + host + " > /run/key && cat /run/key > " + dir + "/dhchap_key");
	must("ln -s " + dir + " /sys/kernel/config/nvmet/subsystems/" + subsystem.nqn() + "/allowed_hosts/");
	port.link(subsystem);
	Host ours;
	auto result = run("nvmeofctl connect -t " + transport() + " -n " + subsystem.nqn() + " -q " + host + " -a " +
			  here() + ":4427");
	INFO(result.text);
	CHECK(result.status == 5);
	CHECK(result.text.find("uthentication") != std::string::npos);
	port.unlink(subsystem);
	must("rm /sys/kernel/config/nvmet/subsystems/" + subsystem.nqn() + "/allowed_hosts/*; rmdir " + dir);
}

TEST_CASE("openers of a disk are counted, mounts as well", "[control][openers]")
{
	Rig rig;
	rig.connect();
	auto disk = rig.disk();
	auto becomes = [&](std::uint32_t count) { return eventually([&] { return openers(rig) == count; }); };
	CHECK(becomes(0)); // udev has closed it
	auto one = holdOpen(disk);
	CHECK(becomes(1));
	auto two = holdOpen(disk);
	CHECK(becomes(2));
	one.reset();
	CHECK(becomes(1));
	two.reset();
	CHECK(becomes(0));
	must("mkfs.ext4 -q " + disk + " && mount " + disk + " /mnt");
	CHECK(becomes(1));
	must("umount /mnt");
	CHECK(becomes(0));
}

} // namespace guest::control_state
