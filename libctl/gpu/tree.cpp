// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tree.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace nofctl::gpu {

namespace {

// Resolves @target relative to @link: "a/b/../c" becomes "a/c"
std::string joined(const std::string &link, const std::string &target)
{
	if (target.starts_with('/'))
		return std::filesystem::path(target).lexically_normal().string();
	return (std::filesystem::path(link).parent_path() / target).lexically_normal().string();
}

} // namespace

std::string baseOf(std::string_view path)
{
	return std::string(path.substr(path.rfind('/') + 1));
}

std::vector<std::string> linesOf(std::string_view text)
{
	std::vector<std::string> lines;
	while (!text.empty()) {
		const std::size_t end = text.find('\n');
		lines.emplace_back(text.substr(0, end));
		text.remove_prefix(end == text.npos ? text.size() : end + 1);
	}
	return lines;
}

std::vector<std::string> wordsOf(std::string_view text)
{
	constexpr std::string_view blanks = " \t\n\r";
	std::vector<std::string> words;
	for (std::size_t at = text.find_first_not_of(blanks); at != text.npos;
	     at = text.find_first_not_of(blanks, at)) {
		const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
		words.emplace_back(text.substr(at, end - at));
		at = end;
	}
	return words;
}

std::string Tree::text(const std::string &file) const
{
	std::string text = read(file).value_or("");
	text.erase(text.find_last_not_of(" \t\n\r") + 1);
	return text;
}

std::optional<std::int64_t> Tree::number(const std::string &file) const
{
	const std::string text = this->text(file);
	const bool hex = text.starts_with("0x");
	const char *end = text.data() + text.size();
	std::int64_t value = 0;
	auto [at, error] = std::from_chars(text.data() + (hex ? 2 : 0), end, value, hex ? 16 : 10);
	return error == std::errc() && at == end ? std::optional(value) : std::nullopt;
}

std::string Tree::linkName(const std::string &link) const
{
	return baseOf(target(link).value_or(""));
}

std::optional<std::string> FolderTree::read(const std::string &file) const
{
	// in a copied directory, the path may be a device or a FIFO without a writer
	std::error_code ignored;
	if (!std::filesystem::is_regular_file(root_ + file, ignored))
		return std::nullopt;
	std::ifstream in(root_ + file, std::ios::binary);
	std::string content(maxBytes, '\0');
	in.read(content.data(), static_cast<std::streamsize>(content.size()));
	if (in.bad() || (in.fail() && !in.eof()))
		return std::nullopt;
	content.resize(static_cast<std::size_t>(in.gcount()));
	return content;
}

std::vector<std::string> FolderTree::list(const std::string &folder, const std::string &start) const
{
	std::vector<std::string> names;
	std::error_code error;
	for (std::filesystem::directory_iterator at(root_ + folder, error), end; !error && at != end;
	     at.increment(error))
		if (std::string name = at->path().filename().string(); name.starts_with(start))
			names.push_back(std::move(name));
	std::ranges::sort(names);
	return names;
}

std::optional<std::string> FolderTree::target(const std::string &link) const
{
	std::error_code error;
	const std::filesystem::path target = std::filesystem::read_symlink(root_ + link, error);
	return error ? std::nullopt : std::optional(joined(link, target.string()));
}

std::optional<std::string> FolderTree::line(const std::string &file, const std::string &start) const
{
	std::error_code ignored;
	if (!std::filesystem::is_regular_file(root_ + file, ignored))
		return std::nullopt;
	std::ifstream in(root_ + file, std::ios::binary);
	for (std::string line; std::getline(in, line);)
		if (line.starts_with(start))
			return line;
	return std::nullopt;
}

