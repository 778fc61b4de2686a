// SPDX-License-Identifier: LGPL-2.1-or-later
// fio, by its JSON.
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
	std::vector<std::uint64_t> writtenBy; // each of its jobs
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
	// Runs that long, over and over. From 30 on it is one that lasts until the test is over, or its disk gone: on a
	// slow kernel longer.
	std::optional<unsigned> seconds = {};
	std::string more = ""; // further options

	std::string command(const std::string &output) const;
	std::string options() const;
	unsigned runtime() const;
};

FioResult runFio(const FioJob &job);
// One after another, by one process: starting it takes longer than a small job does.
FioResult runFio(const std::vector<FioJob> &jobs);

// fio beside the test; it is about to do I/O when the constructor returns, if it can: not where the disk is stalled.
class FioLoad {
public:
	explicit FioLoad(const FioJob &job, bool stalled = false);
	bool running() { return process_.running(); }
	FioResult wait(Millis timeout);
	// Ends it before its time: the result is that of what it has done until then.
	FioResult finish(Millis timeout);
	void stop() { process_.stop(); }

private:
	void waitBegun(Millis timeout);

	std::string output_;
	Background process_;
};

} // namespace guest
