// SPDX-License-Identifier: LGPL-2.1-or-later
#include <nvmeof/error.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace nvmeof {

const char *toString(ErrorCode code)
{
	switch (code) {
	case ErrorCode::failed:
		return "failed";
	case ErrorCode::invalid:
		return "invalid";
	case ErrorCode::noSuchObject:
		return "no_such_object";
	case ErrorCode::alreadyConnected:
		return "already_connected";
	case ErrorCode::refused:
		return "refused";
	case ErrorCode::timedOut:
		return "timed_out";
	case ErrorCode::notPermitted:
		return "not_permitted";
	case ErrorCode::noModule:
		return "no_module";
	}
	return "failed";
}

static ErrorCode codeFromErrno(int sysErrno)
{
	switch (sysErrno) {
	case EPERM:
	case EACCES:
		return ErrorCode::notPermitted;
	case ENODEV:
	case ENOENT:
		return ErrorCode::noSuchObject;
	case EALREADY:
		return ErrorCode::alreadyConnected;
	case ETIMEDOUT:
		return ErrorCode::timedOut;
	default:
		return ErrorCode::failed;
	}
}

Error errorFromErrno(int sysErrno, std::string message)
{
	Error error;
	error.code = codeFromErrno(sysErrno);
	error.sysErrno = sysErrno;
	error.message = message.empty() ? std::strerror(sysErrno) : std::move(message);
	return error;
}

} // namespace nvmeof
