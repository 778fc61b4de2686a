// SPDX-License-Identifier: LGPL-2.1-or-later
// Derives the connections of this host from the firmware tables, and reads their files.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <unistd.h>

#include <fmt/format.h>

#include <nvmeof/discovery.h>
#include <nvmeof/discovery_plan.h>

#include "nbft.h"

namespace nofctl::nbft {

using namespace nvmeof;

namespace {

bool has(const Link &link, const std::string &address)
{
	return std::ranges::find(link.addresses, address) != link.addresses.end();
}

// fe80::/64, in the form that firmware uses
bool isLinkLocal(const std::string &address)
{
	return address.starts_with("fe80:");
}

class Planner {
public:
	Planner(std::span<const Link> links, bool all) : links_(links), all_(all) {}

	void add(const BootTable &table, const Namespace &ns);
	Paths take() { return std::move(found_); }

private:
	std::string refusal(const BootTable &table, const Namespace &ns) const;
	ConnectOptions optionsOf(const BootTable &table, const Namespace &ns) const;
	void addFrom(const BootTable &table, const Namespace &ns, const Interface *interface, const Link *link);
	const Link *linkOf(const Interface &interface) const;
	void note(std::string text)
	{
		if (std::ranges::find(found_.notes, text) == found_.notes.end())
			found_.notes.push_back(std::move(text));
	}

	std::span<const Link> links_;
	const bool all_;
	Paths found_;
	std::map<std::string, std::size_t> known_; // indexes of paths by connectionKey()
};

// Empty if the entry may be connected to.
std::string Planner::refusal(const BootTable &table, const Namespace &ns) const
{
	if (ns.subsysnqn == discoveryNqn)
		return "it is a discovery service: 'nvmeofctl connect-all' connects to its entries";
	if (!all_ && ns.availability == Availability::unavailable)
		return "the firmware could not reach it; --all connects to it, too";
	const Security *security = ns.security ? table.security(*ns.security) : nullptr;
	if (security && (security->authentication || security->channel))
		return "it requires authentication or TLS, and the table has no keys: use 'nvmeofctl connect' with "
		       "--dhchap-key or --tls-key";
	return {};
}

ConnectOptions Planner::optionsOf(const BootTable &table, const Namespace &ns) const
{
	ConnectOptions options;
	options.address = ns.address;
	options.subsysnqn = ns.subsysnqn;
	options.hostnqn = table.host.nqn;
	options.hostid = table.host.id;
	options.hdrDigest = ns.hdrDigest;
	options.dataDigest = ns.dataDigest;
	options.idempotent = true;
	return options;
}

// Finds the link by address, then by MAC address. For a VLAN the MAC address is ambiguous: the parent has the same one.
const Link *Planner::linkOf(const Interface &interface) const
{
	for (const Link &link : links_)
		if (!interface.address.empty() && has(link, interface.address))
			return &link;
	for (const Link &link : links_)
		if (!interface.vlan && !interface.mac.empty() && link.mac == interface.mac)
			return &link;
	return nullptr;
}

// @link null: default routing.
void Planner::addFrom(const BootTable &table, const Namespace &ns, const Interface *interface, const Link *link)
{
	ConnectOptions options = optionsOf(table, ns);
	if (link && has(*link, interface->address) && !isLinkLocal(interface->address))
		options.hostTraddr = interface->address;
	else if (link)
		options.hostIface = link->name;
	if (isLinkLocal(options.address.traddr)) {
		if (!link)
			return note(fmt::format("subsystem {}: a link-local address, but none of its interfaces exists",
						ns.index));
		options.address.traddr += "%" + link->name;
	}
	auto [known, fresh] = known_.try_emplace(connectionKey(options), found_.paths.size());
	if (fresh)
		found_.paths.push_back({options, &table, {}});
	std::vector<unsigned> &named = found_.paths[known->second].namespaces;
	if (std::ranges::find(named, ns.index) == named.end())
		named.push_back(ns.index);
}

void Planner::add(const BootTable &table, const Namespace &ns)
{
	if (std::string reason = refusal(table, ns); !reason.empty()) {
		found_.skipped.push_back({&table, ns.index, ns.subsysnqn, reason});
		return;
	}
	bool any = false;
	for (unsigned index : ns.interfaces) {
		const Interface &interface = *table.interface(index);
		const Link *link = linkOf(interface);
		if (link)
			addFrom(table, ns, &interface, link);
		else
			note(fmt::format("interface {}: this machine has neither its address, {}, nor its card, {}",
					 index, interface.address, interface.mac));
		any = any || link;
	}
	if (!any)
		addFrom(table, ns, nullptr, nullptr);
}

} // namespace

Paths pathsOf(std::span<const BootTable> tables, std::span<const Link> links, bool all)
{
	Planner planner(links, all);
	for (const BootTable &table : tables)
		for (const Namespace &ns : table.namespaces)
			planner.add(table, ns);
	return planner.take();
}

// ---- files of the tables that the kernel exposes: NBFT, or NBFT1, NBFT2, ... if there are several

std::vector<std::string> filesIn(const std::filesystem::path &folder)
{
	std::vector<std::string> files;
	std::error_code error;
	for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
		const std::string name = at->path().filename().string();
		if (name.starts_with("NBFT") && name.find_first_not_of("0123456789", 4) == name.npos)
			files.push_back(at->path().string());
	}
	std::ranges::sort(files, [](const std::string &a, const std::string &b) {
		return a.size() != b.size() ? a.size() < b.size() : a < b; // NBFT10 sorts after NBFT9
	});
	return files;
}

static Result<std::vector<std::uint8_t>> bytesOf(const std::string &file)
{
	const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
	const auto failure = [&](int sysErrno) {
		Error error = errorFromErrno(sysErrno, file + ": " + std::strerror(sysErrno));
		error.object = {ErrorObject::Kind::file, file};
		return error;
	};
	if (fd < 0)
		return failure(errno);
	std::vector<std::uint8_t> bytes(maxTableSize + 1);
	std::size_t size = 0;
	ssize_t n = 0;
	while (size < bytes.size() && (n = ::read(fd, bytes.data() + size, bytes.size() - size)) > 0)
		size += static_cast<std::size_t>(n);
	int sysErrno = n < 0 ? errno : 0;
	if (size > maxTableSize)
		sysErrno = EFBIG;
	::close(fd);
	if (sysErrno)
		return failure(sysErrno);
	bytes.resize(size);
	bytes.shrink_to_fit();
	return bytes;
}

Result<BootTable> read(const std::string &file)
{
	Result<std::vector<std::uint8_t>> bytes = bytesOf(file);
	if (!bytes)
		return bytes.error();
	Result<BootTable> table = parse(*bytes);
	if (!table) {
		Error error = table.error();
		error.message = file + ": " + error.message;
		return error;
	}
	table->file = file;
	return table;
}

} // namespace nofctl::nbft
