// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transport.h"

#include "rdma.h"
#include "shell.h"

#include <cstdio>
#include <stdexcept>

namespace guest {
namespace {

// Higher than the subnets of lanes and other tests
constexpr unsigned subnet = 99;

class Home : public RdmaNic {
public:
	Home() : RdmaNic("home", subnet) { keep(); }
};

const RdmaNic &home()
{
	static const Home nic;
	return nic;
}

const std::string &wanted()
{
	static const std::string name = environment("NVMEOF_TRANSPORT", "tcp");
	if (name != "tcp" && name != "tls" && name != "rdma")
		throw std::invalid_argument("NVMEOF_TRANSPORT=" + name + ": tcp, tls or rdma");
	return name;
}

} // namespace

std::string transport()
{
	return overRdma() ? "rdma" : "tcp";
}

bool overTls()
{
	return wanted() == "tls";
}

bool overRdma()
{
	return wanted() == "rdma";
}

bool notOverRdma(const std::string &part)
{
	if (overRdma())
		std::printf("not for rdma: %s\n", part.c_str());
	return overRdma();
}

std::string here()
{
	return overRdma() ? home().address() : "127.0.0.1";
}

std::string here6()
{
	return overRdma() ? home().address6() : "::1";
}

} // namespace guest
