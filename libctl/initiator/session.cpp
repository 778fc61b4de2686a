// SPDX-License-Identifier: LGPL-2.1-or-later
#include "session.h"

#include <algorithm>

#include "libctl/base/jitter.h"
#include "libctl/wire/fabrics.h"
#include "libctl/wire/identify.h"

namespace initiator {

using namespace nofctl::wire;
using namespace std::chrono_literals;
using Clock = runtime::Wheel::Clock;

namespace {

constexpr std::uint32_t queueEntries = 32;                  // of the admin queue: the minimum of the specification
constexpr std::uint32_t cc_enabled = 1 | 6 << 16 | 4 << 20; // EN, entries of 64 and 16 bytes
constexpr std::uint32_t csts_ready = 1, csts_fatal = 2;
constexpr std::uint64_t authenticationRequired = 0x60000; // ATR and ASCR in the completion of Connect
constexpr std::uint8_t discoveryController = 2;
constexpr unsigned trafficBased = 6; // bit of CTRATT
constexpr unsigned pageShift = 12;   // for CAP.MPSMIN 0
constexpr auto readyPollInterval = 10ms;
constexpr std::uint32_t minKato = 100;

} // namespace

std::uint32_t ControllerInfo::maxTransfer(std::uint32_t max) const
{
	const unsigned shift = mdts + pageShift + (cap >> 48 & 0xf);
	return mdts && shift < 31 ? std::min(max, 1u << shift) : max;
}

void Session::open(const Endpoint &to, const HostIdentity &who, const SessionOptions &options, bool pause)
{
	identity_ = &who;
	options_ = &options;
	info_ = {};
	step_ = Step::tcp;
	pause_ = pause;
	sawTraffic_ = false;
	queue_.open(to, options.patience);
}

void Session::close()
{
	shared_.wheel.stop(*this);
	page_.clear();
	queue_.close();
}

void Session::fail(Failure failure)
{
	close();
	failure.step = step_;
	user_.failed(failure);
}

void Session::failed(const Failure &failure)
{
	fail(failure);
}

void Session::pass(Step next)
{
	user_.passed(step_);
	step_ = next;
}

void Session::submit(const Command &cmd, std::uint32_t expected)
{
	queue_.submit(Slot::command, cmd, {}, expected, options_->patience);
}

void Session::connected()
{
	pass(Step::hello);
	if (!pause_)
		greet();
}

void Session::greet()
{
	queue_.greet(options_->digests, options_->patience);
}

void Session::ready()
{
	pass(Step::connect);
	sendConnect();
}

void Session::sendConnect()
{
	Connect connect;
	connect.entries = queueEntries;
	connect.kato = options_->kato;
	connect.hostid = identity_->hostid;
	connect.subsysnqn = options_->subsysnqn;
	connect.hostnqn = identity_->hostnqn;
	const ConnectData data = connect.data();
	queue_.submit(Slot::command, connect.command(), bytesOf(data), 0, options_->patience);
}

// Handles the completion of a step and sends the command of the next one.
void Session::advance(const Completion &completion)
{
	const std::uint64_t result = completion.result;
	switch (step_) {
	case Step::connect:
		if (result & authenticationRequired)
			return unusable("the controller requires authentication");
		info_.cntlid = static_cast<std::uint16_t>(result);
		pass(Step::cap);
		return submit(propertyGet(prop_cap));
	case Step::cap:
		info_.cap = result;
		pass(Step::vs);
		return submit(propertyGet(prop_vs));
	case Step::vs:
		info_.vs = static_cast<std::uint32_t>(result);
		pass(Step::enable);
		return submit(propertySet(prop_cc, cc_enabled));
	case Step::enable:
		until_ = Clock::now() +
			 std::clamp<Clock::duration>((info_.cap >> 24 & 0xff) * 500ms, 1s, options_->readyTimeout);
		pass(Step::ready);
		return submit(propertyGet(prop_csts));
	case Step::ready:
		return lookReady(static_cast<std::uint32_t>(result));
	case Step::identify:
		return identified();
	case Step::events:
		pass(Step::live);
		return becomeLive();
	default:
		break;
	}
}

void Session::lookReady(std::uint32_t csts)
{
	if (csts & csts_fatal)
		return unusable("the controller reports a fatal error");
	if (csts & csts_ready) {
		pass(Step::identify);
		return submit(nofctl::wire::identify(cns_ctrl), identifySize);
	}
	if (Clock::now() > until_)
		return fail({Reason::timedOut, step_, 0, "the controller did not become ready in time"});
	shared_.wheel.set(*this, readyPollInterval);
}

void Session::learn(Data id)
{
	info_.oaes = get(id, at::oaes);
	info_.ctratt = get(id, at::ctratt);
	info_.anaGroupMax = get(id, at::anagrpmax);
	info_.anaGroups = get(id, at::nanagrpid);
	info_.namespaces = get(id, at::nn);
	info_.maxNamespaces = get(id, at::mnan);
	info_.kas = get(id, at::kas);
	info_.mdts = get(id, at::mdts);
	info_.lpa = get(id, at::lpa);
	info_.cntrltype = get(id, at::cntrltype);
	info_.dctype = get(id, at::dctype);
	info_.anacap = get(id, at::anacap);
	info_.cmic = get(id, at::cmic);
}

// Controllers older than NVMe 1.4 report no controller type.
void Session::identified()
{
	if (options_->discovery && info_.cntrltype && info_.cntrltype != discoveryController)
		return unusable("the controller is not a discovery controller");
	info_.events = info_.oaes & options_->events;
	if (!info_.events) {
		pass(Step::live);
		return becomeLive();
	}
	pass(Step::events);
	submit(setFeature(feat_async_event, info_.events));
}

void Session::becomeLive()
{
	if (options_->kato)
		shared_.wheel.set(*this, nofctl::jittered(std::chrono::milliseconds(options_->kato / 2)));
	user_.live();
}

// Fails if the previous keep-alive was not answered. With traffic-based keep-alive, recent traffic replaces the
// command.
void Session::keepAlive()
{
	const bool traffic = info_.ctratt >> trafficBased & 1;
	if (queue_.busy(Slot::keepAlive))
		return fail({Reason::timedOut, step_, 0, "no answer to keep-alive"});
	if (!traffic || !sawTraffic_)
		queue_.submit(Slot::keepAlive, plain(op_keep_alive), {}, 0, {});
	sawTraffic_ = false;
	const std::uint32_t period = std::max(options_->kato, minKato) / (traffic ? 4 : 2);
	shared_.wheel.set(*this, nofctl::jittered(std::chrono::milliseconds(period)));
}

void Session::onDeadline()
{
	if (step_ == Step::ready)
		return submit(propertyGet(prop_csts));
	keepAlive();
}

void Session::data(std::uint32_t offset, Data data)
{
	if (step_ == Step::live)
		return user_.data(offset, data);
	if (step_ == Step::identify)
		if (const Data all = page_.take(offset, data, identifySize); !all.empty()) {
			learn(all);
			page_.clear();
		}
}

void Session::done(Slot slot, const Completion &completion)
{
	const auto status = static_cast<std::uint16_t>(completion.status >> 1);
	sawTraffic_ = true;
	if (slot == Slot::event)
		return user_.event(completion);
	if (slot == Slot::keepAlive)
		return status ? fail(failureOfStatus(status, "keep-alive")) : void();
	if (step_ == Step::live)
		return user_.done(completion);
	if (status && step_ != Step::events)
		return fail(failureOfStatus(status, ""));
	if (status)
		info_.events = 0;
	advance(completion);
}

void Session::run(const Command &cmd, std::uint32_t expected, Data data)
{
	queue_.submit(Slot::command, cmd, data, expected, options_->patience);
}

void Session::arm()
{
	queue_.submit(Slot::event, plain(op_async_event), {}, 0, {});
}

} // namespace initiator