std::optional<std::string> MemoryTree::read(const std::string &file) const
{
	auto found = files_.find(file);
	return found == files_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> MemoryTree::list(const std::string &folder, const std::string &start) const
{
	std::set<std::string> found;
	const std::string before = (folder.ends_with('/') ? folder : folder + "/");
	auto add = [&](const auto &from, auto pathOf) {
		for (auto at = from.lower_bound(before + start); at != from.end(); ++at) {
			const std::string &path = pathOf(*at);
			if (!path.starts_with(before + start))
				break;
			if (path.size() > before.size())
				found.insert(path.substr(before.size(), path.find('/', before.size()) - before.size()));
		}
	};
	auto first = [](const auto &entry) -> const std::string & { return entry.first; };
	add(files_, first);
	add(links_, first);
	add(names_, [](const std::string &name) -> const std::string & { return name; });
	return {found.begin(), found.end()};
}

std::optional<std::string> MemoryTree::target(const std::string &link) const
{
	auto found = links_.find(link);
	return found == links_.end() ? std::nullopt : std::optional(joined(link, found->second));
}

std::optional<std::string> MemoryTree::line(const std::string &file, const std::string &start) const
{
	for (const std::string &line : linesOf(read(file).value_or("")))
		if (line.starts_with(start))
			return line;
	return std::nullopt;
}

std::optional<std::string> RecordingTree::read(const std::string &file) const
{
	std::optional<std::string> content = from_.read(file);
	if (content)
		kept_.file(file, *content);
	return content;
}

std::vector<std::string> RecordingTree::list(const std::string &folder, const std::string &start) const
{
	std::vector<std::string> names = from_.list(folder, start);
	for (const std::string &name : names)
		kept_.name(folder + "/" + name);
	return names;
}

std::optional<std::string> RecordingTree::target(const std::string &link) const
{
	std::optional<std::string> target = from_.target(link);
	if (target)
		kept_.link(link, *target);
	return target;
}

// Keeps only the requested lines of a long file
std::optional<std::string> RecordingTree::line(const std::string &file, const std::string &start) const
{
	std::optional<std::string> line = from_.line(file, start);
	const std::string before = kept_.read(file).value_or("");
	if (line && before.find(*line) == before.npos)
		kept_.file(file, before + *line + "\n");
	return line;
}

// ---- network interfaces

namespace {

using Address = std::array<std::uint8_t, 16>;

constexpr unsigned flagUp = 1; // RTF_UP
constexpr const char *loopback = "lo";

// Returns 0 for text that is not hexadecimal.
std::uint32_t hex(const std::string &text)
{
	std::uint32_t value = 0;
	std::from_chars(text.data(), text.data() + text.size(), value, 16);
	return value;
}

std::optional<Address> addressOf(const std::string &digits)
{
	Address address{};
	if (digits.size() != 2 * address.size())
		return std::nullopt;
	for (std::size_t i = 0; i < address.size(); i++)
		address[i] = static_cast<std::uint8_t>(hex(digits.substr(2 * i, 2)));
	return address;
}

bool within(const Address &address, const Address &network, unsigned bits)
{
	for (unsigned i = 0; i < bits && i < 8 * address.size(); i++) {
		const unsigned shift = 7 - i % 8;
		if ((address[i / 8] ^ network[i / 8]) >> shift & 1)
			return false;
	}
	return true;
}

// /proc/net/route: Iface Destination Gateway Flags RefCnt Use Metric Mask ...; numbers in host byte order
std::string route4(const Tree &tree, std::uint32_t address)
{
	std::string best;
	int bestBits = -1;
	const std::vector<std::string> lines = linesOf(tree.read("/proc/net/route").value_or(""));
	for (std::size_t i = 1; i < lines.size(); i++) {
		const std::vector<std::string> words = wordsOf(lines[i]);
		if (words.size() < 8 || !(hex(words[3]) & flagUp))
			continue;
		const std::uint32_t mask = hex(words[7]);
		if ((address & mask) != hex(words[1]) || std::popcount(mask) <= bestBits)
			continue;
		best = words[0];
		bestBits = std::popcount(mask);
	}
	return best;
}

// /proc/net/ipv6_route: destination, prefix length, source, prefix length, gateway, metric, ..., flags, interface
std::string route6(const Tree &tree, const Address &address)
{
	std::string best;
	int bestBits = -1;
	for (const std::string &line : linesOf(tree.read("/proc/net/ipv6_route").value_or(""))) {
		const std::vector<std::string> words = wordsOf(line);
		if (words.size() < 10 || words[9] == loopback || !(hex(words[8]) & flagUp))
			continue;
		const std::optional<Address> network = addressOf(words[0]);
		const int bits = static_cast<int>(hex(words[1]));
		if (!network || bits <= bestBits || !within(address, *network, static_cast<unsigned>(bits)))
			continue;
		best = words[9];
		bestBits = bits;
	}
	return best;
}

} // namespace

std::string interfaceTowards(const Tree &tree, const std::string &text)
{
	const std::string bare = text.substr(0, text.find('%'));
	in_addr four{};
	Address six{};
	if (::inet_pton(AF_INET, bare.c_str(), &four) == 1)
		return route4(tree, four.s_addr);
	return ::inet_pton(AF_INET6, bare.c_str(), six.data()) == 1 ? route6(tree, six) : "";
}

std::string interfaceWith(const Tree &tree, const std::string &text)
{
	Address wanted{};
	if (::inet_pton(AF_INET6, text.substr(0, text.find('%')).c_str(), wanted.data()) != 1)
		return interfaceTowards(tree, text);
	// /proc/net/if_inet6: address, index, prefix length, scope, flags, interface
	for (const std::string &line : linesOf(tree.read("/proc/net/if_inet6").value_or(""))) {
		const std::vector<std::string> words = wordsOf(line);
		if (words.size() == 6 && addressOf(words[0]) == wanted)
			return words[5];
	}
	return {};
}

std::string interfaceOf(const Tree &tree, const std::string &hostIface, const std::string &hostTraddr,
			const std::string &traddr)
{
	if (!hostIface.empty())
		return hostIface;
	return hostTraddr.empty() ? interfaceTowards(tree, traddr) : interfaceWith(tree, hostTraddr);
}

std::string interfaceTrouble(const Tree &tree, const std::string &interface)
{
	constexpr std::int64_t administrativelyUp = 1; // IFF_UP
	if (interface.empty() || interface.find('/') != interface.npos)
		return {};
	const std::string folder = "/sys/class/net/" + interface;
	const std::optional<std::int64_t> flags = tree.number(folder + "/flags");
	if (!flags)
		return "there is no interface " + interface;
	if (!(*flags & administrativelyUp))
		return interface + " is down";
	return tree.number(folder + "/carrier") == 0 ? interface + " has no carrier" : "";
}

std::vector<std::string> addressesOf(const Tree &tree, const std::string &interface)
{
	std::vector<std::string> addresses;
	std::string last; // from lines "|-- 10.0.0.1", each followed by its type: "/32 host LOCAL"
	for (const std::string &line : linesOf(tree.read("/proc/net/fib_trie").value_or(""))) {
		const std::vector<std::string> words = wordsOf(line);
		if (words.size() == 2 && words[0] == "|--")
			last = words[1];
		else if (line.find("host LOCAL") != line.npos && interfaceTowards(tree, last) == interface &&
			 std::ranges::find(addresses, last) == addresses.end())
			addresses.push_back(last);
	}
	constexpr const char *linkScope = "20";
	for (const std::string &line : linesOf(tree.read("/proc/net/if_inet6").value_or(""))) {
		const std::vector<std::string> words = wordsOf(line);
		const std::optional<Address> address = words.size() == 6 ? addressOf(words[0]) : std::nullopt;
		char text[INET6_ADDRSTRLEN];
		if (address && words[5] == interface && words[3] != linkScope &&
		    ::inet_ntop(AF_INET6, address->data(), text, sizeof(text)))
			addresses.emplace_back(text);
	}
	return addresses;
}

} // namespace nofctl::gpu
