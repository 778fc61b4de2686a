// SPDX-License-Identifier: LGPL-2.1-or-later
// Volumes: identifiers, users, the records of attached volumes, and attach and detach with a scripted kernel.
#include <catch2/catch.hpp>

#include <cerrno>
#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "kernel.h"
#include "tests/unit/scratch.h"
#include "libctl/volume/fence.h"
#include "libctl/volume/grpc_code.h"
#include "libctl/volume/disk_users.h"
#include "libctl/volume/volume.h"

using namespace nvmeof;
using namespace nofctl::volume;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

constexpr const char *nqn = "nqn.test";
constexpr const char *uuidText = "6f1b2c3d-0000-4000-8000-0123456789ab";

VolumeId idOf(const std::string &text)
{
	std::optional<VolumeId> id = VolumeId::parse(text);
	REQUIRE(id);
	return *id;
}

// A fake machine in files, with the disk nvmeof0n1
struct Machine : Scratch {
	Machine()
	{
		write("sys/block/nvmeof0n1/dev", "259:1\n");
		write("sys/block/nvmeof0n1/nvmeof0n1p1/dev", "259:2\n");
		write("sys/block/nvmeof0n1/nvmeof0n1p1/partition", "1\n");
		write("dev/nvmeof0n1", "");
		write("proc/self/mountinfo", "");
		write("udev/control", "");
		write("udev/data/b259:1",
		      std::string("S:disk/by-id/nvme-other\nS:disk/by-id/nvme-uuid.") + uuidText + "\nI:1234\n");
		fs::create_directories(path() / "dev/disk/by-id");
		fs::create_symlink("../../nvmeof0n1",
				   path() / "dev/disk/by-id" / (std::string("nvme-uuid.") + uuidText));
	}
	SystemPaths systemPaths() const
	{
		return {path() / "sys", path() / "proc", path() / "dev", path() / "udev", path() / "book"};
	}
};

// A target with two namespaces. Each connect is live at once.
struct Target {
	FakeKernel kernel;
	int made = 0;
	std::uint32_t openers = 0;
	std::uint32_t blockSize = 512; // 0: only a generic node

	Target()
	{
		kernel.on(NVMEOF_CMD_CTRL_NEW, [this](const Asked &asked) {
			const std::string address = asked.text(NVMEOF_A_TRADDR);
			if (address == "10.0.0.9")
				return kernel.fail(asked, ECONNREFUSED, "cannot connect");
			const std::string name = "nvmeof0c" + std::to_string(++made);
			kernel.controllers[name] = controller(name, asked);
			kernel.data(asked, NVMEOF_CMD_CTRL_NEW, *controller(name, asked));
			kernel.acknowledge(asked);
			kernel.event(NVMEOF_CMD_CTRL_NTF, NVMEOF_EVENT_SCANNED, *controller(name, asked));
			kernel.subsystems["nvmeof0"] = subsystemOf("nvmeof0");
			disk();
		});
		kernel.on(NVMEOF_CMD_CTRL_DEL, [this](const Asked &asked) {
			if (!kernel.controllers.erase(asked.text(NVMEOF_A_CTRL_NAME)))
				return kernel.fail(asked, ENODEV);
			if (kernel.controllers.empty())
				kernel.namespaces.clear(), kernel.subsystems.clear();
			kernel.acknowledge(asked);
		});
		kernel.on(NVMEOF_CMD_CTRL_RESCAN, [this](const Asked &asked) { kernel.acknowledge(asked); });
	}

	static std::shared_ptr<Payload> controller(const std::string &name, const Asked &asked)
	{
		auto c = controllerOf(name.c_str(), NVMEOF_CTRL_LIVE);
		c->u32(NVMEOF_A_SCANS, 1).text(NVMEOF_A_OWNER, asked.text(NVMEOF_A_OWNER).c_str());
		return c;
	}
	void disk()
	{
		auto ns = namespaceOf("nvmeof0n1", 1);
		const Uuid uuid = *Uuid::parse(uuidText);
		std::string bytes;
		for (std::uint8_t byte : uuid.bytes)
			bytes += static_cast<char>(byte);
		ns->binary(NVMEOF_A_UUID, bytes).u32(NVMEOF_A_NR_USABLE, 1).u32(NVMEOF_A_OPENERS, openers);
		ns->u32(NVMEOF_A_LBA_SIZE, blockSize).u64(NVMEOF_A_SIZE, blockSize * 8);
		kernel.namespaces["nvmeof0n1"] = ns;
	}
};

