// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What this node has staged, by the orchestrator's name of the volume, and what was created by name: a small file for
 * each. Both are there when the plugin is started again.
 */
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nvmeof/result.h>

#include "volume_spec.h"

namespace csi {

struct Staged {
	Texts context;
	std::string path;       // staging_target_path
	std::string fileSystem; // empty: as a block device
	std::vector<std::string> options;
	int accessMode = 0;
	bool complete = false; // the stage has ended well; else it is to be undone, or repeated

	bool sameWish(const Staged &other) const; // asked for in the same way, at whatever path
};

// Files by a name that can be anything.
class Folder {
public:
	explicit Folder(std::filesystem::path path) : path_(std::move(path)) {}

	std::optional<std::string> read(const std::string &name) const;
	nvmeof::Result<void> write(const std::string &name, const std::string &text) const;
	void remove(const std::string &name) const;
	std::vector<std::string> textsBut(const std::string &name) const; // of all files but that of @name
	std::filesystem::path file(const std::string &name) const;

private:
	std::filesystem::path path_;
};

// Member of a publish context: the key by which the node takes the right to write
inline constexpr const char *fenceName = "csi.nvmeof/fence";

class StagedVolumes {
public:
	explicit StagedVolumes(std::filesystem::path path) : folder_(std::move(path)) {}

	std::optional<Staged> find(const std::string &volume) const;
	std::vector<Staged> others(const std::string &volume) const; // of all other volumes
	nvmeof::Result<void> add(const std::string &volume, const Staged &staged) const;
	void remove(const std::string &volume) const { folder_.remove(volume); }

private:
	Folder folder_;
};

// Volumes, or disks, that a call is at work on; another one for the same is refused, and asked again.
class Busy {
public:
	class Hold {
	public:
		Hold(Busy &busy, const std::string &volume) : busy_(busy), volume_(volume)
		{
			const std::lock_guard lock(busy_.mutex_);
			got_ = busy_.volumes_.insert(volume_).second;
		}
		~Hold()
		{
			const std::lock_guard lock(busy_.mutex_);
			if (got_)
				busy_.volumes_.erase(volume_);
		}
		Hold(const Hold &) = delete;
		Hold &operator=(const Hold &) = delete;
		explicit operator bool() const { return got_; }

	private:
		Busy &busy_;
		const std::string volume_;
		bool got_ = false;
	};

private:
	std::mutex mutex_;
	std::set<std::string> volumes_;
};

} // namespace csi
