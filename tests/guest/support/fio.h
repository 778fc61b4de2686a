// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs fio and parses its JSON output.
#pragma once

#include "shell.h"

#include <optional>
#include <string>
#include <vector>

namespace guest {

struct FioResult {
	int status = -1;
	int error = 0;                       // first errno of the job
	std::uint64_t written = 0, read = 0; // bytes
	std::uint64_t ios = 0;
	std::vector<std::uint64_t> writtenBy; // per job
	std::string text;

	bool good() const { return status == 0 && error == 0; }
};

struct FioJob {
	std::string file;
	std::string rw = "randwrite";
	std::string blocks = "4k";
	unsigned depth = 16;
	std::string size = "16m";
	std::string engine = "libaio";
	bool verify = true;
	bool direct = true;
	// Runs repeatedly for that long. A job of 30 s or more is meant to last until the test ends or its disk is
	// removed: it is extended on a slow kernel.
	std::optional<unsigned> seconds = {};
	std::string more = ""; // further options

	std::string command(const std::string &output) const;
	std::string options() const;
	unsigned runtime() const;
};

FioResult runFio(const FioJob &job);
// Runs the jobs one after another in one process, because starting fio takes longer than a small job.
FioResult runFio(const std::vector<FioJob> &jobs);

// fio in the background. The constructor returns when fio is about to do I/O, unless the disk is stalled.
class FioLoad {
public:
	explicit FioLoad(const FioJob &job, bool stalled = false);
	bool running() { return process_.running(); }
	FioResult wait(Millis timeout);
	// Ends the job early; the result covers the I/O done so far.
	FioResult finish(Millis timeout);
	void stop() { process_.stop(); }

private:
	void waitBegun(Millis timeout);

	std::string output_;
	Background process_;
};

} // namespace guest