AttachOptions optionsOf(const std::string &id, std::vector<std::string> addresses = {"10.0.0.1"})
{
	AttachOptions options;
	for (const std::string &address : addresses) {
		ConnectOptions path;
		path.address = {address, "4420"};
		path.subsysnqn = nqn;
		path.hostnqn = "nqn.host";
		path.hostid = Uuid::parse("12345678-9abc-4def-8123-456789abcdef");
		options.paths.push_back(path);
	}
	options.id = idOf(id);
	options.timeout = 5s;
	return options;
}

} // namespace

TEST_CASE("identifiers of volumes are validated", "[volume]")
{
	for (const char *text : {"uuid.6f1b2c3d-0000-4000-8000-0123456789ab", "nguid.00112233445566778899aabbccddeeff",
				 "eui.0011223344556677", "nsid.7"})
		CHECK(idOf(text).toString() == text);
	CHECK(idOf("nguid.00112233-4455-6677-8899-AABBCCDDEEFF") == idOf("nguid.00112233445566778899aabbccddeeff"));
	for (const char *text : {"", "7", "uuid.", "uuid.7", "nguid.00", "nguid.0011223344556677",
				 "eui.001122334455667x", "nsid.0", "nsid.-1", "nsid.4294967295", "nsid.1x", "name.x"})
		CHECK_FALSE(VolumeId::parse(text));
	Namespace ns;
	ns.nsid = 7;
	ns.uuid = Uuid::parse(uuidText);
	CHECK(idOf("nsid.7").names(ns));
	CHECK_FALSE(idOf("nsid.8").names(ns));
	CHECK(idOf(std::string("uuid.") + uuidText).names(ns));
	CHECK_FALSE(idOf("eui.0011223344556677").names(ns));
}

TEST_CASE("every error has a gRPC code", "[volume]")
{
	std::ostringstream table;
	table << std::ifstream(fs::path(NVMEOF_SOURCES) / "../../Documentation/cluster.md").rdbuf();
	auto row = [&](const std::string &code, GrpcCode grpc) {
		CAPTURE(code);
		CHECK(table.str().find("`" + code + "` | " + toString(grpc) + " |") != std::string::npos);
	};
	for (int i = 0; i <= static_cast<int>(ErrorCode::cancelled); i++) {
		Error error;
		error.code = static_cast<ErrorCode>(i);
		row(nvmeof::toString(error.code), grpcCodeOf(error));
	}
	row("in_use", grpcCodeOf(errorFromErrno(EBUSY)));
}

TEST_CASE("the links and the readiness of a disk come from udev's database", "[volume]")
{
	Machine machine;
	UdevEntry entry = udevEntry(machine.systemPaths(), "nvmeof0n1");
	CHECK(entry.ready);
	CHECK(entry.byId == machine.path() / "dev/disk/by-id" / (std::string("nvme-uuid.") + uuidText));
	machine.write("udev/data/b259:1", "S:disk/by-id/nvme-other\n");
	entry = udevEntry(machine.systemPaths(), "nvmeof0n1");
	CHECK_FALSE(entry.ready);
	CHECK(entry.byId.empty()); // a link that does not exist, or leads elsewhere
	fs::remove(machine.path() / "udev/control");
	CHECK(udevEntry(machine.systemPaths(), "nvmeof0n1").ready); // without udevd a disk is ready
	CHECK_FALSE(udevEntry(machine.systemPaths(), "nvmeof0n2").ready);
}

