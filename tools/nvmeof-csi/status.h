// SPDX-License-Identifier: LGPL-2.1-or-later
// Error statuses of calls
#pragma once

#include <string>

#include <grpcpp/grpcpp.h>

#include <nvmeof/result.h>

namespace csi {

grpc::Status statusOf(const nvmeof::Error &error);

inline grpc::Status invalidArgument(const std::string &text)
{
	return {grpc::StatusCode::INVALID_ARGUMENT, text};
}

// A required member of a request is missing
inline grpc::Status missing(const std::string &member)
{
	return invalidArgument(member + " is missing");
}

} // namespace csi
