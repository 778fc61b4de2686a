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

// Known warnings of Linux itself, each as the functions that it names
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

std::size_t count(const std::string &text, const std::string &what)
{
	std::size_t found = 0;
	for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
		found++;
	return found;
}

// One known warning and nothing else: no report of another CPU, no function of this driver. As in qemu/judge.
bool isKnown(const std::string &warning)
{
	static const auto known = knownWarnings();
	static const std::regex modules("Modules linked in:[^\n]*"), other("BUG|KASAN|UBSAN|Oops|\\bnof_|\\[nvmeof");
	auto text = std::regex_replace(warning, modules, "");
	if (count(text, "[ cut here ]") != 1 || count(text, "WARNING: ") != 1 || std::regex_search(text, other))
		return false;
	auto at = text.find("WARNING: ");
	auto first = text.substr(at, text.find('\n', at) - at);
	return std::any_of(known.begin(), known.end(), [&](const Names &names) {
		return first.find(" " + names.front() + "+0x") != std::string::npos &&
		       std::all_of(names.begin(), names.end(), [&](const std::string &name) {
			       return text.find(name + "+0x") != std::string::npos;
		       });
	});
}

// Splits the log into records; a warning is one record.
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
		// EPIPE: records were overwritten before they were read
		while ((n = ::read(fd_, text, sizeof(text) - 1)) < 0 && errno == EPIPE)
			;
		return n > 0 ? std::optional(std::string(text, n)) : std::nullopt;
	}

	int fd_;
};

} // namespace

std::vector<std::string> KernelLog::alarms() const
{
	static const std::regex bad("WARNING: |BUG: |BUG at|Call [Tt]race|Oops|refcount_t|blocked for more than|"
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