TEST_CASE("users of a disk are found", "[volume]")
{
	Machine machine;
	CHECK(usersOf(machine.systemPaths(), "nvmeof0n1").empty());
	machine.write("proc/self/mountinfo", "22 1 0:5 / /dev rw - devtmpfs udev rw\n"
					     "23 1 259:2 / /data\\040set rw shared:1 - ext4 /dev/nvmeof0n1p1 rw\n"
					     "24 1 0:40 / /pool rw - btrfs /dev/nvmeof0n1 rw\n"
					     "25 1 0:5 /nvmeof0n1 /pods/x/block rw - devtmpfs udev rw\n"
					     "26 1 259:20 / /other rw - ext4 /dev/nvmeof0n10 rw\n");
	machine.write("proc/swaps", "Filename Type Size Used Priority\n/dev/nvmeof0n1p1 partition 1 0 -2\n");
	machine.write("sys/block/dm-3/dm/name", "scratch\n");
	machine.write("sys/block/nvmeof0n1/holders/dm-3", "");
	machine.write("proc/12/comm", "fio\n");
	fs::create_directories(machine.path() / "proc/12/fd");
	fs::create_symlink("/dev/nvmeof0n1", machine.path() / "proc/12/fd/3");
	const std::vector<User> expected{{"mount", "/data set"},       {"mount", "/pool"},
					 {"bind", "/pods/x/block"},    {"device", "dm-3 (scratch)"},
					 {"swap", "/dev/nvmeof0n1p1"}, {"program", "fio, process 12", 1}};
	CHECK(usersOf(machine.systemPaths(), "nvmeof0n1") == expected);
	CHECK(toString(expected).find("mounted on /data set; mounted on /pool; given to a container at") == 0);
}

TEST_CASE("users of several disks are found in one walk", "[volume]")
{
	Machine machine;
	machine.write("sys/block/nvmeof0n2/dev", "259:8\n");
	machine.write("sys/block/nvmeof0n2/holders/md0", "");
	machine.write("proc/self/mountinfo", "23 1 259:8 / /b rw - ext4 /dev/nvmeof0n2 rw\n");
	machine.write("proc/9/comm", "dd\n");
	machine.write("proc/12/comm", "fio\n");
	for (const char *process : {"proc/9/fd", "proc/12/fd"})
		fs::create_directories(machine.path() / process);
	fs::create_symlink("/dev/nvmeof0n2", machine.path() / "proc/9/fd/3");
	fs::create_symlink("/dev/nvmeof0n1", machine.path() / "proc/12/fd/3");
	fs::create_symlink("/dev/nvmeof0n2", machine.path() / "proc/12/fd/4");
	fs::create_symlink("/dev/nvmeof0n1p1", machine.path() / "proc/12/fd/5");
	fs::create_symlink("/dev/nvmeof0n3", machine.path() / "proc/12/fd/6");
	const std::vector<std::string> disks{"nvmeof0n2", "nvmeof0n3", "nvmeof0n1"};
	const auto users = usersOf(machine.systemPaths(), disks);
	CHECK(users == std::vector<std::vector<User>>{{{"mount", "/b"},
						       {"device", "md0"},
						       {"program", "fio, process 12", 1},
						       {"program", "dd, process 9", 1}},
						      {{"program", "fio, process 12", 1}},
						      {{"program", "fio, process 12", 2}}});
	for (std::size_t i = 0; i < disks.size(); i++)
		CHECK(usersOf(machine.systemPaths(), disks[i]) == users[i]);
	CHECK(usersOf(machine.systemPaths(), std::vector<std::string>()).empty());
}

TEST_CASE("mounts are found, with their copies by propagation", "[volume]")
{
	Machine machine;
	machine.write(
		"proc/self/mountinfo",
		"22 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n"
		"23 22 8:1 /data/kubelet /var/lib/kubelet rw shared:1 - ext4 /dev/sda1 rw\n"
		"24 23 259:1 / /var/lib/kubelet/x rw shared:2 - xfs /dev/nvmeof0n1 ro\n"
		"25 22 259:1 / /data/kubelet/x ro shared:2 - xfs /dev/nvmeof0n1 rw\n"
		"26 23 259:1 / /var/lib/kubelet/pods/y rw,nosuid,nodev,noexec shared:2 - xfs /dev/nvmeof0n1 rw\n");
	const std::vector<Mount> all = *mountsOf(machine.systemPaths());
	REQUIRE(all.size() == 5);
	CHECK(all[2].point == "/var/lib/kubelet/x");
	CHECK(all[2].device == makedev(259, 1));
	CHECK(all[2].readOnly);
	CHECK(all[3].readOnly);
	CHECK_FALSE(all[4].readOnly);
	CHECK(all[4].flags == (MS_NOSUID | MS_NODEV | MS_NOEXEC));
	CHECK(all[3].flags == MS_RDONLY);
	CHECK(copiesOf(all, "/data/kubelet/x") == std::vector<std::string>{"/data/kubelet/x", "/var/lib/kubelet/x"});
	CHECK(copiesOf(all, "/var/lib/kubelet/pods/y").size() == 1);
	CHECK(copiesOf(all, "/elsewhere").size() == 1);
}

