// SPDX-License-Identifier: LGPL-2.1-or-later
// Over which transport the tests of a program reach their targets: $NVMEOF_TRANSPORT, "tcp" or "rdma". Cases that are
// about TCP itself, or need what only a network between two machines can do, have the tag [tcp], those about RDMA the
// tag [rdma]: over another transport main() leaves them out, and names them.
#pragma once

#include <string>

namespace guest {

std::string transport();
bool overRdma();
// Over RDMA: true, and a part of a case that is only for TCP is told as left out by its name.
bool notOverRdma(const std::string &part);

// Where a target on this machine listens: 127.0.0.1 and ::1, or the addresses of an RDMA device, which is made when it
// is first asked for and lasts until the program ends.
std::string here();
std::string here6();

} // namespace guest
