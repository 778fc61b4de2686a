// SPDX-License-Identifier: LGPL-2.1-or-later
// The list of attached volumes: one small file per volume, one directory per subsystem. Entries outlive the process
// that made them.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/result.h>

#include "system_paths.h"
#include "volume_id.h"

namespace nofctl::volume {

struct Entry {
	std::string nqn;
	VolumeId id;

	bool operator==(const Entry &) const = default;
};

// The volumes of one subsystem. Holds an exclusive lock on them; open() waits for it until @deadline.
class AttachmentLock {
public:
	using Clock = std::chrono::steady_clock;
	static nvmeof::Result<AttachmentLock> open(const SystemPaths &systemPaths, const std::string &nqn,
						   Clock::time_point deadline);
	AttachmentLock(AttachmentLock &&other) noexcept;
	AttachmentLock &operator=(AttachmentLock &&) = delete;
	~AttachmentLock();

	bool has(const VolumeId &id) const;
	std::vector<Entry> entries() const;
	nvmeof::Result<void> add(const VolumeId &id);
	void remove(const VolumeId &id);

private:
	AttachmentLock(std::filesystem::path folder, std::string nqn, int fd);
	std::filesystem::path file(const VolumeId &id) const;

	std::filesystem::path folder_;
	std::string nqn_;
	int fd_;
};

// The volumes of all subsystems, sorted. Takes no lock.
std::vector<Entry> allAttachments(const SystemPaths &systemPaths);

} // namespace nofctl::volume