TEST_CASE("an unreadable or incomplete mount table is an error", "[volume]")
{
	Machine machine;
	const fs::path file = machine.path() / "file", link = machine.path() / "link";
	machine.write("file", "");
	fs::create_symlink(file, link);
	Result<std::optional<Mount>> mount = mountAt(SystemPaths(), file);
	REQUIRE(mount);
	CHECK_FALSE(*mount);
	CHECK(*mountAt(SystemPaths(), "/"));
	CHECK(mountAt(SystemPaths(), machine.path() / "nothing"));
	mount = mountAt(SystemPaths(), link);
	REQUIRE_FALSE(mount);
	CHECK(mount.error().code == ErrorCode::invalid);
	CHECK_FALSE(mountAt(machine.systemPaths(), file)); // the mount table does not have it
	fs::remove(machine.path() / "proc/self/mountinfo");
	CHECK_FALSE(mountAt(machine.systemPaths(), file));
	CHECK_FALSE(mountsOf(machine.systemPaths()));
	CHECK_FALSE(usersOf(machine.systemPaths(), "nvmeof0n1").empty()); // unknown users count as users
}

TEST_CASE("the record of volumes outlives its writer, and has one writer at a time", "[volume]")
{
	Machine machine;
	const SystemPaths systemPaths = machine.systemPaths();
	const auto soon = [] { return AttachmentLock::Clock::now() + 50ms; };
	const std::string odd = "nqn.x/../y z";
	{
		Result<AttachmentLock> attachments = AttachmentLock::open(systemPaths, odd, soon());
		REQUIRE(attachments);
		CHECK_FALSE(attachments->has(idOf("nsid.1")));
		CHECK(attachments->add(idOf("nsid.1")));
		CHECK(attachments->add(idOf("nsid.2")));
		Result<AttachmentLock> second = AttachmentLock::open(systemPaths, odd, soon());
		REQUIRE_FALSE(second);
		CHECK(second.error().code == ErrorCode::timedOut);
		CHECK(AttachmentLock::open(systemPaths, "nqn.another", soon()));
	}
	CHECK(allAttachments(systemPaths) == std::vector<Entry>{{odd, idOf("nsid.1")}, {odd, idOf("nsid.2")}});
	Result<AttachmentLock> attachments = AttachmentLock::open(systemPaths, odd, soon());
	REQUIRE(attachments);
	attachments->remove(idOf("nsid.1"));
	CHECK(attachments->entries() == std::vector<Entry>{{odd, idOf("nsid.2")}});
	machine.write("book/nqn.another/x.json", "{");
	CHECK(allAttachments(systemPaths).size() == 1);
	for (const auto &entry : fs::directory_iterator(systemPaths.attachments))
		CHECK(entry.path().parent_path() == systemPaths.attachments); // no file outside the directory
}

TEST_CASE("a volume is attached, attached again and detached", "[volume]")
{
	Machine machine;
	Target target;
	Client client = *Client::open();
	const SystemPaths systemPaths = machine.systemPaths();
	const AttachOptions first = optionsOf(std::string("uuid.") + uuidText), second = optionsOf("nsid.1");
	Result<Attached> done = attach(client, first, systemPaths);
	REQUIRE(done);
	CHECK(done->ns.name == "nvmeof0n1");
	CHECK_FALSE(done->already);
	CHECK(done->byId.ends_with(uuidText));
	CHECK(done->subsystem.name == "nvmeof0");
	CHECK(target.kernel.controllers.size() == 1);
	Result<AttachmentLock> attachments =
		AttachmentLock::open(systemPaths, nqn, AttachmentLock::Clock::now()); // as a second attach does
	REQUIRE(attachments);
	REQUIRE(attachments->add(second.id));
	{
		AttachmentLock closed = *std::move(attachments);
	}
	Result<Detached> one = detach(client, {nqn, first.id}, systemPaths);
	REQUIRE(one);
	CHECK(one->was);
	CHECK(one->disconnected.empty()); // the other volume is attached
	Result<Detached> last = detach(client, {nqn, second.id}, systemPaths);
	REQUIRE(last);
	CHECK(last->disconnected == std::vector<std::string>{"nvmeof0c1"});
	Result<Detached> none = detach(client, {nqn, second.id}, systemPaths);
	REQUIRE(none);
	CHECK_FALSE(none->was);
}

