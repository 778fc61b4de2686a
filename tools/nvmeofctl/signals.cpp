// SPDX-License-Identifier: LGPL-2.1-or-later
#include "signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace {

sigset_t setOf(std::initializer_list<int> signals)
{
	sigset_t set;
	::sigemptyset(&set);
	for (int signal : signals)
		::sigaddset(&set, signal);
	return set;
}

} // namespace

Signals::Signals(std::initializer_list<int> caught)
{
	sigset_t set = setOf(caught);
	::sigprocmask(SIG_BLOCK, &set, &before_);
	fd_ = ::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

Signals::~Signals()
{
	if (fd_ >= 0)
		::close(fd_);
	::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int Signals::next() const
{
	signalfd_siginfo info{};
	return ::read(fd_, &info, sizeof(info)) == sizeof(info) ? static_cast<int>(info.ssi_signo) : 0;
}

void exitBySignal(int signal)
{
	::signal(signal, SIG_DFL);
	sigset_t set = setOf({signal});
	::sigprocmask(SIG_UNBLOCK, &set, nullptr);
	::raise(signal);
	::_exit(128 + signal);
}
