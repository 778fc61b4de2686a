// SPDX-License-Identifier: LGPL-2.1-or-later
// Transport of this program's tests: $NVMEOF_TRANSPORT, "tcp", "tls" (TCP with TLS) or "rdma". Test cases about TCP, or
// that need a network between two machines, have the tag [tcp]; those about RDMA have the tag [rdma]. main() skips them
// for the other transport and names them.
#pragma once

#include <string>

namespace guest {

std::string transport(); // as in the options of a connection: "tcp" or "rdma"
bool overRdma();
bool overTls(); // the ports of the kernel's target accept TLS, and the host uses it
// Over RDMA: logs that this TCP-only part of a test case is skipped, and returns true.
bool notOverRdma(const std::string &part);

// Addresses of targets on this machine: 127.0.0.1 and ::1, or those of an RDMA device, which is created at the first
// call and exists until the program ends.
std::string here();
std::string here6();

} // namespace guest
