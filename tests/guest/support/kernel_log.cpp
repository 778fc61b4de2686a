// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel_log.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <sstream>
#include <unistd.h>

namespace guest {

KernelLog::KernelLog() : fd_(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC))
{
	::lseek(fd_, 0, SEEK_END);
}

KernelLog::~KernelLog()
{
	::close(fd_);
}

namespace {

using Names = std::vector<std::string>;

// The functions that each warning names which Linux gives by itself
std::vector<Names> knownWarnings()
{
	std::vector<Names> found;
	std::ifstream in("/nvmeof/guest/known-warnings");
	for (std::string line; std::getline(in, line);) {
		std::istringstream words(line);
		if (!line.empty() && line[0] != '#')
			found.emplace_back(std::istream_iterator<std::string>(words),
					   std::istream_iterator<std::string>());
	}
	return found;
}

bool isKnown(const std::string &warning)
{
	static const auto known = knownWarnings();
	return std::any_of(known.begin(), known.end(), [&](const Names &names) {
		return std::all_of(names.begin(), names.end(), [&](const std::string &name) {
			return warning.find(name + "+0x") != std::string::npos;
		});
	});
}

// What is read of the log, a warning as one piece
class Pieces {
public:
	explicit Pieces(int fd) : fd_(fd) {}

	std::optional<std::string> next()
	{
		auto piece = record();
		if (!piece || piece->find("[ cut here ]") == std::string::npos)
			return piece;
		while (piece->find("[ end trace ") == std::string::npos) {
			auto more = record();
			if (!more)
				break;
			*piece += *more;
		}
		return piece;
	}

private:
	std::optional<std::string> record() const
	{
		char text[8192];
		ssize_t n;
		// EPIPE: some were overwritten before they were read
		while ((n = ::read(fd_, text, sizeof(text) - 1)) < 0 && errno == EPIPE)
			;
		return n > 0 ? std::optional(std::string(text, n)) : std::nullopt;
	}

	int fd_;
};

} // namespace

std::vector<std::string> KernelLog::alarms() const
{
	static const std::regex bad("WARNING: |BUG: |BUG at|Call Trace|Oops|refcount_t|blocked for more than|"
				    "KASAN|UBSAN|circular locking|suspicious RCU");
	std::vector<std::string> found;
	Pieces log(fd_);
	while (auto piece = log.next())
		if (std::regex_search(*piece, bad) && !isKnown(*piece))
			found.push_back(*piece);
	return found;
}

void markKernelLog(const std::string &line)
{
	int fd = ::open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	auto text = "<7>" + line;
	[[maybe_unused]] auto n = ::write(fd, text.data(), text.size());
	::close(fd);
}

} // namespace guest
