// SPDX-License-Identifier: LGPL-2.1-or-later
#include "storm.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <spawn.h>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

extern char **environ;

namespace storm {

using Clock = Host::Clock;
using namespace std::chrono_literals;

namespace {

constexpr rlim_t otherDescriptors = 64; // beyond those of hosts and threads
constexpr auto roundInterval = 100ms;
constexpr auto serviceEndTime = 50ms; // time for the service to finish work for the last host

std::uint64_t microsecondsSince(Clock::time_point start)
{
	return static_cast<std::uint64_t>(
		std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count());
}

// Raises the limit of descriptors. Empty: done; otherwise an error message
std::string makeRoom(const Options &options)
{
	rlimit limit{};
	::getrlimit(RLIMIT_NOFILE, &limit);
	const rlim_t wanted = options.hosts + otherDescriptors + 8ul * options.threads;
	if (limit.rlim_max < wanted)
		return fmt::format("{} file descriptors are needed, but the limit is {}: see ulimit -Hn", wanted,
				   limit.rlim_max);
	limit.rlim_cur = std::max(limit.rlim_cur, wanted);
	::setrlimit(RLIMIT_NOFILE, &limit);
	return {};
}

class Storm {
public:
	explicit Storm(const Options &options) : options_(options) {}

	Outcome run();

private:
	void gather();
	void prepare();
	void begin();
	void measured();
	void rounds();
	void round(Push &push, unsigned number);
	void end();
	template <typename Fn> void all(Fn tell);

	const Options &options_;
	std::vector<std::unique_ptr<HostPool>> pools_;
	Outcome outcome_;
};

void Storm::gather()
{
	const unsigned threads = std::min(options_.threads, options_.hosts);
	for (unsigned i = 0, first = 0; i < threads; i++) {
		const unsigned count = options_.hosts / threads + (i < options_.hosts % threads);
		pools_.push_back(std::make_unique<HostPool>(options_, options_.first + first, count));
		first += count;
	}
}

// Calls @tell for each pool with a phase, and waits until all pools have arrived.
template <typename Fn> void Storm::all(Fn tell)
{
	Phase phase(pools_.size());
	for (auto &pool : pools_)
		tell(*pool, phase);
	phase.wait();
}

void Storm::prepare()
{
	all([](HostPool &pool, Phase &phase) { pool.prepare(phase); });
	for (auto &pool : pools_)
		if (pool->error())
			outcome_.trouble =
				fmt::format("not enough sockets for the hosts: {}", std::strerror(pool->error()));
}

void Storm::begin()
{
	if (options_.startTogether)
		all([](HostPool &pool, Phase &phase) { pool.connect(phase); });
	const auto instant = Clock::now();
	all([instant](HostPool &pool, Phase &phase) { pool.go(instant, phase); });
	outcome_.elapsed = microsecondsSince(instant);
}

// Runs the storm and measures its CPU time
void Storm::measured()
{
	const auto timeOf = [this] { return options_.pid ? cpuTimeOf(options_.pid) : std::nullopt; };
	const auto service = timeOf(), own = cpuTimeOf(::getpid());
	begin();
	if (service)
		std::this_thread::sleep_for(serviceEndTime);
	if (const auto after = timeOf(); service && after)
		outcome_.serviceTime = *after - *service;
	if (const auto after = cpuTimeOf(::getpid()); own && after)
		outcome_.ownTime = *after - *own;
}

void Storm::rounds()
{
	if (!options_.push.wanted())
		return;
	const std::unique_ptr<Push> push = makePush(options_.push);
	for (unsigned number = 1; number <= options_.push.times && outcome_.trouble.empty(); number++) {
		std::this_thread::sleep_for(roundInterval);
		round(*push, number);
	}
}

void Storm::round(Push &push, unsigned number)
{
	Phase ready(pools_.size()), told(pools_.size()), ended(pools_.size());
	for (auto &pool : pools_)
		pool->round(ready, told);
	ready.wait();
	const auto instant = Clock::now();
	for (auto &pool : pools_)
		pool->setInstant(instant);
	outcome_.trouble = push.make(number);
	outcome_.acknowledged.push_back(microsecondsSince(instant));
	if (told.waitUntil(instant + seconds(options_.push.timeout)))
		return;
	for (auto &pool : pools_)
		pool->endRound(ended);
	ended.wait();
}

void Storm::end()
{
	for (auto &pool : pools_) {
		pool->leave();
		outcome_.counts.add(pool->counts());
		outcome_.logs.merge(pool->logs());
	}
}

Outcome Storm::run()
{
	outcome_.trouble = makeRoom(options_);
	if (!outcome_.trouble.empty())
		return std::move(outcome_);
	gather();
	prepare();
	outcome_.memoryBefore = options_.pid ? memoryOf(options_.pid) : 0;
	if (outcome_.trouble.empty()) {
		measured();
		std::this_thread::sleep_for(seconds(options_.hold));
		outcome_.memoryAfter = options_.pid ? memoryOf(options_.pid) : 0;
		rounds();
	}
	end();
	return std::move(outcome_);
}

} // namespace

Outcome run(const Options &options)
{
	return Storm(options).run();
}

// ---- changes

namespace {

std::string ofRound(std::string text, unsigned round)
{
	for (auto at = text.find("{}"); at != text.npos; at = text.find("{}", at))
		text.replace(at, 2, std::to_string(round));
	return text;
}

class Command : public Push {
public:
	explicit Command(std::string command) : command_(std::move(command)) {}

