// SPDX-License-Identifier: LGPL-2.1-or-later
// The list of attached volumes: one small file per volume, one directory per subsystem. Entries outlive the process
// that made them.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/result.h>

#include "places.h"
#include "volume_id.h"

namespace nofctl::volume {

struct Entry {
	std::string nqn;
	VolumeId id;

	bool operator==(const Entry &) const = default;
};

// The volumes of one subsystem. Holds an exclusive lock on them; open() waits for it until @deadline.
class Page {
public:
	using Clock = std::chrono::steady_clock;
	static nvmeof::Result<Page> open(const Places &places, const std::string &nqn, Clock::time_point deadline);
	Page(Page &&other) noexcept;
	Page &operator=(Page &&) = delete;
	~Page();

	bool has(const VolumeId &id) const;
	std::vector<Entry> entries() const;
	nvmeof::Result<void> add(const VolumeId &id);
	void remove(const VolumeId &id);

private:
	Page(std::filesystem::path folder, std::string nqn, int fd);
	std::filesystem::path file(const VolumeId &id) const;

	std::filesystem::path folder_;
	std::string nqn_;
	int fd_;
};

// The volumes of all subsystems, sorted. Takes no lock.
std::vector<Entry> allEntries(const Places &places);

} // namespace nofctl::volume
