// SPDX-License-Identifier: LGPL-2.1-or-later
#include "nvmet.h"

#include "host.h"
#include "netns.h"
#include "shell.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <system_error>

namespace guest::nvmet {
namespace {

const std::string root = "/sys/kernel/config/nvmet/";

void makeDir(const std::string &path)
{
	if (::mkdir(path.c_str(), 0755) && errno != EEXIST)
		throw std::system_error(errno, std::generic_category(), "mkdir " + path);
}

// Destructors cannot throw; a directory that stays makes the next creation fail.
void removeDir(const std::string &path)
{
	if (::rmdir(path.c_str()))
		std::perror(("rmdir " + path).c_str());
}

} // namespace

void load()
{
	loadModules({"nvmet", "nvmet_tcp"});
}

Subsystem::Subsystem(std::string nqn, bool allowAnyHost) : nqn_(std::move(nqn)), path_(root + "subsystems/" + nqn_)
{
	load();
	makeDir(path_);
	set("attr_allow_any_host", allowAnyHost ? "1" : "0");
}

Subsystem::~Subsystem()
{
	while (!namespaces_.empty())
		removeNamespace(namespaces_.back());
	removeDir(path_);
}

void Subsystem::set(const std::string &attribute, const std::string &value)
{
	writeFile(path_ + "/" + attribute, value);
}

std::string Subsystem::dir(std::uint32_t nsid) const
{
	return path_ + "/namespaces/" + std::to_string(nsid);
}

std::string Subsystem::uuidFor(std::uint32_t nsid)
{
	return uuidFor(nsid, testNqn);
}

std::string Subsystem::uuidFor(std::uint32_t nsid, const std::string &nqn)
{
	char text[40];
	std::snprintf(text, sizeof(text), "%08x-5d0b-4a6f-9e2d-0000%08x",
		      static_cast<unsigned>(std::hash<std::string>{}(nqn)), nsid);
	return text;
}

void Subsystem::addNamespace(std::uint32_t nsid, const std::string &device, const NamespaceOptions &options)
{
	makeDir(dir(nsid));
	namespaces_.push_back(nsid);
	writeFile(dir(nsid) + "/device_path", device);
	writeFile(dir(nsid) + "/device_uuid", options.uuid.empty() ? uuidFor(nsid, nqn_) : options.uuid);
	if (!options.nguid.empty())
		writeFile(dir(nsid) + "/device_nguid", options.nguid);
	if (options.anaGroup)
		writeFile(dir(nsid) + "/ana_grpid", std::to_string(*options.anaGroup));
	if (options.bufferedIo)
		writeFile(dir(nsid) + "/buffered_io", "1");
	enable(nsid, true);
}

void Subsystem::removeNamespace(std::uint32_t nsid)
{
	std::erase(namespaces_, nsid);
	removeDir(dir(nsid));
}

void Subsystem::enable(std::uint32_t nsid, bool on)
{
	writeFile(dir(nsid) + "/enable", on ? "1" : "0");
}

void Subsystem::moveGroup(std::uint32_t nsid, std::uint32_t anaGroup)
{
	writeFile(dir(nsid) + "/ana_grpid", std::to_string(anaGroup));
}

void Subsystem::revalidate(std::uint32_t nsid)
{
	writeFile(dir(nsid) + "/revalidate_size", "1");
}

Port::Port(unsigned id, std::string address, unsigned service, PortOptions options)
	: path_(root + "ports/" + std::to_string(id)), address_(std::move(address)), service_(std::to_string(service)),
	  options_(std::move(options))
{
	load();
	makeDir(path_);
	writeFile(path_ + "/addr_trtype", options_.transport);
	writeFile(path_ + "/addr_adrfam", address_.find(':') == std::string::npos ? "ipv4" : "ipv6");
	writeFile(path_ + "/addr_traddr", address_);
	writeFile(path_ + "/addr_trsvcid", service_);
	if (!options_.tls.empty()) {
		writeFile(path_ + "/addr_tsas", "tls1.3");
		writeFile(path_ + "/addr_treq", options_.tls);
	}
	if (options_.inlineData)
		writeFile(path_ + "/param_inline_data_size", std::to_string(*options_.inlineData));
}

Port::~Port()
{
	for (auto &link : links_)
		::unlink(link.c_str());
	for (auto group : groups_)
		removeDir(path_ + "/ana_groups/" + std::to_string(group));
	removeDir(path_);
}

// The listening socket belongs to the network namespace of the thread that creates the first link.
void Port::link(const Subsystem &subsystem)
{
	std::optional<InNetns> inside;
	if (!options_.netns.empty())
		inside.emplace(options_.netns);
	auto link = path_ + "/subsystems/" + subsystem.nqn();
	if (::symlink((root + "subsystems/" + subsystem.nqn()).c_str(), link.c_str()))
		throw std::system_error(errno, std::generic_category(), "link " + link);
	links_.push_back(link);
}

void Port::unlink(const Subsystem &subsystem)
{
	auto link = path_ + "/subsystems/" + subsystem.nqn();
	std::erase(links_, link);
	if (::unlink(link.c_str()))
		throw std::system_error(errno, std::generic_category(), "unlink " + link);
}

void Port::setAnaState(unsigned group, const std::string &state)
{
	auto dir = path_ + "/ana_groups/" + std::to_string(group);
	if (!exists(dir)) {
		makeDir(dir);
		groups_.push_back(group);
	}
	writeFile(dir + "/ana_state", state);
}

} // namespace guest::nvmet
