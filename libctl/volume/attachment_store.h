// SPDX-License-Identifier: LGPL-2.1-or-later
// The list of attached volumes: one small file per volume, one directory per subsystem. Entries outlive the process
// that made them.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nvmeof/namespace.h>
#include <nvmeof/result.h>

namespace nofctl::volume {

// System directories, and the directory that lists the attached volumes. Tests use others.
struct SystemPaths {
	std::filesystem::path sys = "/sys";
	std::filesystem::path proc = "/proc";
	std::filesystem::path dev = "/dev";
	std::filesystem::path udev = "/run/udev";
	// On tmpfs: like the kernel's controllers, the entries last until the next boot.
	std::filesystem::path attachments = "/run/nvmeof/volumes";
};

using Nguid = std::array<std::uint8_t, 16>;
using Eui64 = std::array<std::uint8_t, 8>;

// Identifies a volume within its subsystem: by one of the identifiers of a namespace.
struct VolumeId {
	std::variant<nvmeof::Uuid, Nguid, Eui64, std::uint32_t> value; // uint32_t: NSID

	bool operator==(const VolumeId &) const = default;
	bool names(const nvmeof::Namespace &ns) const;
	// "uuid.6f1b2c3d-...", "nguid.<32 digits>", "eui.<16 digits>", "nsid.1"
	std::string toString() const;
	// The inverse of toString(). Hexadecimal digits in either case, with or without "-".
	static std::optional<VolumeId> parse(std::string_view text);
};

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
