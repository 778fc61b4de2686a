// SPDX-License-Identifier: LGPL-2.1-or-later
#include "module.h"

#include <cerrno>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nofctl {

namespace {

// /sbin is often not in PATH; there is no shell in between.
constexpr const char *modprobePlaces[] = {"/usr/sbin/modprobe", "/sbin/modprobe", "/usr/bin/modprobe"};

bool waitSuccess(pid_t child)
{
	int status = 0;
	while (::waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace

bool loadModule(const std::string &name)
{
	std::string program = "modprobe", quiet = "-q", module = name;
	char *arguments[] = {program.data(), quiet.data(), module.data(), nullptr};
	char *environment[] = {nullptr};
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	bool loaded = false;
	for (const char *place : modprobePlaces) {
		pid_t child;
		if (::access(place, X_OK) != 0 ||
		    ::posix_spawn(&child, place, &actions, nullptr, arguments, environment) != 0)
			continue;
		loaded = waitSuccess(child);
		break;
	}
	posix_spawn_file_actions_destroy(&actions);
	return loaded;
}

} // namespace nofctl
