// SPDX-License-Identifier: LGPL-2.1-or-later
// An etcd on free ports of 127.0.0.1. Its data are in a temporary directory.
#pragma once

#include <csignal>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "free_port.h"
#include "support.h"
#include "tests/unit/scratch.h"
#include "etcd_client.h"

namespace cdc {

class EtcdServer {
public:
	explicit EtcdServer(std::string name = "one", std::string scheme = "http")
		: name_(std::move(name)), scheme_(std::move(scheme))
	{
	}
	EtcdServer(const EtcdServer &) = delete;
	EtcdServer &operator=(const EtcdServer &) = delete;
	~EtcdServer() { kill(); }

	std::string endpoint() const { return fmt::format("{}://127.0.0.1:{}", scheme_, port_); }
	std::string peer() const { return fmt::format("http://127.0.0.1:{}", peerPort_); }
	std::string nameAndPeer() const { return name_ + "=" + peer(); }
	const std::filesystem::path &folder() const { return folder_.path(); }
	void usePort(std::uint16_t port) { port_ = port; }
	std::uint16_t port() const { return port_; }
	void useOptions(std::vector<std::string> options) { options_ = std::move(options); }

	// @cluster: nameAndPeer() of all members; empty: a cluster of one
	void start(const std::string &cluster = {})
	{
		if (!cluster.empty())
			cluster_ = cluster;
		std::vector<std::string> arguments{
			"etcd", "--name=" + name_, "--data-dir=" + (folder() / "data").string(),
			"--listen-client-urls=" + endpoint(), "--advertise-client-urls=" + endpoint(),
			"--listen-peer-urls=" + peer(), "--initial-advertise-peer-urls=" + peer(),
			"--initial-cluster=" + (cluster_.empty() ? nameAndPeer() : cluster_),
			// short intervals allow short leases
			"--heartbeat-interval=50", "--election-timeout=500"};
		arguments.insert(arguments.end(), options_.begin(), options_.end());
		std::vector<char *> argv;
		for (std::string &argument : arguments)
			argv.push_back(argument.data());
		argv.push_back(nullptr);
		const std::string log = folder() / "log";
		pid_ = ::fork();
		if (pid_ == 0) {
			::prctl(PR_SET_PDEATHSIG, SIGKILL);
			const int fd = ::open(log.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
			::dup2(fd, 1);
			::dup2(fd, 2);
			::execvp(argv[0], argv.data());
			::_exit(127);
		}
	}
	void kill()
	{
		if (pid_ <= 0)
			return;
		::kill(pid_, SIGKILL);
		::waitpid(pid_, nullptr, 0);
		pid_ = 0;
	}
	void freeze() { ::kill(pid_, SIGSTOP); }
	void thaw() { ::kill(pid_, SIGCONT); }
	bool runs() const { return pid_ > 0; }

private:
	std::string name_, scheme_, cluster_;
	std::vector<std::string> options_;
	std::uint16_t port_ = freePort(), peerPort_ = freePort();
	pid_t pid_ = 0;
	Scratch folder_;
};

// etcd operations of an administrator
class EtcdAdmin {
public:
	EtcdAdmin(runtime::Loop &loop, etcd::Options options) : loop_(loop), client_(loop, std::move(options)) {}

	// Repeats the call until it succeeds, for at most 30 s. @path as in etcd::Client::call()
	etcd::JsonValue call(const char *path, const etcd::JsonValue &body)
	{
		const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
		etcd::Answer answer = once(path, body);
		while (!answer && answer.outcome != etcd::Answer::Outcome::refused &&
		       std::chrono::steady_clock::now() < end) {
			turn(loop_, std::chrono::milliseconds(20));
			answer = once(path, body);
		}
		INFO(path << ": " << answer.trouble);
		CHECK(answer);
		return answer ? answer.json : etcd::JsonValue::object();
	}
	etcd::Answer once(const char *path, const etcd::JsonValue &body)
	{
		std::optional<etcd::Answer> answer;
		auto call = client_.call(path, body, [&](etcd::Answer given) { answer = std::move(given); });
		until(loop_, [&] { return answer.has_value(); });
		return answer.value_or(etcd::Answer{.outcome = etcd::Answer::Outcome::lost, .trouble = "no answer"});
	}
	etcd::Range get(const std::string &key)
	{
		const auto range = etcd::rangeOf(call("kv/range", {{"key", etcd::toBase64(key)}}));
		CHECK(range.ok());
		return range ? *range : etcd::Range{};
	}
	std::uint64_t put(const std::string &key, const std::string &value)
	{
		const auto done = etcd::transactionOf(call("kv/txn", {{"success", {etcd::put(key, value)}}}));
		CHECK(done.ok());
		return done ? done->header.revision : 0;
	}
	void ready() { call("kv/range", {{"key", etcd::toBase64("ready")}}); }

private:
	runtime::Loop &loop_;
	etcd::Client client_;
};

} // namespace cdc
