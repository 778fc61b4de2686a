// SPDX-License-Identifier: LGPL-2.1-or-later
// Which volumes are attached: a small file for each, in a folder for each subsystem. Who asked may have ended since.
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

// One subsystem's part, for who holds its lock; waited for until @deadline.
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

// Of all subsystems, in a fixed order; no lock.
std::vector<Entry> allEntries(const Places &places);

} // namespace nofctl::volume
