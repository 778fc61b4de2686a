// SPDX-License-Identifier: LGPL-2.1-or-later
// Namespaces that are others than they were, while nobody looked.
#include "support/ports.h"
#include "target/connection.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

using namespace guest;

namespace {

constexpr std::uint64_t size = 1 << 20;
constexpr std::size_t block = 4096;

// The disk of a store, whatever it is called at the time; empty: there is none
std::string nodeOf(const target::Store &store)
{
	nvmeof::Uuid uuid{store.uuid()};
	std::error_code none;
	for (auto &entry : std::filesystem::directory_iterator("/sys/block", none))
		if (readFile(entry.path() / "uuid") == uuid.toString())
			return "/dev/" + entry.path().filename().string();
	return {};
}

// Write all the time to the disk of one namespace, several requests at once, whatever becomes of it meanwhile
class Writers {
public:
	explicit Writers(const target::Store &store) : store_(store)
	{
		for (std::uint32_t i = 0; i < 4; i++)
			threads_.emplace_back([this, i](const std::stop_token &stop) { write(stop, i); });
	}

	// Until so many more are done
	bool progress(std::uint64_t more)
	{
		auto end = done_ + more;
		return eventually([&] { return done_ >= end; }, 20s);
	}

private:
	void write(const std::stop_token &stop, std::uint32_t which)
	{
		Buffer buffer(block);
		while (!stop.stop_requested()) {
			auto node = nodeOf(store_);
			Disk disk(node.empty() ? "/dev/none" : node);
			for (std::uint32_t i = which; disk.fd() >= 0 && !stop.stop_requested(); i += 4) {
				buffer.fill(i + 1);
				if (disk.write(i % (size / block) * block, buffer))
					break;
				done_++;
			}
			std::this_thread::sleep_for(10ms);
		}
	}

	const target::Store &store_;
	std::atomic<std::uint64_t> done_{0};
	std::vector<std::jthread> threads_; // end first
};

// Blocks that somebody has written
std::size_t written(const target::Store &store)
{
	const target::Bytes none(block);
	std::size_t count = 0;
	for (std::uint64_t at = 0; at < size; at += block)
		count += store.peek(at, block) != none;
	return count;
}

// Another set of namespaces at a port, from one connection to the next
void swap(target::Server &port, target::Stores *view)
{
	port.stop();
	port.show(view);
	port.start();
}

} // namespace

// The writers keep requests waiting, or in flight, when the connection goes and comes back to another namespace.
TEST_CASE("a namespace swapped for another while the host is away gets none of its writes",
	  "[hostile][paths][identity]")
{
	std::size_t count = 0;
	SECTION("one path")
	{
		count = 1;
	}
	SECTION("two paths, one of which goes wrong")
	{
		count = 2;
	}
	auto foreign = std::make_shared<target::Store>(2, size);
	target::Stores other;
	other.put(1, foreign);
	Ports ports(std::vector<target::Config>(count), size);
	ports.connectAll();
	Writers writers(ports.store());
	auto right = [&] {
		std::size_t n = 0;
		for (auto &p : ports.host.paths())
			n += p.usable && "/dev/" + p.nameSpace == nodeOf(ports.store());
		return n;
	};
	for (int i = 0; i < 100; i++) {
		INFO("swap " << i);
		REQUIRE(eventually([&] { return right() == count; }, 20s));
		REQUIRE(writers.progress(20));
		swap(ports[0], &other);
		auto seen = [&] { return count == 1 ? !nodeOf(*foreign).empty() : ports.host.paths().size() == 1; };
		REQUIRE(eventually(seen, 20s));
		REQUIRE(written(*foreign) == 0);
		swap(ports[0], nullptr);
	}
	CHECK(written(ports.store()) > 0);
}