TEST_CASE("a volume in use is not detached", "[volume]")
{
	Machine machine;
	Target target;
	Client client = *Client::open();
	const SystemPaths systemPaths = machine.systemPaths();
	const AttachOptions options = optionsOf("nsid.1");
	REQUIRE(attach(client, options, systemPaths));
	machine.write("proc/self/mountinfo", "23 1 259:1 / /data rw - ext4 /dev/nvmeof0n1 rw\n");
	Result<Detached> refused = detach(client, {nqn, options.id}, systemPaths);
	REQUIRE_FALSE(refused);
	CHECK(inUse(refused.error()));
	CHECK(refused.error().message.find("mounted on /data") != std::string::npos);
	CHECK(target.kernel.controllers.size() == 1);
	machine.write("proc/self/mountinfo", "");
	target.openers = 1; // an opener that only the kernel reports
	target.disk();
	refused = detach(client, {nqn, options.id}, systemPaths);
	REQUIRE_FALSE(refused);
	CHECK(refused.error().message.find("1 opener not visible from here") != std::string::npos);
	target.openers = 0;
	target.disk();
	CHECK(detach(client, {nqn, options.id}, systemPaths));
	CHECK(target.kernel.controllers.empty());
}

TEST_CASE("of two identifiers of one namespace either can be detached while the disk is in use", "[volume]")
{
	Machine machine;
	Target target;
	Client client = *Client::open();
	const SystemPaths systemPaths = machine.systemPaths();
	const AttachOptions first = optionsOf(std::string("uuid.") + uuidText), second = optionsOf("nsid.1");
	REQUIRE(attach(client, first, systemPaths));
	REQUIRE(attach(client, second, systemPaths));
	machine.write("proc/self/mountinfo", "23 1 259:1 / /data rw - ext4 /dev/nvmeof0n1 rw\n");
	Result<Detached> one = detach(client, {nqn, first.id}, systemPaths);
	REQUIRE(one);
	CHECK(one->was);
	CHECK(one->disconnected.empty());
	Result<Detached> refused = detach(client, {nqn, second.id}, systemPaths);
	REQUIRE_FALSE(refused);
	CHECK(inUse(refused.error()));
}

TEST_CASE("keys of publications are made and parsed", "[volume]")
{
	const FenceKey key = FenceKey::make("pvc-1", 7);
	CHECK(key.ours());
	CHECK(key.publication() == 7);
	CHECK(FenceKey::parse(key.toString()) == key);
	CHECK(key.sameVolume(FenceKey::make("pvc-1", 8)));
	CHECK_FALSE(key.sameVolume(FenceKey::make("pvc-2", 7)));
	for (const char *text : {"", "6e", "7e00000000000001", "6e0000000000000x", "6e00000000000000 "})
		CHECK_FALSE(FenceKey::parse(text));
}

TEST_CASE("only the registrations of earlier publications are preempted", "[volume]")
{
	const FenceKey first = FenceKey::make("pvc-1", 1), second = FenceKey::make("pvc-1", 2),
		       third = FenceKey::make("pvc-1", 3);
	constexpr std::uint8_t registrants = 3; // reservation type 3: Write Exclusive - Registrants Only
	const auto step = [&](std::uint8_t type, std::vector<Registrant> all) {
		return nextFenceStep({1, type, false, std::move(all)}, second);
	};
	const auto self = [](FenceKey key, bool holds) { return Registrant{"self", key.value, holds, true}; };
	const auto other = [](std::uint64_t key, bool holds) { return Registrant{"other", key, holds, false}; };
	FenceStep none = step(0, {});
	CHECK(none.enroll == second.value);
	CHECK(none.reserve);
	CHECK(none.victims.empty());
	CHECK(step(registrants, {self(second, true)}).done());
	CHECK_FALSE(step(0, {self(second, false)}).done());
	FenceStep taken = step(registrants, {other(first.value, true)});
	CHECK(taken.enroll == second.value);
	CHECK(taken.victims == std::vector{first.value});
	CHECK(step(registrants, {other(third.value, true)}).refusal->find("later publication") != std::string::npos);
	CHECK(step(registrants, {other(0xa, true)}).refusal->find("other software") != std::string::npos);
	CHECK(step(0, {self({0xa}, false)}).refusal->find("other software") != std::string::npos);
	CHECK(step(0, {other(FenceKey::make("pvc-2", 1).value, false)}).refusal->find("another volume") !=
	      std::string::npos);
	CHECK(step(registrants, {self(first, true)}).enroll == second.value); // published to this node again
	CHECK(step(registrants, {self(third, true)}).done());                 // a late call of an earlier publication
	CHECK(step(registrants, {self(second, true), other(first.value, false)}).victims == std::vector{first.value});
}

