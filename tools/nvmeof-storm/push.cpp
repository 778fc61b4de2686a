// SPDX-License-Identifier: LGPL-2.1-or-later
#include "push.h"

#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace storm {

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

} // namespace storm
