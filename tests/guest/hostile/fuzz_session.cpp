// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fuzz_session.h"

#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <future>
#include <thread>

namespace guest {

namespace {

constexpr std::uint64_t storeSize = 4 << 20;

std::string hex(const nvmeof::ConnectOptions &o)
{
	return std::string(o.hdrDigest ? " header digest" : "") + (o.dataDigest ? " data digest" : "") +
	       (o.sqFlow ? " flow control" : "");
}

} // namespace

bool FuzzIo::same(std::uint64_t at, Buffer &buffer) const
{
	auto is = store_->peek(at, buffer.size());
	return std::equal(is.begin(), is.end(), buffer.data());
}

// True if a write had this block at this position.
bool FuzzIo::sent(std::uint64_t at, const std::vector<std::uint8_t> &block) const
{
	return std::ranges::any_of(written_, [&](const Write &w) {
		return at >= w.at && at + block.size() <= w.at + w.data.size() &&
		       std::equal(block.begin(), block.end(), w.data.begin() + static_cast<long>(at - w.at));
	});
}

// True if each block that differs holds data written earlier, and was overwritten meanwhile by a controller that had
// been replaced.
bool FuzzIo::hitByLateWrite(std::uint64_t at, Buffer &buffer, std::uint64_t lateWrites) const
{
	auto block = std::size_t(1) << store_->shift();
	for (std::size_t i = 0; i < buffer.size(); i += block) {
		auto is = store_->peek(at + i, block);
		if (!std::equal(is.begin(), is.end(), buffer.data() + i) &&
		    !(sent(at + i, is) && store_->hitByLateWrite((at + i) >> store_->shift(), lateWrites)))
			return false;
	}
	return true;
}

// After a successful write the store has the data, and a successful read has returned the data of the store. A retried
// write may still be executed by the target's end of the lost connection, after newer ones. Without fencing=safe this
// is expected; fencing.cpp tests it, and the store detects it.
void FuzzIo::one(const Disk &disk, const target::Mutator *mutator)
{
	static const std::size_t sizes[] = {512, 4096, 8192, 32768, 131072, 524288};
	auto size = random_.pick(sizes);
	auto at = offset_ + random_.below((length_ - size) / 4096 + 1) * 4096;
	bool writes = random_.oneIn(2);
	Buffer buffer(size);
	if (random_.oneIn(12) && disk.flush())
		failed++;
	if (writes) {
		buffer.fill(static_cast<std::uint32_t>(random_.next()));
		written_.push_back({at, {buffer.data(), buffer.data() + buffer.size()}});
	}
	auto known = store_->lateWrites();
	int err = writes ? disk.write(at, buffer) : disk.read(at, buffer);
	if (err) {
		failed++;
		return;
	}
	good++;
	if (same(at, buffer))
		return;
	if (mutator && mutator->deceived())
		deceived++;
	else if (hitByLateWrite(at, buffer, known))
		lateWrites++;
	else
		fault = std::string(writes ? "a write that ended well is not in the store" : "wrong data read") + ": " +
			std::to_string(size) + " bytes at " + std::to_string(at);
}

void FuzzIo::run(const std::string &node, const std::string &nqn, Clock::time_point deadline,
		 const target::Mutator *mutator)
{
	Disk disk(node);
	// The disk may be gone, and another session or namespace may have reused its name.
	if (disk.fd() < 0 || disk.subsysnqn() != nqn || ::ioctl(disk.fd(), NVME_IOCTL_ID) != 1) {
		failed++;
		return;
	}
	for (int i = 0; i < 12 && failed < 3 && fault.empty() && Clock::now() < deadline; i++)
		one(disk, mutator);
}

FuzzSession::FuzzSession(nvmeof::Client &client, std::uint64_t seed, std::uint64_t session, unsigned worker)
	: client_(client), seed_(seed), session_(session)
{
	outcome_.session = session;
	config_.nqn = "nqn.2024-01.io.nvmeof:fuzz" + std::to_string(worker);
	configure(target::Random{seed, session, 0x686f7374});
}

void FuzzSession::configure(target::Random random)
{
	config_.ana = random.oneIn(3);
	config_.trafficKeepAlive = random.oneIn(4);
	config_.inCapsule = random.oneIn(4) ? 0 : 8192;
	config_.c2hBytes = random.oneIn(4) ? 4096 : 32768;
	config_.r2tBytes = random.oneIn(4) ? 16384 : 131072;
	config_.maxH2cData = random.oneIn(4) ? 4096 : 131072;
	config_.successAlways = random.oneIn(4);
	config_.allowSqflowOff = !random.oneIn(4);
	config_.queueEntries = random.oneIn(4) ? 16 : 128;
	config_.ccrLimit = random.oneIn(4) ? 2 : 0;
	namespaces_ = random.oneIn(4) ? 3 : 1;
	threads_ = random.oneIn(4) ? 2 : 1;
	auto ms = [](unsigned n) { return scaled(Millis(n)); };
	options_.subsysnqn = config_.nqn;
	options_.ioQueues = random.oneIn(4) ? 2 : 1;
	options_.hdrDigest = random.oneIn(3);
	options_.dataDigest = random.oneIn(2);
	options_.sqFlow = random.oneIn(2);
	options_.connectTimeout = ms(500);
	options_.keepAlive = ms(random.oneIn(4) ? 300 : 1000);
	options_.ctrlLoss = random.oneIn(4) ? ms(600) : 0ms; // the others do not reconnect
	options_.reconnectDelay = 50ms;
}

std::string FuzzSession::describe() const
{
	return std::to_string(seed_) + ":" + std::to_string(session_) + hex(options_) + (config_.ana ? " ANA" : "") +
	       (options_.ctrlLoss->count() ? " reconnects" : "") + " queues " + std::to_string(*options_.ioQueues) +
	       " namespaces " + std::to_string(namespaces_);
}

void FuzzSession::fail(const std::string &what)
{
	outcome_.fault += (outcome_.fault.empty() ? "" : "; ") + what;
}

// The disk of namespace 1; empty if the answers of the target have created none.
std::string FuzzSession::disk()
{
	auto subsystems = client_.subsystems();
	if (!subsystems)
		return "";
	for (auto &s : *subsystems) {
		if (s.nqn != config_.nqn)
			continue;
		auto list = client_.namespaces(s.id);
		for (auto &n : list ? *list : std::vector<nvmeof::Namespace>())
			if (n.nsid == 1 && exists("/dev/" + n.name))
				return "/dev/" + n.name;
	}
	return "";
}

// Runs I/O, then disconnects. All I/O must end once the controller is gone.
void FuzzSession::work(const std::string &name)
{
	auto node = disk();
	outcome_.disk = !node.empty();
	std::vector<std::future<FuzzIo>> all;
	auto deadline = Clock::now() + scaled(400ms);
	for (unsigned i = 0; i < threads_ && outcome_.disk; i++) {
		auto part = storeSize / threads_;
		FuzzIo io(server_->stores().find(1), i * part, part, target::Random{seed_, session_, i});
		all.push_back(std::async(std::launch::async,
					 [io, node, nqn = config_.nqn, deadline, mutator = mutator_]() mutable {
						 io.run(node, nqn, deadline, mutator.get());
						 return io;
					 }));
	}
	for (auto &io : all)
		io.wait_until(deadline);
	leave();
	for (auto &each : all) {
		if (each.wait_for(scaled(20s)) != std::future_status::ready) {
			std::fprintf(stderr, "fuzz_pdu: FAILED %s: I/O of %s does not end\n", describe().c_str(),
				     name.c_str());
			std::abort(); // the thread hangs in the kernel and cannot be joined
		}
		auto io = each.get();
		outcome_.good += io.good;
		outcome_.failed += io.failed;
		outcome_.deceived += io.deceived;
		outcome_.lateWrites += io.lateWrites;
		if (!io.fault.empty())
			fail(io.fault);
	}
}

// Disconnects all controllers of the subsystem: one that was not live in time keeps trying.
void FuzzSession::leave()
{
	Stopwatch time;
	auto gone = client_.disconnectNqn(config_.nqn);
	if (!gone && gone.error().code != nvmeof::ErrorCode::noSuchObject)
		fail("disconnecting: " + gone.error().message);
	if (gone && !gone->outcome())
		fail("disconnecting: " + gone->failures.front().message);
	// The kernel waits at most 6 s for an admin queue that alone is silent.
	if (time.elapsed() > scaled(8s))
		fail("disconnecting took " + std::to_string(time.elapsed().count()) + " ms");
}

FuzzOutcome FuzzSession::play()
{
	Stopwatch time;
	mutator_ = std::make_shared<target::Mutator>(seed_, session_);
	server_ = std::make_unique<target::Server>(config_);
	for (unsigned nsid = 1; nsid <= namespaces_; nsid++)
		server_->stores().add(nsid, storeSize);
	server_->mutate([mutator = mutator_](bool) { return mutator->stream(); });
	options_.address = {"127.0.0.1", std::to_string(server_->port())};
	auto timeout = scaled(1500ms);
	auto result = client_.connect(options_, nvmeof::WaitFor::namespaces, timeout);
	if (result)
		outcome_.live = true;
	else if (result.error().message.empty())
		fail("a connect that failed without a word");
	auto name = result ? result->name : result.error().object.name;
	if (!result && !name.empty()) // it may be live without namespaces
		if (auto c = client_.controller(name))
			outcome_.live = c->state == nvmeof::ControllerState::live;
	work(name);
	server_.reset();
	outcome_.took = time.elapsed();
	// A single lost command takes its timeout, an Abort, and its timeout again.
	if (outcome_.took > scaled(130s))
		fail("took " + std::to_string(outcome_.took.count()) + " ms");
	outcome_.done = mutator_->line();
	outcome_.mutator = mutator_;
	return outcome_;
}

} // namespace guest