TEST_CASE("a report of reservations is parsed", "[volume]")
{
	std::vector<std::uint8_t> report(128);
	report[0] = 5;
	report[4] = 3;
	report[5] = 1;
	report[64 + 2] = 1;
	report[64 + 8] = 0xa;
	report[64 + 16] = 0x12;
	Uuid self;
	self.bytes[0] = 0x12;
	std::optional<ReservationReport> is = parseReservation(report, self);
	REQUIRE(is);
	CHECK(is->generation == 5);
	CHECK(is->type == 3);
	REQUIRE(is->registrants.size() == 1);
	CHECK(is->registrants[0].key == 0xa);
	CHECK(is->registrants[0].holds);
	CHECK(is->registrants[0].thisHost);
	report[4] = 7;
	CHECK_FALSE(parseReservation(report, self));
	report[4] = 3;
	report[5] = 2; // the length exceeds the report
	CHECK_FALSE(parseReservation(report, self));
}

TEST_CASE("a report of reservations that the target refuses has its NVMe status", "[volume]")
{
	const Error refused = reportError("nvmeof0n1", 0x4001); // Invalid Command Opcode, Do Not Retry
	CHECK(refused.code == ErrorCode::refused);
	CHECK(refused.nvmeStatus == 0x001);
	CHECK(refused.sysErrno == 0);
	CHECK(refused.object == ErrorObject::named("nvmeof0n1"));
	CHECK(grpcCodeOf(refused) == GrpcCode::failedPrecondition);
	errno = ENODEV;
	const Error gone = reportError("nvmeof0n1", -1);
	CHECK(gone.sysErrno == ENODEV);
	CHECK_FALSE(gone.nvmeStatus);
}

TEST_CASE("connections made by others are kept", "[volume]")
{
	Machine machine;
	Target target;
	Client client = *Client::open();
	REQUIRE(attach(client, optionsOf("nsid.1"), machine.systemPaths()));
	target.kernel.controllers["nvmeof0c9"] = controllerOf("nvmeof0c9", NVMEOF_CTRL_LIVE);
	REQUIRE(detach(client, {nqn, idOf("nsid.1")}, machine.systemPaths()));
	CHECK(target.kernel.controllers.size() == 1);
	CHECK(target.kernel.controllers.contains("nvmeof0c9"));
}

TEST_CASE("a failed attach leaves nothing behind", "[volume]")
{
	Machine machine;
	Target target;
	Client client = *Client::open();
	Result<Attached> failed = attach(client, optionsOf("nsid.3"), machine.systemPaths());
	REQUIRE_FALSE(failed);
	CHECK(failed.error().code == ErrorCode::noSuchObject);
	CHECK(target.kernel.count(NVMEOF_CMD_CTRL_RESCAN) == 1); // the namespaces were scanned once more
	CHECK(target.kernel.controllers.empty());
	failed = attach(client, optionsOf("nsid.1", {"10.0.0.9"}), machine.systemPaths());
	REQUIRE_FALSE(failed);
	CHECK(grpcCodeOf(failed.error()) != GrpcCode::ok);
	machine.write("udev/data/b259:1", "");
	AttachOptions options = optionsOf("nsid.1");
	options.timeout = 200ms;
	failed = attach(client, options, machine.systemPaths());
	REQUIRE_FALSE(failed);
	CHECK(failed.error().code == ErrorCode::timedOut);
	CHECK(failed.error().message.find("udev") != std::string::npos);
	CHECK(target.kernel.controllers.empty());
	target.blockSize = 0;
	failed = attach(client, optionsOf("nsid.1"), machine.systemPaths());
	REQUIRE_FALSE(failed);
	CHECK(failed.error().message.find("only a character device") != std::string::npos);
	CHECK(target.kernel.controllers.empty());
	CHECK(allAttachments(machine.systemPaths()).empty());
	CHECK_FALSE(attach(client, AttachOptions{}, machine.systemPaths()));
}
