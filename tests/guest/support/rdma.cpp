// SPDX-License-Identifier: LGPL-2.1-or-later
#include "rdma.h"

#include "shell.h"

#include <stdexcept>

namespace guest {

RdmaDevice::RdmaDevice(std::string name, std::string iface) : name_(std::move(name)), iface_(std::move(iface))
{
	loadModules({"rdma_rxe"});
	restore();
}

RdmaDevice::~RdmaDevice()
{
	if (!kept_ && there())
		run("rdma link del " + name_);
}

void RdmaDevice::remove()
{
	must("rdma link del " + name_);
}

// The port becomes active with the carrier, and a work item fills its GID table: RoCE v2 entries for IPv4 and IPv6,
// besides the link-local one.
void RdmaDevice::restore()
{
	must("rdma link add " + name_ + " type rxe netdev " + iface_);
	auto port = "/sys/class/infiniband/" + name_ + "/ports/1/";
	bool ready = eventually([&] {
		return readFile(port + "state").find("ACTIVE") != std::string::npos &&
		       run("cat " + port + "gids/* | grep -vc ':0000:0000:0000:0000:0000:0000:0000$'").text >= "3";
	});
	if (!ready)
		throw std::runtime_error(name_ + ": no active RDMA port with its addresses");
}

bool RdmaDevice::there() const
{
	return exists("/sys/class/infiniband/" + name_);
}

// A veth pair of which only one end is used, because every kernel supports veth. The MTU permits packets with 4 KiB of
// data.
RdmaNic::RdmaNic(std::string name, unsigned number) : name_(std::move(name)), number_(std::to_string(number))
{
	loadModules({"veth"});
	if (exists("/sys/class/net/" + name_)) // left by an earlier program
		run("ip link del " + name_);
	ip("",
	   {"link add " + name_ + " mtu 9000 type veth peer name " + name_ + "far mtu 9000",
	    "link set " + name_ + "far up", "link set " + name_ + " up", "addr add " + address() + "/24 dev " + name_,
	    "addr add " + address6() + "/64 dev " + name_ + " nodad"});
	device_.emplace(name_, name_);
}

RdmaNic::~RdmaNic()
{
	if (kept_)
		device_->keep();
	device_.reset();
	if (!kept_)
		run("ip link del " + name_);
}

void RdmaNic::down()
{
	must("ip link set " + name_ + " down");
}

// IPv6 addresses were removed when the link went down.
void RdmaNic::up()
{
	must("ip link set " + name_ + " up && ip addr replace " + address6() + "/64 dev " + name_ + " nodad");
}

void RdmaNic::repair()
{
	up();
	if (!there())
		device_->restore();
}

} // namespace guest
