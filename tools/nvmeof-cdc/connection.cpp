// SPDX-License-Identifier: LGPL-2.1-or-later
#include "connection.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <sys/socket.h>
#include <syslog.h>
#include <unistd.h>

#include <fmt/format.h>

#include "libctl/base/jitter.h"
#include "libctl/runtime/journal.h"
#include "libctl/wire/dhchap.h"
#include "libctl/wire/pdu.h"
#include "worker.h"

namespace cdc {

using namespace nofctl::wire;

namespace {

constexpr std::uint32_t maxH2cData = 16384;    // MAXH2CDATA
constexpr std::size_t maxInCapsuleSize = 8192; // of fabrics and admin commands
constexpr std::size_t slack = 32;              // digests
constexpr std::size_t maxWaiting = 256u << 10; // bytes of pending output above which commands wait
constexpr std::size_t maxCopied = 16u << 10;   // the same, for bytes that are not shared with other connections
constexpr std::size_t maxReceived = 32u << 10; // bytes at once, which are kept while commands wait; a TLS record fits
constexpr std::uint16_t dataTag = 1;           // TTAG: only one transfer at a time
constexpr std::uint16_t noSqhd = 0xffff;       // with SQ flow control disabled
constexpr std::uint16_t st_transient = 0x022;  // Transient Transport Error
constexpr std::uint16_t st_sgl_length = 0x00f; // Data SGL Length Invalid
constexpr SteadyMs admissionMs = 500;          // how long a host that does not read its log keeps its admission
constexpr SteadyMs stalledMs = 30000;          // no output sent
constexpr SteadyMs endingMs = 1000;
constexpr SteadyMs transferMs = 30000; // for all data of a command

std::uint16_t sglStatus(const Command &cmd, const Answer &answer)
{
	if (answer.status || answer.dataLength() == 0)
		return answer.status;
	return cmd.sgl.length < answer.dataLength() ? st_sgl_length | st_dnr : st_ok;
}

std::uint32_t digestOf(const Answer &answer, const std::vector<std::span<const std::uint8_t>> &pieces)
{
	static constexpr std::array<std::uint8_t, 4096> nothing{};
	std::uint32_t crc = crc32c(answer.data);
	for (auto piece : pieces)
		crc = crc32c(crc, piece);
	for (std::uint64_t left = answer.zeros; left > 0;) {
		const std::size_t part = std::min<std::uint64_t>(left, nothing.size());
		crc = crc32c(crc, std::span(nothing).first(part));
		left -= part;
	}
	return crc;
}

bool isAuthentication(const Command &cmd)
{
	return cmd.opcode == op_fabrics && (cmd.fctype() == fc_auth_send || cmd.fctype() == fc_auth_receive);
}

Counter &counterOf(Refusal refusal, Counters &counters)
{
	switch (refusal) {
	case Refusal::badKey:
		return counters.refusedBadKey;
	case Refusal::plain:
		return counters.refusedPlain;
	case Refusal::identity:
		return counters.refusedIdentity;
	case Refusal::unproved: // sessions only
	case Refusal::revoked:
	case Refusal::none:
	case Refusal::noKey:
		break;
	}
	return counters.refusedNoKey;
}

} // namespace

Connection::Connection(Worker &worker, std::uint64_t id, int socket, const Peer &peer, SteadyMs now)
	: worker_(worker), id_(id), socket_(socket), peer_(peer), since_(now)
{
	worker_.poller().add(socket_, EPOLLIN | EPOLLRDHUP, *this);
}

Connection::~Connection()
{
	if (controller_)
		worker_.context().cntlids.give(controller_->cntlid());
	if (shaking_) {
		count(worker_.context().counters.tlsFailed);
		worker_.context().handshakeLimit.failed(peer_, Worker::now());
	}
	worker_.poller().remove(socket_, *this);
	::close(socket_);
	worker_.context().connectionLimit.release(peer_);
}

void Connection::end()
{
	state_ = State::ending;
	worker_.end(id_);
}

void Connection::releaseAdmission()
{
	if (!admittedUntil_)
		return;
	admittedUntil_ = 0;
	worker_.leave(id_);
}

void Connection::watch()
{
	worker_.poller().want(
		socket_, (reading() ? EPOLLIN | EPOLLRDHUP : EPOLLRDHUP) | (pendingOutput_ ? EPOLLOUT : 0u), *this);
}

// The scratch output is shared by all connections of the worker.
void Connection::finish(bool good)
{
	worker_.scratch().clear();
	if (!good)
		end();
}

void Connection::ready(std::uint32_t events)
{
	bool good = !(events & (EPOLLERR | EPOLLHUP));
	if (good && state_ == State::handshake)
		return finish(shakeHands());
	if (good && (events & EPOLLOUT))
		good = flush() && resume();
	if (good && (events & (EPOLLIN | EPOLLRDHUP)))
		good = reading() ? receive() : !(events & EPOLLRDHUP);
	finish(good);
}

// The first byte of a handshake is the type of its record (RFC 8446, 5.1); that of an ICReq is 0.
bool Connection::beginsTls()
{
	constexpr std::uint8_t handshakeRecord = 22;
	std::uint8_t first = 0;
	if (state_ != State::hello || plain_ || tls_ || !worker_.context().security.current()->tls)
		return false;
	const ssize_t n = ::recv(socket_, &first, 1, MSG_PEEK | MSG_DONTWAIT);
	plain_ = n == 1 && first != handshakeRecord;
	return n == 1 && !plain_;
}

bool Connection::shakeHands()
{
	ServerContext &context = worker_.context();
	switch (tls_->advance()) {
	case TlsStream::State::wantsRead:
		worker_.poller().want(socket_, EPOLLIN | EPOLLRDHUP, *this);
		return true;
	case TlsStream::State::wantsWrite:
		worker_.poller().want(socket_, EPOLLOUT | EPOLLRDHUP, *this);
		return true;
	case TlsStream::State::failed:
		runtime::say(context.refusals.handshakes, LOG_WARNING,
			     fmt::format("the TLS handshake of {} failed: {}", peer_.text(), tls_->why()),
			     {.address = peer_.text()});
		return false;
	case TlsStream::State::done:
		break;
	}
	count(context.counters.tlsHandshakes);
	context.handshakeLimit.succeeded(peer_);
	shaking_ = false;
	state_ = State::hello;
	since_ = Worker::now();
	watch();
	return true;
}

bool Connection::receive()
{
	if (beginsTls()) {
		ServerContext &context = worker_.context();
		if (!context.handshakeLimit.admit(peer_, Worker::now())) {
			count(context.counters.tlsBusy);
			return false;
		}
		shaking_ = true;
		tls_ = std::make_unique<TlsStream>(context.security.current(), context.identity, socket_);
		state_ = State::handshake;
		return shakeHands();
	}
	std::span<std::uint8_t> buffer = worker_.buffer();
	const std::size_t have = pendingInput_ ? pendingInput_->size() : 0;
	if (pendingInput_)
		std::ranges::copy(*pendingInput_, buffer.begin());
	const auto space = buffer.subspan(have, std::min(maxReceived, buffer.size() - have));
	const ssize_t n = tls_ ? tls_->receive(space) : ::recv(socket_, space.data(), space.size(), MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	received_ = Latency::Clock::now();
	return consume(buffer.first(have + static_cast<std::size_t>(n)));
}

// Until a host has connected, only small PDUs are accepted.
std::size_t Connection::longest() const
{
	constexpr std::size_t alignment = 128;
	switch (state_) {
	case State::hello:
		return sizeof(IcReq);
	case State::connect:
		return sizeof(CommandPdu) + alignment + sizeof(ConnectData) + slack;
	case State::live:
		if (!admits())
			return sizeof(CommandPdu) + alignment + maxDhchapMessage + slack;
		[[fallthrough]];
	default:
		return sizeof(DataPdu) + alignment + std::max<std::size_t>(maxH2cData, maxInCapsuleSize) +
		       sizeof(CommandPdu) + slack;
	}
}

bool Connection::process(std::span<const std::uint8_t> stream)
{
	while (reading()) {
		const Pdu pdu = cut(stream, format_, longest());
		if (pdu.fault)
			return sendTermReq(*pdu.fault, stream);
		if (pdu.length == 0)
			break;
		stream = stream.subspan(pdu.length);
		if (!take(pdu))
			return false;
		const Output &made = worker_.scratch();
		const Output *pending = pendingOutput_.get();
		if (made.waiting() + (pending ? pending->waiting() : 0) > maxWaiting ||
		    made.copied() + (pending ? pending->copied() : 0) > maxCopied)
			paused_ = true;
	}
	if (stream.empty())
		pendingInput_.reset();
	else
		pendingInput_ = std::make_unique<Bytes>(stream.begin(), stream.end());
	const bool expected = !stream.empty() || transfer_;
	inputSince_ = !expected ? 0 : inputSince_ ? inputSince_ : Worker::now();
	return true;
}

bool Connection::take(const Pdu &pdu)
{
	switch (pdu.type()) {
	case pdu_ic_req:
		return state_ == State::hello ? takeHello(pdu.as<IcReq>())
					      : fault(fes_sequence, "second ICReq", pdu.head);
	case pdu_command:
		return state_ != State::hello ? takeCommand(pdu) : fault(fes_sequence, "no ICReq", pdu.head);
	case pdu_h2c_data:
		return transfer_ ? takeData(pdu) : fault(fes_sequence, "data without R2T", pdu.head);
	case pdu_h2c_term:
		count(worker_.context().counters.faults);
		return false;
	}
	return fault(fes_header, "a PDU type that hosts do not send", pdu.head);
}

bool Connection::takeHello(const IcReq &request)
{
	constexpr std::uint8_t maxAlignment = 31, digests = 3;
	if (request.pfv != 0)
		return fault(fes_parameter, "PFV", bytesOf(request), offsetof(IcReq, pfv));
	if (request.hpda > maxAlignment)
		return fault(fes_parameter, "HPDA", bytesOf(request), offsetof(IcReq, hpda));
	auto response = make<IcResp>();
	response.digest = worker_.context().rules.digests ? request.digest & digests : 0;
	response.maxh2cdata = maxH2cData;
	write(worker_.scratch().scratch(), response);
	worker_.scratch().own();
	format_ = {bool(response.digest & 1), bool(response.digest & 2), request.hpda};
	state_ = State::connect;
	return true;
}

bool Connection::takeCommand(const Pdu &pdu)
{
	const Command cmd = pdu.as<CommandPdu>().cmd;
	if (sqFlow_ && entries_)
		sqhd_ = static_cast<std::uint16_t>((sqhd_ + 1) % entries_);
	if (pdu.damaged) {
		complete(cmd.cid, st_transient);
		return true;
	}
	const bool connects = cmd.opcode == op_fabrics && cmd.fctype() == fc_connect;
	if (state_ == State::connect)
		return connects ? takeConnect(cmd, pdu.data) : fault(fes_sequence, "no Connect", pdu.head);
	since_ = Worker::now();
	const bool authenticates = isAuthentication(cmd);
	if (authenticator_ && authenticates && !(cmd.fctype() == fc_auth_send && pdu.data.empty()))
		return takeAuthentication(cmd, pdu.data);
	if (!admits() && !authenticates) {
		count(worker_.context().counters.unauthenticated);
		complete(cmd.cid, st_auth_required | st_dnr);
		return true;
	}
	if (cmd.opcode == op_dim || (authenticator_ && authenticates))
		return pdu.data.empty() ? takeTransfer(cmd) : takeInCapsule(cmd, pdu.data);
	if (Outcome outcome = controller_->handle(cmd)) {
		answer(cmd, *outcome);
		worker_.scratch().answers(cmd.opcode == op_get_log ? Served::getLogPage : Served::other, received_);
	}
	sendEvents();
	return true;
}

bool Connection::takeConnect(const Command &cmd, std::span<const std::uint8_t> data)
{
	Pending pending{{}, cmd.cid, received_};
	std::uint64_t result = 0;
	if (std::uint16_t status = Controller::check(cmd, data, worker_.context().identity, pending.connect, result)) {
		count(worker_.context().counters.refused);
		completeConnect(pending, status, result);
		return true;
	}
	if (Access access; refuses(pending, access))
		return true;
	switch (worker_.ask(*this, pending.connect.hostnqn)) {
	case Admission::Verdict::now:
		acceptConnect(pending);
		break;
	case Admission::Verdict::later:
		count(worker_.context().counters.waited);
		pending_ = std::make_unique<Pending>(std::move(pending));
		state_ = State::waiting;
		watch();
		break;
	case Admission::Verdict::busy:
		count(worker_.context().counters.busy);
		completeConnect(pending, st_connect_busy | st_crd1);
		break;
	}
	return true;
}

Access Connection::accessFor(const std::string &hostnqn, const std::string &subsysnqn) const
{
	return accessOf(*worker_.context().security.current(), worker_.views()->zoneTable().lookUp(hostnqn), hostnqn,
			subsysnqn, tls_ ? &tls_->peer() : nullptr);
}

// Whether the host may not connect, which is answered then. @access: what it has to do, if it may
bool Connection::refuses(const Pending &pending, Access &access)
{
	const std::string &hostnqn = pending.connect.hostnqn;
	ServerContext &context = worker_.context();
	access = accessFor(hostnqn, pending.connect.subsysnqn);
	if (access.refusal == Refusal::none)
		return false;
	count(context.counters.refused);
	count(counterOf(access.refusal, context.counters));
	runtime::say(context.refusals.connect(access.refusal), LOG_WARNING, refusalText(access.refusal, hostnqn),
		     {.nqn = hostnqn, .address = peer_.text()});
	completeConnect(pending, st_connect_host | st_dnr);
	return true;
}

void Connection::acceptConnect(const Pending &pending)
{
	const Connect &connect = pending.connect;
	Access access; // asked again: the host may have waited for long
	auto back = [this] {
		state_ = State::connect;
		since_ = Worker::now();
		worker_.leave(id_);
	};
	if (refuses(pending, access))
		return back();
	auto busy = [&](Counter &counter) {
		back();
		count(counter);
		completeConnect(pending, st_connect_busy | st_crd1);
	};
	if (access.secrets) {
		ServerContext &context = worker_.context();
		authenticator_ = Authenticator::begin(
			context.authenticationLimit, context.counters,
			context.security.current()->rules.authentication(2 * context.rules.stepMs),
			std::move(access.secrets), {connect.hostnqn, connect.subsysnqn, peer_}, Worker::now());
		if (!authenticator_)
			return busy(context.counters.authBusy);
	}
	const auto cntlid = worker_.context().cntlids.take();
	if (!cntlid) {
		authenticator_.reset();
		return busy(worker_.context().counters.busy);
	}
	since_ = Worker::now();
	admittedUntil_ = since_ + admissionMs;
	controller_ = std::make_unique<Controller>(worker_.context().identity, *cntlid, connect, worker_.views());
	entries_ = static_cast<std::uint16_t>(std::min<std::uint32_t>(connect.entries, UINT16_MAX));
	sqFlow_ = !(connect.attributes & ca_sqflow_off);
	sqhd_ = sqFlow_ ? 1 : noSqhd;
	state_ = State::live;
	count(worker_.context().counters.hosts);
	completeConnect(pending, st_ok, *cntlid | (authenticator_ ? authreqAuthentication : 0));
}

// Authentication Send with its data, or Authentication Receive
bool Connection::takeAuthentication(const Command &cmd, std::span<const std::uint8_t> data)
{
	ServerContext &context = worker_.context();
	const SteadyMs now = Worker::now();
	const Authenticator::Parties &parties = authenticator_->parties();
	const Access access = accessFor(parties.hostnqn, parties.subsysnqn);
	auto secrets = secretsOf(*context.security.current(), parties.hostnqn);
	// its key was removed; also between a reply and the receipt of its success
	if (access.refusal != Refusal::none || !secrets) {
		complete(cmd.cid, st_connect_host | st_dnr);
		return leave();
	}
	if (cmd.fctype() == fc_auth_send) {
		authenticator_->renew(std::move(secrets));
		complete(cmd.cid, authenticator_->send(cmd, data, now));
	} else {
		answer(cmd, authenticator_->receive(cmd, now));
	}
	if (!authenticator_->failed())
		return true;
	runtime::say(context.refusals.authentications, LOG_WARNING,
		     fmt::format("the authentication of host {} failed: {}; compare the keys of host and service",
				 controller_->hostnqn(), authenticator_->why()),
		     {.nqn = controller_->hostnqn(), .address = peer_.text()});
	return leave();
}

bool Connection::review(SteadyMs now)
{
	if (state_ != State::live || !admits()) // it is decided upon later
		return false;
	const std::string &hostnqn = controller_->hostnqn();
	const auto security = worker_.context().security.current();
	const auto zones = worker_.views()->zonesOf(hostnqn);
	const Refusal refusal =
		sessionRefusal(*security, *zones, hostnqn, tls_ ? &tls_->peer() : nullptr, proof().has_value());
	// A new key is no reason to keep a session of the removed one.
	if (refusal != Refusal::none || revocation_ != Refusal::revoked || !mustProve(*security, *zones, hostnqn))
		revocation_ = refusal;
	if (revocation_ == Refusal::none)
		revokedAt_ = 0;
	else if (!revokedAt_)
		revokedAt_ =
			now + nofctl::jittered(std::chrono::milliseconds(worker_.context().rules.reviewMs)).count();
	return revocation_ != Refusal::none;
}

void Connection::admit()
{
	const auto pending = std::move(pending_);
	acceptConnect(*pending);
	finish(flush() && resume());
}

void Connection::refuseBusy()
{
	const auto pending = std::move(pending_);
	state_ = State::connect;
	since_ = Worker::now();
	count(worker_.context().counters.busy);
	completeConnect(*pending, st_connect_busy | st_crd1);
	finish(flush() && resume());
}

void Connection::answer(const Command &cmd, const Answer &answer)
{
	if (const std::uint16_t status = sglStatus(cmd, answer)) {
		controller_->failed(cmd, status);
		return complete(cmd.cid, status, answer.result);
	}
	if (answer.page) {
		count(worker_.context().counters.logReads);
		controller_->zones().countRead();
	}
	if (answer.dataLength() > 0)
		sendData(cmd.cid, answer);
	if (answer.dataLength() == 0 || sqFlow_)
		complete(cmd.cid, st_ok, answer.result);
	if (answer.page && answer.offset + answer.length == answer.page->count() * discoveryBlock)
		releaseAdmission();
}

void Connection::complete(std::uint16_t cid, std::uint16_t status, std::uint64_t result)
{
	auto pdu = make<ResponsePdu>();
	pdu.cqe.result = result;
	pdu.cqe.sqhd = sqhd_;
	pdu.cqe.cid = cid;
	pdu.cqe.status = static_cast<std::uint16_t>(status << 1);
	write(worker_.scratch().scratch(), pdu, format_);
	worker_.scratch().own();
}

void Connection::completeConnect(const Pending &pending, std::uint16_t status, std::uint64_t result)
{
	complete(pending.cid, status, result);
	worker_.scratch().answers(Served::connect, pending.received);
}

void Connection::completeRegistration(std::uint16_t cid, std::uint16_t status, Latency::Clock::time_point received)
{
	complete(cid, status);
	worker_.scratch().answers(Served::registration, received);
}

// Sends one C2HData PDU. Without SQ flow control its SUCCESS flag replaces the response capsule.
void Connection::sendData(std::uint16_t cid, const Answer &answer)
{
	Output &out = worker_.scratch();
	auto pdu = make<DataPdu>(pdu_c2h_data);
	pdu.h.flags = sqFlow_ ? f_last : f_last | f_success;
	pdu.cid = cid;
	pdu.length = static_cast<std::uint32_t>(answer.dataLength());
	Bytes head = encode(pdu);
	seal(head, answer.dataLength(), format_);
	assembleHead(out.scratch(), head, format_);
	append(out.scratch(), answer.data);
	out.own();
	std::vector<std::span<const std::uint8_t>> pieces;
	if (answer.page)
		answer.page->slice(answer.offset, answer.length, pieces);
	for (auto piece : pieces)
		out.share(piece, answer.page);
	out.zeros(answer.zeros);
	assembleTail(out.scratch(), format_.dataDigest ? digestOf(answer, pieces) : 0, format_);
	out.own();
	count(worker_.context().counters.bytesSent, answer.dataLength());
}

void Connection::sendEvents()
{
	while (auto event = controller_->event()) {
		if (event->status == st_ok)
			count(worker_.context().counters.events);
		complete(event->cid, event->status, event->result);
	}
}

void Connection::tell(const std::shared_ptr<const Views> &views)
{
	if (!controller_ || state_ == State::ending)
		return;
	controller_->tell(views);
	sendEvents();
	if (!worker_.scratch().empty())
		finish(flush());
}

// Reserves memory for a registration; only one is processed at a time. Null: the command was completed with Command
// Interrupted, so the host retries it.
std::shared_ptr<void> Connection::reserve(const Command &cmd, std::size_t bytes)
{
	auto reservation = transfer_ || registering_ ? nullptr : worker_.context().reserve(peer_, bytes);
	if (!reservation) {
		count(worker_.context().counters.deferred);
		completeRegistration(cmd.cid, st_interrupted | st_crd1, received_);
	}
	return reservation;
}

bool Connection::takeTransfer(const Command &cmd)
{
	const std::uint32_t length = cmd.sgl.length;
	if (isAuthentication(cmd)) {
		if (cmd.sgl.type != sgl_transport || length == 0 || length > maxDhchapMessage)
			complete(cmd.cid, st_sgl_length | st_dnr);
		else if (transfer_)
			complete(cmd.cid, st_interrupted | st_crd1);
		else
			sendR2t(cmd, length, nullptr);
		return true;
	}
	if (cmd.sgl.type != sgl_transport || length == 0 || length > maxRegistrationSize) {
		completeRegistration(cmd.cid, st_sgl_length | st_dnr, received_);
		return true;
	}
	if (auto reservation = reserve(cmd, length))
		sendR2t(cmd, length, std::move(reservation));
	return true;
}

// A single R2T covers all data.
void Connection::sendR2t(const Command &cmd, std::uint32_t length, std::shared_ptr<void> reservation)
{
	transfer_ = std::make_unique<Transfer>(Transfer{cmd, {}, length, std::move(reservation), Worker::now()});
	auto pdu = make<R2tPdu>();
	pdu.cid = cmd.cid;
	pdu.ttag = dataTag;
	pdu.length = length;
	write(worker_.scratch().scratch(), pdu, format_);
	worker_.scratch().own();
}

bool Connection::takeData(const Pdu &pdu)
{
	const auto data = pdu.as<DataPdu>();
	const std::size_t end = transfer_->data.size() + pdu.data.size();
	if (data.cid != transfer_->cmd.cid)
		return fault(fes_parameter, "data of no command", pdu.head, offsetof(DataPdu, cid));
	if (data.ttag != dataTag)
		return fault(fes_parameter, "data for a command that is not outstanding", pdu.head,
			     offsetof(DataPdu, ttag));
	if (data.offset != transfer_->data.size() || data.length != pdu.data.size() || end > transfer_->length)
		return fault(fes_range, "data out of order or range", pdu.head);
	if (data.length > maxH2cData)
		return fault(fes_limit, "more data than MAXH2CDATA", pdu.head);
	if (bool(data.h.flags & f_last) != (end == transfer_->length))
		return fault(fes_parameter, "LAST_PDU flag in the wrong place", pdu.head, offsetof(PduHeader, flags));
	append(transfer_->data, pdu.data);
	inputSince_ = 0; // progress was made
	since_ = Worker::now();
	if (end < transfer_->length && !pdu.damaged)
		return true;
	const auto whole = std::move(transfer_);
	if (isAuthentication(whole->cmd) && !pdu.damaged)
		return takeAuthentication(whole->cmd, whole->data);
	if (!pdu.damaged)
		return takeRegistration(whole->cmd, whole->data, std::move(whole->reservation));
	completeRegistration(whole->cmd.cid, st_transient, received_);
	return true;
}

bool Connection::takeInCapsule(const Command &cmd, std::span<const std::uint8_t> data)
{
	auto reservation = reserve(cmd, data.size());
	return !reservation || takeRegistration(cmd, data, std::move(reservation));
}

bool Connection::takeRegistration(const Command &cmd, std::span<const std::uint8_t> data,
				  std::shared_ptr<void> reservation)
{
	std::uint16_t status = st_ok;
	auto registration = controller_->registration(cmd, data, status);
	if (!registration) {
		count(worker_.context().counters.registrationsRefused);
		controller_->failed(cmd, status);
		completeRegistration(cmd.cid, status, received_);
		return true;
	}
	const auto task = DimTask(cmd.cdw10 & 0xf);
	registering_ =
		std::make_unique<Registering>(Registering{task == dim_deregister ? "" : registration->nqn, received_});
	worker_.submit({id_,
			cmd.cid,
			task,
			*std::move(registration),
			{peer_, controller_->hostnqn(), tls_ || proof()},
			std::move(reservation)});
	return true;
}

void Connection::registrationDone(std::uint16_t cid, std::uint16_t status)
{
	Counters &counters = worker_.context().counters;
	const auto whole = std::move(registering_);
	if (!whole)
		return;
	if (status == st_ok)
		registered_ = whole->nqn;
	if (state_ == State::ending) // nothing may follow its last message
		return;
	const std::uint16_t code = status & st_type_and_code;
	count(status == st_ok                                 ? counters.registrations
	      : code == st_interrupted || code == st_internal ? counters.deferred
							      : counters.registrationsRefused);
	completeRegistration(cid, status, whole->received);
	finish(flush());
}

// C2HTermReq carries the header of the PDU in error (NVMe/TCP 1.0, 3.6.2.5).
bool Connection::sendTermReq(const PduFault &fault, std::span<const std::uint8_t> head)
{
	constexpr std::size_t maxCopySize = 128;
	count(worker_.context().counters.faults);
	auto pdu = make<TermPdu>(pdu_c2h_term);
	pdu.fes = fault.fes;
	pdu.fei = fault.fei;
	write(worker_.scratch().scratch(), pdu, {}, head.first(std::min(head.size(), maxCopySize)));
	worker_.scratch().own();
	return leave();
}

// Ends the connection after the output that was made so far
bool Connection::leave()
{
	releaseAdmission();
	state_ = State::ending;
	since_ = Worker::now();
	if (!flush())
		return false;
	watch();
	return true;
}

bool Connection::fault(FatalStatus fes, const char *why, std::span<const std::uint8_t> head, std::uint32_t fei)
{
	return sendTermReq({fes, fei, why}, head);
}

// Sends the scratch output, after output that is still pending
bool Connection::flush()
{
	Output &out = worker_.scratch();
	if (pendingOutput_)
		pendingOutput_->append(std::move(out));
	Output &all = pendingOutput_ ? *pendingOutput_ : out;
	const std::size_t before = all.waiting();
	const Output::Sent sent = all.send(socket_, tls_.get(), worker_.context().latencies);
	if (sent == Output::Sent::broken)
		return false;
	// Keep-alives of the host are not read while the connection is paused.
	if (paused_ && state_ == State::live && all.waiting() < before)
		since_ = Worker::now();
	if (sent == Output::Sent::some) {
		if (outputSince_ == 0 || all.waiting() < before)
			outputSince_ = Worker::now();
		if (!pendingOutput_)
			pendingOutput_ = std::make_unique<Output>(std::move(out));
		out.clear();
		watch();
	} else if (pendingOutput_) {
		pendingOutput_.reset();
		outputSince_ = 0;
		watch();
	}
	if (state_ == State::ending && !pendingOutput_)
		::shutdown(socket_, SHUT_WR); // wait for the host to close, or for the time limit
	return true;
}

// Continues with buffered input as long as all output could be sent
bool Connection::consume(std::span<const std::uint8_t> stream)
{
	bool good = process(stream) && flush();
	while (good && paused_ && !pendingOutput_) {
		const auto partial = unpause();
		good = !partial || (process(*partial) && flush());
	}
	return good;
}

// Returns the input that was buffered while the connection was paused. No more was awaited meanwhile.
std::unique_ptr<Bytes> Connection::unpause()
{
	paused_ = false;
	if (inputSince_)
		inputSince_ = Worker::now();
	return std::move(pendingInput_);
}

// Continues after all output was sent
bool Connection::resume()
{
	if (pendingOutput_)
		return true;
	const auto partial = unpause();
	if (partial && !consume(*partial))
		return false;
	watch();
	return true;
}

bool Connection::late(SteadyMs now) const
{
	const FrontRules &rules = worker_.context().rules;
	if (outputSince_ && now - outputSince_ > stalledMs)
		return true;
	if (transfer_ && now - transfer_->since > transferMs)
		return true;
	if (inputSince_ && !paused_ && now - inputSince_ > rules.stepMs)
		return true;
	if (authenticator_ && authenticator_->late(now))
		return true;
	switch (state_) {
	case State::handshake:
	case State::hello:
	case State::connect:
		return now - since_ > rules.stepMs;
	case State::waiting:
		return false;
	case State::ending:
		return now - since_ > endingMs;
	case State::live:
		break;
	}
	const SteadyMs patience = controller_->kato() ? 2 * SteadyMs(controller_->kato()) : rules.idleMs;
	return now - since_ > patience;
}

} // namespace cdc
