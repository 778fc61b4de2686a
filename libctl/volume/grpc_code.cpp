// SPDX-License-Identifier: LGPL-2.1-or-later
#include "grpc_code.h"

#include <cerrno>

namespace nofctl::volume {

using nvmeof::ErrorCode;

bool inUse(const nvmeof::Error &error)
{
	return error.sysErrno == EBUSY;
}

GrpcCode grpcCodeOf(const nvmeof::Error &error)
{
	if (inUse(error))
		return GrpcCode::failedPrecondition;
	switch (error.code) {
	case ErrorCode::failed:
		return GrpcCode::internal;
	case ErrorCode::invalid:
		return GrpcCode::invalidArgument;
	case ErrorCode::noSuchObject:
		return GrpcCode::notFound;
	case ErrorCode::alreadyConnected:
		return GrpcCode::alreadyExists;
	case ErrorCode::timedOut:
		return GrpcCode::deadlineExceeded;
	case ErrorCode::notPermitted:
		return GrpcCode::permissionDenied;
	case ErrorCode::refused: // the target needs configuration; a retry alone does not help
	case ErrorCode::noModule:
		return GrpcCode::failedPrecondition;
	case ErrorCode::connectionRefused:
	case ErrorCode::unreachable:
	case ErrorCode::connectionReset:
	case ErrorCode::nameResolution:
		return GrpcCode::unavailable;
	case ErrorCode::authentication:
		return GrpcCode::unauthenticated;
	case ErrorCode::cancelled:
		return GrpcCode::cancelled;
	}
	return GrpcCode::internal;
}

const char *toString(GrpcCode code)
{
	switch (code) {
	case GrpcCode::ok:
		return "OK";
	case GrpcCode::cancelled:
		return "CANCELLED";
	case GrpcCode::invalidArgument:
		return "INVALID_ARGUMENT";
	case GrpcCode::deadlineExceeded:
		return "DEADLINE_EXCEEDED";
	case GrpcCode::notFound:
		return "NOT_FOUND";
	case GrpcCode::alreadyExists:
		return "ALREADY_EXISTS";
	case GrpcCode::permissionDenied:
		return "PERMISSION_DENIED";
	case GrpcCode::failedPrecondition:
		return "FAILED_PRECONDITION";
	case GrpcCode::internal:
		return "INTERNAL";
	case GrpcCode::unavailable:
		return "UNAVAILABLE";
	case GrpcCode::unauthenticated:
		return "UNAUTHENTICATED";
	}
	return "INTERNAL";
}

} // namespace nofctl::volume
