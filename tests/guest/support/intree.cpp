// SPDX-License-Identifier: LGPL-2.1-or-later
#include "intree.h"

#include <stdexcept>

namespace guest {

InTree::InTree(std::string address, std::string nqn) : nqn_(std::move(nqn)), address_(std::move(address))
{
	must("modprobe nvme-" + transport());
	connect();
}

InTree::~InTree()
{
	disconnect();
}

void InTree::connect()
{
	addPath(address_);
	if (!eventually([&] { return !disk().empty(); }))
		throw std::runtime_error("the in-tree driver has no disk");
	settle();
}

void InTree::addPath(const std::string &address)
{
	must("nvme connect -t " + transport() + " -a " + address + " -s 4420 -i 2 -k 5 -c 1 -n " + nqn_ +
	     " --hostnqn nqn.2014-08.org.nvmexpress:uuid:0f0f0f0f-0000-4000-8000-000000000001"
	     " --hostid 0f0f0f0f-0000-4000-8000-000000000001");
}

void InTree::disconnect()
{
	run("nvme disconnect -n " + nqn_);
	settle();
}

std::string InTree::disk() const
{
	return entry("nvme*[0-9]n[0-9]*");
}

std::string InTree::controller() const
{
	return entry("nvme[0-9]");
}

std::string InTree::state() const
{
	return readFile("/sys/class/nvme/" + controller() + "/state");
}

unsigned InTree::controllers() const
{
	return static_cast<unsigned>(
		std::stoul(run("grep -lx '" + nqn_ + "' /sys/class/nvme/*/subsysnqn | wc -l").text));
}

std::string InTree::entry(const std::string &pattern) const
{
	auto out = run("cd $(dirname $(grep -lx '" + nqn_ +
		       "' /sys/class/nvme-subsystem/*/subsysnqn)) && find . -maxdepth 1 -name '" + pattern +
		       "' ! -name 'nvme*c*' | head -n 1 | tr -d './\\n'");
	return out.status ? "" : out.text;
}

} // namespace guest
