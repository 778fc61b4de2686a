// SPDX-License-Identifier: LGPL-2.1-or-later
#include "local_machine.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <future>
#include <iostream>
#include <memory>
#include <netdb.h>
#include <poll.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <blkid.h>
#include <fmt/format.h>

#include <nvmeof/config.h>

#include "libctl/volume/disk_users.h"

namespace csi {

namespace fs = std::filesystem;
namespace volume = nofctl::volume;
using namespace nvmeof;

namespace {

Error failure(const std::string &what, int number)
{
	Error error = errorFromErrno(number, what + ": " + std::strerror(number));
	if (error.code == ErrorCode::noSuchObject) // not NOT_FOUND, which would mean that the volume does not exist
		error.code = ErrorCode::failed;
	return error;
}

Result<void> makeFolder(const fs::path &folder)
{
	std::error_code error;
	fs::create_directories(folder, error);
	return error ? Result<void>(failure(folder, error.value())) : Result<void>();
}

Result<void> makeFile(const fs::path &file)
{
	if (Result<void> made = makeFolder(file.parent_path()); !made)
		return made;
	const int fd = ::open(file.c_str(), O_CREAT | O_RDONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		return failure(file, errno);
	::close(fd);
	return {};
}

class Descriptor {
public:
	explicit Descriptor(const std::string &device) : fd_(::open(device.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC))
	{
	}
	~Descriptor()
	{
		if (fd_ >= 0)
			::close(fd_);
	}
	Descriptor(const Descriptor &) = delete;
	Descriptor &operator=(const Descriptor &) = delete;

	explicit operator bool() const { return fd_ >= 0; }
	int fd() const { return fd_; }

private:
	int fd_;
};

// The name of a block device; empty: no such device
std::string diskOf(const volume::SystemPaths &systemPaths, dev_t device)
{
	std::error_code error;
	const fs::path link = systemPaths.sys / "dev/block" / fmt::format("{}:{}", major(device), minor(device));
	return fs::read_symlink(link, error).filename();
}

// The host ID that the subsystem knows this host by
Result<std::optional<Uuid>> hostIdOf(const Namespace &ns)
{
	Result<Client> client = Client::open();
	if (!client)
		return client.error();
	Result<Subsystem> subsystem = client->subsystem(fmt::format("nvmeof{}", ns.subsystem));
	return subsystem ? Result<std::optional<Uuid>>(subsystem->hostid)
			 : Result<std::optional<Uuid>>(subsystem.error());
}

constexpr std::chrono::seconds unmountLimit(30); // an orchestrator's calls usually time out after two minutes

/*
 * Returns an errno or 0. umount() removes the mount and then writes back the data of a file system that has no other
 * mount, which cannot be interrupted. After ETIMEDOUT that continues in a detached thread.
 */
int unmountWithin(std::chrono::seconds limit, const std::string &target, int flags)
{
	auto result = std::make_shared<std::promise<int>>();
	std::future<int> done = result->get_future();
	std::thread([result, target, flags] {
		result->set_value(::umount2(target.c_str(), flags) == 0 ? 0 : errno);
	}).detach();
	return done.wait_for(limit) == std::future_status::ready ? done.get() : ETIMEDOUT;
}

} // namespace

Result<void> LocalMachine::ready()
{
	Result<Client> client = Client::open({"nvmeof_tcp"});
	return client ? Result<void>() : Result<void>(client.error());
}

Result<ConnectSettings> LocalMachine::connectDefaults(const std::string &nqn)
{
	const ConfigReading reading = inspectConfig();
	Result<ConnectSettings> settings = reading.connectSettingsFor(nqn);
	if (Result<Config> config = reading.outcome(); !config && settings)
		std::cerr << "nvmeof-csi: connecting without its defaults: " << config.error().message << "\n";
	return settings;
}

Result<volume::Attached> LocalMachine::attach(const volume::AttachOptions &options)
{
	Result<Client> client = Client::open({"nvmeof_" + options.paths.front().transport});
	return client ? volume::attach(*client, options, systemPaths_) : Result<volume::Attached>(client.error());
}

Result<volume::Detached> LocalMachine::detach(const volume::Entry &entry)
{
	Result<Client> client = Client::open();
	return client ? volume::detach(*client, entry, systemPaths_) : Result<volume::Detached>(client.error());
}

bool LocalMachine::isAttached(const volume::Entry &entry)
{
	const std::vector<volume::Entry> all = volume::allAttachments(systemPaths_);
	return std::ranges::find(all, entry) != all.end();
}

Result<std::optional<Namespace>> LocalMachine::find(const volume::Entry &entry)
{
	Result<Client> client = Client::open();
	return client ? volume::find(*client, entry) : Result<std::optional<Namespace>>(client.error());
}

Result<void> LocalMachine::takeFence(const Namespace &ns, volume::FenceKey key)
{
	Result<std::optional<Uuid>> self = hostIdOf(ns);
	return self ? volume::takeFence(ns, *self, key) : Result<void>(self.error());
}

Result<void> LocalMachine::dropFence(const Namespace &ns)
{
	Result<Client> client = Client::open();
	if (!client)
		return client.error();
	Result<std::vector<volume::User>> users = volume::allUsersOf(systemPaths_, *client, ns.name);
	if (!users)
		return users.error();
	if (!users->empty())
		return errorFromErrno(EBUSY, ns.name + " stays registered: it is " + volume::toString(*users));
	const volume::ExclusiveOpen claim(systemPaths_, ns.name); // prevents a mount until the registration is removed
	if (claim.refused())
		return errorFromErrno(EBUSY, ns.name + " stays registered: a program has opened it exclusively");
	Result<std::optional<Uuid>> self = hostIdOf(ns);
	return self ? volume::dropFence(ns, *self) : Result<void>(self.error());
}

Result<std::string> LocalMachine::contentOf(const std::string &device)
{
	std::unique_ptr<blkid_struct_probe, decltype(&blkid_free_probe)> probe(
		blkid_new_probe_from_filename(device.c_str()), blkid_free_probe);
	if (!probe)
		return failure(device, errno ? errno : EIO);
	blkid_probe_enable_partitions(probe.get(), 1);
	constexpr int nothing = 1; // result of blkid_do_safeprobe(); -2: ambiguous, -1: read error
	const int found = blkid_do_safeprobe(probe.get());
	if (found == nothing)
		return std::string();
	if (found == -1)
		return failure(device, EIO);
	const char *type = nullptr;
	if (found != 0 || blkid_probe_lookup_value(probe.get(), "TYPE", &type, nullptr) != 0)
		return std::string("?");
	if (type != std::string_view("xfs"))
		return std::string(type);
	constexpr off_t inProgress = 126; // sb_inprogress, set first and cleared last by mkfs.xfs
	const Descriptor node(device);
	std::uint8_t value = 0;
	if (!node || ::pread(node.fd(), &value, sizeof(value), inProgress) != sizeof(value))
		return failure(device, errno ? errno : EIO);
	return std::string(value ? unfinishedXfs : type);
}

Result<void> LocalMachine::format(const std::string &device, const std::string &fileSystem,
				  const std::vector<std::string> &options)
{
	// without -F or -f in the options, mkfs refuses a device that has contents after all
	std::vector<std::string> words{"mkfs." + fileSystem, "-q"};
	words.insert(words.end(), options.begin(), options.end());
	words.push_back(device);
	return runProgram(words);
}

Result<void> LocalMachine::check(const std::string &device, const std::string &fileSystem)
{
	constexpr int corrected = 1; // e2fsck(8)
	return fileSystem == "ext4" ? runProgram({"fsck.ext4", "-p", device}, corrected) : Result<void>();
}

Result<void> LocalMachine::grow(const std::string &device, const std::string &mount)
{
	Result<std::string> content = contentOf(device);
	if (!content)
		return content.error();
	if (*content == "ext4")
		return runProgram({"resize2fs", device});
	return runProgram({"xfs_growfs", mount});
}

std::vector<volume::User> LocalMachine::usersOf(const std::string &disk, const std::string &except)
{
	const Result<std::vector<volume::Mount>> mounts = volume::mountsOf(systemPaths_);
	const std::vector<std::string> excepted =
		mounts ? volume::copiesOf(*mounts, except) : std::vector<std::string>{except};
	std::vector<volume::User> users = volume::usersOf(systemPaths_, disk);
	std::erase_if(users, [&](const volume::User &user) {
		return user.kind == "program" || ((user.kind == "mount" || user.kind == "bind") &&
						  std::ranges::find(excepted, user.what) != excepted.end());
	});
	return users;
}

Result<std::vector<volume::Entry>> LocalMachine::entriesOf(const std::string &disk)
{
	Result<Client> client = Client::open();
	if (!client)
		return client.error();
	Result<std::vector<volume::Listed>> all = volume::list(*client, systemPaths_);
	if (!all)
		return all.error();
	std::vector<volume::Entry> entries;
	for (const volume::Listed &one : *all)
		if (one.ns && one.ns->name == disk)
			entries.push_back(one.entry);
	return entries;
}

Result<bool> LocalMachine::isReadOnly(const std::string &device)
{
	const Descriptor node(device);
	int on = 0;
	if (!node || ::ioctl(node.fd(), BLKROGET, &on) != 0)
		return failure(device, errno);
	return on != 0;
}

Result<void> LocalMachine::setReadOnly(const std::string &device, bool on)
{
	const Descriptor node(device);
	const int value = on;
	if (!node || ::ioctl(node.fd(), BLKROSET, &value) != 0)
		return failure("making " + device + (on ? " read-only" : " writable"), errno);
	return {};
}

Result<std::optional<Mounted>> LocalMachine::mountedAt(const std::string &target)
{
	Result<std::optional<volume::Mount>> mount = volume::mountAt(systemPaths_, target);
	if (!mount)
		return mount.error();
	if (!*mount)
		return std::optional<Mounted>();
	const volume::Mount &is = **mount;
	struct stat node; // only a device file system has nodes; stat() on others could hang if their target is dead
	const bool mayBeNode = is.type == "devtmpfs" || is.type == "tmpfs";
	const bool isNode = mayBeNode && ::stat(target.c_str(), &node) == 0 && S_ISBLK(node.st_mode);
	const std::string name = diskOf(systemPaths_, isNode ? node.st_rdev : is.device);
	return std::optional(Mounted{name.empty() ? is.source : "/dev/" + name, is.point, is.readOnly});
}

std::string LocalMachine::canonical(const std::string &path)
{
	return volume::canonicalPath(path);
}

Result<void> LocalMachine::mount(const std::string &device, const std::string &target, const std::string &fileSystem,
				 const MountOptions &options)
{
	if (Result<void> made = makeFolder(target); !made)
		return made;
	if (::mount(device.c_str(), target.c_str(), fileSystem.c_str(), options.flags, options.data.c_str()) != 0)
		return failure("mounting " + device + " on " + target, errno);
	return {};
}

Result<void> LocalMachine::bind(const std::string &from, const std::string &target, bool readOnly)
{
	std::error_code error; // fails on a dead file system
	const bool isFolder = fs::is_directory(from, error);
	if (error)
		return failure(from, error.value());
	if (Result<void> made = isFolder ? makeFolder(target) : makeFile(target); !made)
		return made;
	if (::mount(from.c_str(), target.c_str(), nullptr, MS_BIND, nullptr) != 0)
		return failure("binding " + from + " to " + target, errno);
	if (!readOnly)
		return {};
	Result<void> done = makeReadOnly(target);
	if (!done)
		static_cast<void>(unmount(target, true, Unmount::refuse));
	return done;
}

// Keeps nosuid, nodev and noexec, which a remount without these flags would clear.
Result<void> LocalMachine::makeReadOnly(const std::string &target)
{
	constexpr unsigned long kept = MS_NOSUID | MS_NODEV | MS_NOEXEC;
	Result<std::optional<volume::Mount>> mount = volume::mountAt(systemPaths_, target);
	if (!mount)
		return mount.error();
	const unsigned long flags = *mount ? (*mount)->flags & kept : 0;
	if (::mount(nullptr, target.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY | flags, nullptr) != 0)
		return failure("making " + target + " read-only", errno);
	return {};
}

Result<void> LocalMachine::unmount(const std::string &target, bool remove, Unmount how)
{
	for (;;) {
		Result<std::optional<Mounted>> there = mountedAt(target);
		if (!there)
			return there.error();
		if (!*there)
			break;
		int number = unmountWithin(unmountLimit, target, UMOUNT_NOFOLLOW);
		if (number == EBUSY && how == Unmount::lazily)
			number = unmountWithin(unmountLimit, target, UMOUNT_NOFOLLOW | MNT_DETACH);
		if (number == ETIMEDOUT)
			return errorFromErrno(
				number,
				target + ": unmounted, but " + (*there)->device +
					" does not complete its cached writes; they fail after fast-io-fail-tmo");
		if (number)
			return failure("unmounting " + target, number);
	}
	std::error_code error;
	if (remove && fs::remove(target, error); error)
		return failure(target, error.value());
	return {};
}

Result<Usage> LocalMachine::usage(const std::string &path)
{
	struct statvfs of;
	if (::statvfs(path.c_str(), &of) != 0)
		return failure(path, errno);
	return Usage{{of.f_blocks * of.f_frsize, (of.f_blocks - of.f_bfree) * of.f_frsize, of.f_bavail * of.f_frsize},
		     {of.f_files, of.f_files - of.f_ffree, of.f_favail}};
}

bool LocalMachine::exists(const std::string &path)
{
	std::error_code error;
	return fs::exists(path, error);
}

Reach LocalMachine::reaches(const Address &address)
{
	constexpr int second = 1000; // ms
	addrinfo hints{}, *list = nullptr;
	hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
	hints.ai_socktype = SOCK_STREAM;
	if (::getaddrinfo(address.traddr.c_str(), address.trsvcid.c_str(), &hints, &list) != 0)
		return Reach::no;
	const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> found(list, freeaddrinfo);
	const int fd = ::socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return Reach::unknown;
	pollfd wait{fd, POLLOUT, 0};
	int error = 0;
	socklen_t length = sizeof(error);
	if (::connect(fd, list->ai_addr, list->ai_addrlen) != 0)
		error = errno;
	if (error == EINPROGRESS &&
	    (::poll(&wait, 1, second) != 1 || ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0))
		error = ETIMEDOUT;
	::close(fd);
	if (error == ENETUNREACH)
		return Reach::no;
	return error == 0 || error == ECONNREFUSED ? Reach::yes : Reach::unknown;
}

// ---- programs

namespace {

std::string readAll(int fd)
{
	std::string text;
	char piece[512];
	constexpr std::size_t max = 4096;
	for (ssize_t n; (n = ::read(fd, piece, sizeof(piece))) > 0 || (n < 0 && errno == EINTR);)
		if (n > 0 && text.size() < max)
			text.append(piece, static_cast<std::size_t>(n));
	while (!text.empty() && text.back() == '\n')
		text.pop_back();
	return text;
}

} // namespace

Result<void> runProgram(const std::vector<std::string> &words, int maxStatus)
{
	std::vector<char *> arguments;
	for (const std::string &word : words)
		arguments.push_back(const_cast<char *>(word.c_str()));
	arguments.push_back(nullptr);
	int ends[2];
	if (::pipe2(ends, O_CLOEXEC) != 0)
		return errorFromErrno(errno);
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO); // fsck.ext4 writes its findings to stdout
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
	pid_t pid = 0;
	const int failed = ::posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
	posix_spawn_file_actions_destroy(&actions);
	::close(ends[1]);
	const std::string said = failed ? std::string() : readAll(ends[0]);
	::close(ends[0]);
	Error error;
	error.message = words.front() + ": ";
	if (failed) {
		error.message += std::strerror(failed);
		return error;
	}
	int status = 0;
	while (::waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) <= maxStatus)
		return {};
	error.message += said.empty() ? "failed without output" : said;
	return error;
}

} // namespace csi
