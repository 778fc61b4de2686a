// SPDX-License-Identifier: LGPL-2.1-or-later
#include "local_machine.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <netdb.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <blkid.h>

#include "libctl/volume/mounts.h"
#include "program.h"

namespace csi {

namespace fs = std::filesystem;
namespace volume = nofctl::volume;
using namespace nvmeof;

namespace {

Error failure(const std::string &what, int number)
{
	Error error = errorFromErrno(number, what + ": " + std::strerror(number));
	if (error.code == ErrorCode::noSuchObject) // it is no volume that is not there
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

} // namespace

std::optional<Mounted> Machine::mountedAt(const std::string &target)
{
	std::optional<Mounted> found;
	for (const Mounted &one : mounts())
		if (one.target == target)
			found = one;
	return found;
}

Result<void> LocalMachine::ready()
{
	Result<Client> client = Client::open({"nvmeof_tcp"});
	return client ? Result<void>() : Result<void>(client.error());
}

Result<volume::Attached> LocalMachine::attach(const volume::AttachOptions &options)
{
	Result<Client> client = Client::open({"nvmeof_" + options.paths.front().transport});
	return client ? volume::attach(*client, options, places_) : Result<volume::Attached>(client.error());
}

Result<volume::Detached> LocalMachine::detach(const volume::Entry &entry)
{
	Result<Client> client = Client::open();
	return client ? volume::detach(*client, entry, places_) : Result<volume::Detached>(client.error());
}

Result<std::optional<Namespace>> LocalMachine::find(const volume::Entry &entry)
{
	Result<Client> client = Client::open();
	return client ? volume::find(*client, entry) : Result<std::optional<Namespace>>(client.error());
}

Result<std::string> LocalMachine::contentOf(const std::string &device)
{
	std::unique_ptr<blkid_struct_probe, decltype(&blkid_free_probe)> probe(
		blkid_new_probe_from_filename(device.c_str()), blkid_free_probe);
	if (!probe)
		return failure(device, errno ? errno : EIO);
	blkid_probe_enable_partitions(probe.get(), 1);
	constexpr int nothing = 1; // of blkid_do_safeprobe(); -2: more than one thing, -1: could not be read
	const int found = blkid_do_safeprobe(probe.get());
	if (found == nothing)
		return std::string();
	if (found == -1)
		return failure(device, EIO);
	const char *type = nullptr;
	if (found == 0 && blkid_probe_lookup_value(probe.get(), "TYPE", &type, nullptr) == 0)
		return std::string(type);
	return std::string("?");
}

Result<void> LocalMachine::format(const std::string &device, const std::string &fileSystem,
				  const std::vector<std::string> &options)
{
	// without -F and -f both would ask, or refuse, where something is there after all
	std::vector<std::string> words{"mkfs." + fileSystem, "-q"};
	words.insert(words.end(), options.begin(), options.end());
	words.push_back(device);
	return runProgram(words);
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

// A node that is bound has devtmpfs as its source, and its name as the root of the mount.
std::vector<Mounted> LocalMachine::mounts()
{
	std::vector<Mounted> all;
	for (const volume::Mount &one : volume::mountsOf(places_)) {
		const bool node = one.type == "devtmpfs" && one.root != "/";
		const bool readOnly = one.options == "ro" || one.options.starts_with("ro,");
		all.push_back({node ? "/dev" + one.root : one.source, one.point, readOnly});
	}
	return all;
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
	Result<void> made = fs::is_directory(from) ? makeFolder(target) : makeFile(target);
	if (!made)
		return made;
	if (::mount(from.c_str(), target.c_str(), nullptr, MS_BIND, nullptr) != 0)
		return failure("binding " + from + " to " + target, errno);
	if (readOnly && ::mount(nullptr, target.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0) {
		const int why = errno;
		static_cast<void>(unmount(target, true));
		return failure("making " + target + " read-only", why);
	}
	return {};
}

Result<void> LocalMachine::unmount(const std::string &target, bool remove)
{
	while (mountedAt(target))
		if (::umount2(target.c_str(), UMOUNT_NOFOLLOW) != 0)
			return failure("unmounting " + target, errno);
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
	return Usage{of.f_blocks * of.f_frsize, of.f_bavail * of.f_frsize, of.f_files, of.f_favail};
}

bool LocalMachine::exists(const std::string &path)
{
	std::error_code error;
	return fs::exists(path, error);
}

bool LocalMachine::reaches(const Address &address)
{
	constexpr int second = 1000; // ms
	addrinfo hints{}, *list = nullptr;
	hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
	hints.ai_socktype = SOCK_STREAM;
	if (::getaddrinfo(address.traddr.c_str(), address.trsvcid.c_str(), &hints, &list) != 0)
		return false;
	const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> found(list, freeaddrinfo);
	const int fd = ::socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	pollfd wait{fd, POLLOUT, 0};
	int error = 0;
	socklen_t length = sizeof(error);
	const bool begun = ::connect(fd, list->ai_addr, list->ai_addrlen) == 0 || errno == EINPROGRESS;
	const bool done = begun && ::poll(&wait, 1, second) == 1 &&
			  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0;
	::close(fd);
	return done;
}

} // namespace csi