	std::string make(unsigned round) override
	{
		std::string text = ofRound(command_, round), shell = "sh", option = "-c";
		char *arguments[] = {shell.data(), option.data(), text.data(), nullptr};
		pid_t pid = 0;
		int status = 0;
		if (int error = ::posix_spawn(&pid, "/bin/sh", nullptr, nullptr, arguments, environ))
			return fmt::format("cannot run the push command: {}", std::strerror(error));
		while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
		}
		return status ? "the push command failed" : "";
	}

private:
	std::string command_;
};

class Socket : public Push {
public:
	Socket(const std::string &path, std::string line) : line_(std::move(line))
	{
		sockaddr_un to{};
		to.sun_family = AF_UNIX;
		if (path.size() >= sizeof(to.sun_path))
			throw std::system_error(ENAMETOOLONG, std::generic_category(), path);
		std::memcpy(to.sun_path, path.data(), path.size());
		fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd_ < 0 || ::connect(fd_, reinterpret_cast<const sockaddr *>(&to), sizeof(to))) {
			const int error = errno;
			if (fd_ >= 0)
				::close(fd_);
			throw std::system_error(error, std::generic_category(), path);
		}
		const timeval limit{maxReplySeconds, 0};
		::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	}
	~Socket() override { ::close(fd_); }

	std::string make(unsigned round) override
	{
		const std::string line = ofRound(line_, round) + "\n";
		if (::send(fd_, line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size()))
			return fmt::format("cannot write the line to the socket: {}", std::strerror(errno));
		for (;;) {
			char piece[4096];
			const auto count = ::recv(fd_, piece, sizeof(piece), 0);
			if (count <= 0)
				return "no response line from the socket";
			if (std::memchr(piece, '\n', static_cast<std::size_t>(count)))
				return {};
		}
	}

private:
	static constexpr int maxReplySeconds = 60; // s

	std::string line_;
	int fd_;
};

} // namespace

std::unique_ptr<Push> makePush(const PushOptions &options)
{
	if (!options.socket.empty())
		return std::make_unique<Socket>(options.socket, options.line);
	return std::make_unique<Command>(options.command);
}

// ---- local processes

namespace {

// The fields from the third on: proc_pid_stat(5)
std::string fieldsOf(int pid)
{
	std::ifstream stat(fmt::format("/proc/{}/stat", pid));
	std::string line;
	std::getline(stat, line);
	const std::size_t name = line.rfind(") "); // the command name may have any characters
	return name == line.npos ? "" : line.substr(name + 2);
}

} // namespace

std::uint64_t memoryOf(int pid)
{
	std::ifstream status(fmt::format("/proc/{}/status", pid));
	for (std::string line; std::getline(status, line);)
		if (line.starts_with("VmRSS:"))
			return std::stoull(line.substr(6)) * 1024;
	return 0;
}

std::chrono::nanoseconds CpuTime::user() const
{
	const std::uint64_t ticks = userTicks + systemTicks;
	const double part = ticks ? static_cast<double>(userTicks) / static_cast<double>(ticks) : 0;
	return std::chrono::nanoseconds(static_cast<std::int64_t>(static_cast<double>(sum.count()) * part));
}

std::optional<CpuTime> cpuTimeOf(int pid)
{
	constexpr int fieldsBeforeTimes = 11; // fields, from the third on
	std::istringstream fields(fieldsOf(pid));
	std::string skipped;
	for (int i = 0; i < fieldsBeforeTimes; i++)
		fields >> skipped;
	CpuTime its;
	clockid_t clock{};
	timespec time{};
	if (!(fields >> its.userTicks >> its.systemTicks) || ::clock_getcpuclockid(pid, &clock) ||
	    ::clock_gettime(clock, &time))
		return {};
	its.sum = std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
	return its;
}

} // namespace storm
