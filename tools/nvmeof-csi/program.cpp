// SPDX-License-Identifier: LGPL-2.1-or-later
#include "program.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace csi {

using namespace nvmeof;

namespace {

std::string readAll(int fd)
{
	std::string text;
	char piece[512];
	constexpr std::size_t max = 4096;
	for (ssize_t n; (n = ::read(fd, piece, sizeof(piece))) > 0 || (n < 0 && errno == EINTR);)
		if (n > 0 && text.size() < max)
			text.append(piece, static_cast<std::size_t>(n));
	while (!text.empty() && text.back() == '\n')
		text.pop_back();
	return text;
}

} // namespace

Result<void> runProgram(const std::vector<std::string> &words, int maxStatus)
{
	std::vector<char *> arguments;
	for (const std::string &word : words)
		arguments.push_back(const_cast<char *>(word.c_str()));
	arguments.push_back(nullptr);
	int ends[2];
	if (::pipe2(ends, O_CLOEXEC) != 0)
		return errorFromErrno(errno);
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO); // fsck.ext4 writes its findings to stdout
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
	pid_t pid = 0;
	const int failed = ::posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
	posix_spawn_file_actions_destroy(&actions);
	::close(ends[1]);
	const std::string said = failed ? std::string() : readAll(ends[0]);
	::close(ends[0]);
	Error error;
	error.message = words.front() + ": ";
	if (failed) {
		error.message += std::strerror(failed);
		return error;
	}
	int status = 0;
	while (::waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) <= maxStatus)
		return {};
	error.message += said.empty() ? "it failed" : said;
	return error;
}

} // namespace csi
