// SPDX-License-Identifier: LGPL-2.1-or-later
#include "session.h"

#include <algorithm>

#include "libctl/base/jitter.h"
#include "libctl/wire/fabrics.h"
#include "libctl/wire/identify.h"

namespace initiator {

using namespace nofctl::wire;
using namespace std::chrono_literals;
using Clock = serving::Wheel::Clock;

namespace {

constexpr std::uint32_t queue_entries = 32;                 // of the admin queue: the minimum of the specification
constexpr std::uint32_t cc_enabled = 1 | 6 << 16 | 4 << 20; // EN, entries of 64 and 16 bytes
constexpr std::uint32_t csts_ready = 1, csts_fatal = 2;
constexpr std::uint64_t authentication_required = 0x60000; // ATR and ASCR in the completion of Connect
constexpr std::uint8_t discovery_controller = 2;
constexpr unsigned traffic_based = 6; // bit of CTRATT
constexpr unsigned page_shift = 12;   // for CAP.MPSMIN 0
constexpr auto look_again = 10ms;
constexpr std::uint32_t least_kato = 100;

} // namespace

std::uint32_t Told::longest(std::uint32_t most) const
{
	const unsigned shift = mdts + page_shift + (cap >> 48 & 0xf);
	return mdts && shift < 31 ? std::min(most, 1u << shift) : most;
}

void Session::open(const Endpoint &to, const Who &who, const SessionOptions &options, bool pause)
{
	who_ = &who;
	options_ = &options;
	told_ = {};
	step_ = Step::tcp;
	pause_ = pause;
	heard_ = false;
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
	connect.entries = queue_entries;
	connect.kato = options_->kato;
	connect.hostid = who_->hostid;
	connect.subsysnqn = options_->subsysnqn;
	connect.hostnqn = who_->hostnqn;
	const ConnectData data = connect.data();
	queue_.submit(Slot::command, connect.command(), bytesOf(data), 0, options_->patience);
}

// Handles the completion of a step and sends the command of the next one.
void Session::advance(const Completion &completion)
{
	const std::uint64_t result = completion.result;
	switch (step_) {
	case Step::connect:
		if (result & authentication_required)
			return unusable("the controller requires authentication");
		told_.cntlid = static_cast<std::uint16_t>(result);
		pass(Step::cap);
		return submit(propertyGet(prop_cap));
	case Step::cap:
		told_.cap = result;
		pass(Step::vs);
		return submit(propertyGet(prop_vs));
	case Step::vs:
		told_.vs = static_cast<std::uint32_t>(result);
		pass(Step::enable);
		return submit(propertySet(prop_cc, cc_enabled));
	case Step::enable:
		until_ = Clock::now() +
			 std::clamp<Clock::duration>((told_.cap >> 24 & 0xff) * 500ms, 1s, options_->longestReady);
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
		return submit(nofctl::wire::identify(cns_ctrl), identify_size);
	}
	if (Clock::now() > until_)
		return fail({Reason::timedOut, step_, 0, "the controller did not become ready in time"});
	shared_.wheel.set(*this, look_again);
}

void Session::learn(Data id)
{
	told_.oaes = get(id, at::oaes);
	told_.ctratt = get(id, at::ctratt);
	told_.anaGroupMax = get(id, at::anagrpmax);
	told_.anaGroups = get(id, at::nanagrpid);
	told_.namespaces = get(id, at::nn);
	told_.mostNamespaces = get(id, at::mnan);
	told_.kas = get(id, at::kas);
	told_.mdts = get(id, at::mdts);
	told_.lpa = get(id, at::lpa);
	told_.cntrltype = get(id, at::cntrltype);
	told_.dctype = get(id, at::dctype);
	told_.anacap = get(id, at::anacap);
	told_.cmic = get(id, at::cmic);
}

// Controllers older than NVMe 1.4 report no controller type.
void Session::identified()
{
	if (options_->discovery && told_.cntrltype && told_.cntrltype != discovery_controller)
		return unusable("the controller is not a discovery controller");
	told_.events = told_.oaes & options_->events;
	if (!told_.events) {
		pass(Step::live);
		return becomeLive();
	}
	pass(Step::events);
	submit(setFeature(feat_async_event, told_.events));
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
	const bool traffic = told_.ctratt >> traffic_based & 1;
	if (queue_.busy(Slot::keepAlive))
		return fail({Reason::timedOut, step_, 0, "no answer to keep-alive"});
	if (!traffic || !heard_)
		queue_.submit(Slot::keepAlive, plain(op_keep_alive), {}, 0, {});
	heard_ = false;
	const std::uint32_t period = std::max(options_->kato, least_kato) / (traffic ? 4 : 2);
	shared_.wheel.set(*this, nofctl::jittered(std::chrono::milliseconds(period)));
}

void Session::rang()
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
		if (const Data all = page_.take(offset, data, identify_size); !all.empty()) {
			learn(all);
			page_.clear();
		}
}

void Session::done(Slot slot, const Completion &completion)
{
	const auto status = static_cast<std::uint16_t>(completion.status >> 1);
	heard_ = true;
	if (slot == Slot::event)
		return user_.event(completion);
	if (slot == Slot::keepAlive)
		return status ? fail(failureOfStatus(status, "keep-alive")) : void();
	if (step_ == Step::live)
		return user_.done(completion);
	if (status && step_ != Step::events)
		return fail(failureOfStatus(status, ""));
	if (status)
		told_.events = 0;
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
