// SPDX-License-Identifier: LGPL-2.1-or-later
#include "members.h"

#include <cerrno>
#include <memory>

#include <blkid/blkid.h>
#include <fcntl.h>
#include <unistd.h>

#include "../gpu/tree.h"

namespace nofctl::stripe {

using namespace nvmeof;

namespace {

class Descriptor {
public:
	explicit Descriptor(const std::string &file) : fd_(::open(file.c_str(), O_RDONLY | O_EXCL | O_CLOEXEC)) {}
	~Descriptor()
	{
		if (fd_ >= 0)
			::close(fd_);
	}
	Descriptor(const Descriptor &) = delete;
	Descriptor &operator=(const Descriptor &) = delete;
	int get() const { return fd_; }

private:
	int fd_;
};

struct FreeProbe {
	void operator()(blkid_probe probe) const { blkid_free_probe(probe); }
};

Error failure(const std::string &disk, int number, const std::string &message)
{
	Error error = errorFromErrno(number);
	if (number != EPERM && number != EACCES)
		error.code = ErrorCode::failed;
	error.message = disk + ": " + (message.empty() ? error.message : message);
	return error;
}

// "xfs", "gpt"; empty: no known content
std::string contentOf(blkid_probe probe)
{
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_enable_partitions(probe, 1);
	if (blkid_do_safeprobe(probe) == 1) // 1: nothing found; 0: found; negative: ambiguous or unreadable
		return {};
	for (const char *name : {"TYPE", "PTTYPE"}) {
		const char *value = nullptr;
		if (blkid_probe_lookup_value(probe, name, &value, nullptr) == 0 && value)
			return value;
	}
	return "something";
}

} // namespace

void readQueueLimits(Member &member)
{
	const gpu::FolderTree tree;
	const std::string queue = "/sys/block/" + member.disk + "/queue/", zoned = tree.text(queue + "zoned");
	member.optimal = static_cast<unsigned>(tree.number(queue + "optimal_io_size").value_or(0));
	member.zoned = !zoned.empty() && zoned != "none";
}

Result<void> checkFree(const Member &member, bool force)
{
	const Descriptor fd("/dev/" + member.disk);
	if (fd.get() < 0)
		return failure(member.disk, errno, errno == EBUSY ? "is in use" : "");
	std::unique_ptr<blkid_struct_probe, FreeProbe> probe(blkid_new_probe());
	if (!probe || blkid_probe_set_device(probe.get(), fd.get(), 0, 0))
		return failure(member.disk, EIO, "cannot be read");
	const std::string content = force ? "" : contentOf(probe.get());
	if (!content.empty())
		return failure(member.disk, EEXIST, "there is " + content + " on it");
	return {};
}

} // namespace nofctl::stripe
