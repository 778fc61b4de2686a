// SPDX-License-Identifier: LGPL-2.1-or-later
#include "netns.h"

#include "shell.h"
#include "transport.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <system_error>

namespace guest {

Netns::Netns(std::string name) : name_(std::move(name))
{
	must("ip netns add " + name_ + " && ip -n " + name_ + " link set lo up");
}

Netns::~Netns()
{
	guest::run("ip netns del " + name_);
}

std::string Netns::run(const std::string &command) const
{
	return must("ip netns exec " + name_ + " " + command);
}

InNetns::InNetns(const std::string &name) : before_(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC))
{
	int fd = ::open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC);
	int failed = ::setns(fd, CLONE_NEWNET);
	::close(fd);
	if (failed)
		throw std::system_error(errno, std::generic_category(), "setns " + name);
}

InNetns::~InNetns()
{
	if (::setns(before_, CLONE_NEWNET))
		std::perror("setns back");
	::close(before_);
}

// Creating the first ingress qdisc, or deleting the last one, makes the kernel patch code while packets are processed,
// which sometimes crashes the emulator (see emulator_fault() in qemu/run). A permanent qdisc on lo limits this to once.
static void classifyFromNowOn()
{
	// another program in this guest may have done it
	[[maybe_unused]] static const std::string once =
		must("tc qdisc show dev lo | grep -q ingress || { modprobe -a sch_ingress cls_matchall act_gact && "
		     "tc qdisc add dev lo ingress && "
		     "tc filter add dev lo ingress protocol ip prio 1 matchall action pass; }");
}

Link::Link(const Netns &netns, std::string name, unsigned number)
	: netns_(netns), name_(std::move(name)), number_(std::to_string(number))
{
	auto h = name_ + "h", t = name_ + "t";
	classifyFromNowOn();
	ip("", {"link add " + h + " type veth peer name " + t + " netns " + netns_.name(),
		"addr add " + hostAddress() + "/24 dev " + h, "addr add " + hostAddress6() + "/64 dev " + h + " nodad",
		"link set " + h + " up"});
	ip(farSide(), {"addr add " + targetAddress() + "/24 dev " + t,
		       "addr add " + targetAddress6() + "/64 dev " + t + " nodad", "link set " + t + " up"});
	if (overRdma())
		device_.emplace(name_ + "rdma", h);
}

Link::~Link()
{
	device_.reset();
	guest::run("ip link del " + name_ + "h");
}

void Link::undoBy(const std::string &command)
{
	if (std::ranges::find(undo_, command) == undo_.end())
		undo_.push_back(command);
}

void Link::impair(const std::string &how)
{
	impairToTarget(how);
	impairToHost(how);
}

void Link::impairToTarget(const std::string &how)
{
	loadModules({"sch_netem"});
	undoBy("tc qdisc del dev " + name_ + "h root");
	must("tc qdisc replace dev " + name_ + "h root netem limit 20000 " + how);
}

void Link::impairToHost(const std::string &how)
{
	loadModules({"sch_netem"});
	undoBy("tc " + farSide() + " qdisc del dev " + name_ + "t root");
	must("tc " + farSide() + " qdisc replace dev " + name_ + "t root netem limit 20000 " + how);
}

// Packets below the limit have no higher bits set in the IP total length.
static void dropLonger(const std::string &where, const std::string &device, unsigned length)
{
	char mask[8];
	std::snprintf(mask, sizeof(mask), "0x%04x", 0x10000 - length);
	loadModules({"sch_ingress", "cls_u32", "cls_matchall", "act_gact"});
	must("tc " + where + " qdisc replace dev " + device + " ingress");
	must("tc " + where + " filter add dev " + device + " ingress protocol ip prio 1 u32 match u16 0 " + mask +
	     " at 2 action pass");
	must("tc " + where + " filter add dev " + device + " ingress protocol ip prio 2 matchall action drop");
}

void Link::swallow(unsigned length)
{
	undoBy("tc qdisc del dev " + name_ + "h ingress");
	dropLonger("", name_ + "h", length);
}

void Link::swallowToTarget(unsigned length)
{
	undoBy("tc " + farSide() + " qdisc del dev " + name_ + "t ingress");
	dropLonger(farSide(), name_ + "t", length);
}

void Link::setMtu(unsigned bytes)
{
	must("ip link set " + name_ + "h mtu " + std::to_string(bytes));
	must("ip " + farSide() + " link set " + name_ + "t mtu " + std::to_string(bytes));
}

void Link::loseFor(Millis time)
{
	char seconds[16];
	std::snprintf(seconds, sizeof(seconds), "%.3f", static_cast<double>(time.count()) / 1000);
	must("modprobe sch_netem && tc qdisc replace dev " + name_ + "h root netem limit 20000 loss 100% && sleep " +
	     seconds + " && tc qdisc del dev " + name_ + "h root");
}

void Link::hostDown()
{
	undoBy("ip link set " + name_ + "h up");
	must("ip link set " + name_ + "h down");
}

void Link::targetDown()
{
	undoBy("ip " + farSide() + " link set " + name_ + "t up");
	must("ip " + farSide() + " link set " + name_ + "t down");
}

void Link::repair()
{
	std::string all;
	for (auto &command : undo_)
		all += command + "; ";
	undo_.clear();
	if (!all.empty())
		guest::run(all);
}

} // namespace guest
