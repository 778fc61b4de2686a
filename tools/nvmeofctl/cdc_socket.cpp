// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cdc_socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

#include "args.h"

using namespace nvmeof;

namespace {

constexpr std::size_t maxLineLength = 256u << 20; // bytes; 100,000 hosts take 60 MB

Error connectError(int error, const std::string &path)
{
	Error failed = errorFromErrno(error, fmt::format("{}: {}", path, std::strerror(error)));
	if (error == ENOENT || error == ECONNREFUSED) {
		failed.code = ErrorCode::noSuchObject;
		failed.message = fmt::format("nvmeof-cdc is not running, or its control socket is not {}", path);
	}
	if (error == EACCES)
		failed.code = ErrorCode::notPermitted;
	return failed;
}

ErrorCode codeOf(const std::string &name)
{
	for (int i = 0; i <= static_cast<int>(ErrorCode::cancelled); i++)
		if (name == toString(static_cast<ErrorCode>(i)))
			return static_cast<ErrorCode>(i);
	return ErrorCode::failed;
}

Error ended()
{
	return errorFromErrno(EPIPE, "nvmeof-cdc closed the connection");
}

Result<Json> answerIn(const std::string &line)
{
	Json answer = Json::parse(line, nullptr, false);
	if (!answer.is_object())
		return errorFromErrno(EPROTO, "cannot parse the answer of nvmeof-cdc, which may be of another version");
	auto error = answer.find("error");
	if (error == answer.end())
		return answer;
	Error refused;
	refused.code = codeOf(memberText(*error, "code"));
	refused.message = memberText(*error, "message");
	return refused;
}

} // namespace

CdcSocket::CdcSocket(CdcSocket &&other) noexcept : fd_(std::exchange(other.fd_, -1)), read_(std::move(other.read_)) {}

CdcSocket::~CdcSocket()
{
	if (fd_ >= 0)
		::close(fd_);
}

Result<CdcSocket> CdcSocket::open(const std::string &path)
{
	sockaddr_un address{};
	address.sun_family = AF_UNIX;
	if (path.size() >= sizeof(address.sun_path))
		return usageError(
			fmt::format("--socket: the path is longer than {} characters", sizeof(address.sun_path) - 1));
	std::ranges::copy(path, address.sun_path);
	CdcSocket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
	if (socket.fd_ < 0)
		return errorFromErrno(errno);
	if (::connect(socket.fd_, reinterpret_cast<sockaddr *>(&address), sizeof(address)) < 0)
		return connectError(errno, path);
	return socket;
}

Result<void> CdcSocket::send(const Json &request)
{
	const std::string line = dump(request, -1) + "\n";
	for (std::size_t sent = 0; sent < line.size();) {
		const ssize_t n = ::send(fd_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
		if (n < 0 && errno != EINTR)
			return ended();
		sent += n > 0 ? static_cast<std::size_t>(n) : 0;
	}
	return {};
}

Result<void> CdcSocket::fill(std::chrono::milliseconds time)
{
	pollfd ready{fd_, POLLIN, 0};
	const int polled = ::poll(&ready, 1, static_cast<int>(time.count()));
	if (polled < 0 && errno != EINTR)
		return errorFromErrno(errno);
	if (polled == 0)
		return errorFromErrno(ETIMEDOUT, "timed out waiting for an answer of nvmeof-cdc");
	char room[65536];
	const ssize_t n = polled > 0 ? ::recv(fd_, room, sizeof(room), 0) : -1;
	if (n == 0 || (n < 0 && errno != EINTR) || read_.size() > maxLineLength)
		return ended();
	read_.append(room, n > 0 ? static_cast<std::size_t>(n) : 0);
	return {};
}

Result<Json> CdcSocket::receive(std::chrono::milliseconds time)
{
	std::size_t searched = 0;
	for (;;) {
		const std::size_t end = read_.find('\n', searched);
		if (end != read_.npos) {
			const std::string line = read_.substr(0, end);
			read_.erase(0, end + 1);
			return answerIn(line);
		}
		searched = read_.size();
		if (Result<void> filled = fill(time); !filled)
			return filled.error();
	}
}
