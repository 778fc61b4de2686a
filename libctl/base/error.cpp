// SPDX-License-Identifier: LGPL-2.1-or-later
#include <nvmeof/error.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <nvmeof/name.h>

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
	case ErrorCode::connectionRefused:
		return "connection_refused";
	case ErrorCode::unreachable:
		return "unreachable";
	case ErrorCode::connectionReset:
		return "connection_reset";
	case ErrorCode::nameResolution:
		return "name_resolution";
	case ErrorCode::authentication:
		return "authentication";
	case ErrorCode::cancelled:
		return "cancelled";
	}
	return "failed";
}

const char *toString(ErrorObject::Kind kind)
{
	switch (kind) {
	case ErrorObject::Kind::none:
		return "none";
	case ErrorObject::Kind::subsystem:
		return "subsystem";
	case ErrorObject::Kind::controller:
		return "controller";
	case ErrorObject::Kind::nameSpace:
		return "namespace";
	case ErrorObject::Kind::path:
		return "path";
	case ErrorObject::Kind::file:
		return "file";
	case ErrorObject::Kind::host:
		return "host";
	case ErrorObject::Kind::module:
		return "module";
	}
	return "none";
}

ErrorObject ErrorObject::named(std::string name)
{
	std::optional<ObjectName> parsed = parseName(name);
	if (!parsed)
		return {};
	switch (parsed->kind()) {
	case ObjectKind::subsystem:
		return {Kind::subsystem, std::move(name)};
	case ObjectKind::controller:
		return {Kind::controller, std::move(name)};
	case ObjectKind::nameSpace:
		return {Kind::nameSpace, std::move(name)};
	case ObjectKind::path:
		return {Kind::path, std::move(name)};
	}
	return {};
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
	case ENOKEY:
	case EKEYEXPIRED:
	case EKEYREVOKED:
	case EKEYREJECTED:
		return ErrorCode::authentication;
	case ECANCELED:
	case EINTR:
		return ErrorCode::cancelled;
	default:
		return ErrorCode::failed;
	}
}

ErrorCode connectCodeOf(int sysErrno)
{
	switch (sysErrno) {
	case ECONNREFUSED:
		return ErrorCode::connectionRefused;
	case EHOSTUNREACH:
	case ENETUNREACH:
	case EHOSTDOWN:
	case ENETDOWN:
		return ErrorCode::unreachable;
	case ECONNRESET:
	case ECONNABORTED:
	case EPIPE:
		return ErrorCode::connectionReset;
	case ETIMEDOUT:
		return ErrorCode::timedOut;
	case ENOKEY:
	case EKEYEXPIRED:
	case EKEYREVOKED:
	case EKEYREJECTED:
		return ErrorCode::authentication;
	default:
		return ErrorCode::failed;
	}
}

std::string describeFailure(const std::string &message, int sysErrno)
{
	if (message.empty())
		return sysErrno ? std::strerror(sysErrno) : "";
	return sysErrno && message.ends_with("cannot connect") ? message + ": " + std::strerror(sysErrno) : message;
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
