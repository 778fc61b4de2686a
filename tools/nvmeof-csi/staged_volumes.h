// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Records of the plugin: the volumes staged on this node, and the volumes created by name. Each is a small file, so
 * that records survive a restart of the plugin.
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
	std::string fileSystem; // empty: a block volume
	std::vector<std::string> options;
	int accessMode = 0;
	bool complete = false;   // the stage has succeeded; otherwise it has to be undone or repeated
	bool formatting = false; // mkfs was started on the disk, which was empty, and has not finished

	bool sameRequest(const Staged &other) const; // equal, except for the path
};

// A directory of files whose names may have any characters.
class Folder {
public:
	explicit Folder(std::filesystem::path path) : path_(std::move(path)) {}

	std::optional<std::string> read(const std::string &name) const;
	nvmeof::Result<void> write(const std::string &name, const std::string &text) const;
	void remove(const std::string &name) const;
	std::vector<std::string> textsExcept(const std::string &name) const; // of all files except that of @name
	std::filesystem::path file(const std::string &name) const;

private:
	std::filesystem::path path_;
};

// Key in the publish context for the reservation key of the node
inline constexpr const char *fenceName = "csi.nvmeof/fence";

class StagedVolumes {
public:
	explicit StagedVolumes(std::filesystem::path path) : folder_(std::move(path)) {}

	std::optional<Staged> find(const std::string &volume) const;
	std::vector<Staged> others(const std::string &volume) const; // of all volumes except @volume
	nvmeof::Result<void> add(const std::string &volume, const Staged &staged) const;
	void remove(const std::string &volume) const { folder_.remove(volume); }

private:
	Folder folder_;
};

// Volumes, or disks, with a call in progress; a second call is rejected, and the orchestrator retries it.
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
