// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fio.h"

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <atomic>

namespace guest {
namespace {

std::string nextOutput()
{
	static std::atomic<int> count{0};
	return "/tmp/fio." + std::to_string(::getpid()) + "." + std::to_string(count++);
}

// Exists once the job is about to begin
std::string begun(const std::string &output)
{
	return output + ".begun";
}

std::string fio(const std::string &output)
{
	return "cd /tmp && exec fio --eta=never --output-format=json --output=" + output;
}

FioResult parse(int status, const std::string &output, const std::string &messages)
{
	FioResult result;
	result.status = status;
	result.text = messages + readFile(output);
	// fio may print notes before its JSON
	auto begin = result.text.find('{');
	auto json = begin == std::string::npos ? nlohmann::json()
					       : nlohmann::json::parse(result.text.substr(begin), nullptr, false);
	if (!json.is_object() || !json.contains("jobs"))
		return result;
	for (auto &job : json["jobs"]) {
		result.error = result.error ? result.error : job.value("error", 0);
		for (auto *kind : {"read", "write"})
			result.ios += job[kind].value("total_ios", std::uint64_t(0));
		result.writtenBy.push_back(job["write"].value("io_bytes", std::uint64_t(0)));
		result.written += result.writtenBy.back();
		result.read += job["read"].value("io_bytes", std::uint64_t(0));
	}
	return result;
}

} // namespace

std::string FioJob::command(const std::string &output) const
{
	return fio(output) + " --name=job --exec_prerun='touch " + begun(output) + "'" + options();
}

std::string FioJob::options() const
{
	// --thread: a forked job would have its own session and survive stop()
	auto text = " --thread --filename=" + file + " --rw=" + rw + " --bs=" + blocks +
		    " --iodepth=" + std::to_string(depth) + " --size=" + size + " --ioengine=" + engine +
		    " --direct=" + (direct ? "1" : "0");
	if (verify)
		text += " --verify=crc32c --verify_fatal=1 --do_verify=1";
	// if the disk disappears before fio opens it, fio must not create a plain file in its place
	if (file.rfind("/dev/", 0) == 0)
		text += " --allow_file_create=0";
	if (seconds)
		text += " --time_based --runtime=" + std::to_string(runtime());
	return text + " " + more;
}

unsigned FioJob::runtime() const
{
	constexpr unsigned untilEnded = 30;
	return *seconds < untilEnded ? *seconds : static_cast<unsigned>(*seconds * timeScale());
}

FioResult runFio(const FioJob &job)
{
	auto output = nextOutput();
	auto out = run(job.command(output));
	return parse(out.status, output, out.text);
}

FioResult runFio(const std::vector<FioJob> &jobs)
{
	auto output = nextOutput(), command = fio(output);
	for (std::size_t i = 0; i < jobs.size(); i++)
		command += " --name=job" + std::to_string(i) + " --stonewall" + jobs[i].options();
	auto out = run(command);
	return parse(out.status, output, out.text);
}

FioLoad::FioLoad(const FioJob &job, bool stalled) : output_(nextOutput()), process_(job.command(output_))
{
	if (!stalled)
		waitBegun(3s);
}

void FioLoad::waitBegun(Millis timeout)
{
	eventually([this] { return exists(begun(output_)) || !running(); }, timeout);
}

FioResult FioLoad::wait(Millis timeout)
{
	auto out = process_.wait(timeout);
	return parse(out.status, output_, out.text);
}

FioResult FioLoad::finish(Millis timeout)
{
	constexpr int interrupted = 128; // fio's exit status after SIGINT
	waitBegun(20s);                  // before fio installs its handlers, a signal would kill it without output
	process_.interrupt();
	auto result = wait(timeout);
	if (result.status == interrupted)
		result.status = 0;
	return result;
}

} // namespace guest
