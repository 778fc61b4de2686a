// SPDX-License-Identifier: LGPL-2.1-or-later
#include "mutator.h"

#include "payload.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace target {
namespace {

constexpr std::size_t remembered = 8; // fewer than the commands after which an identifier's generation repeats

const char *const names[] = {"field",  "shorten", "payload", "flip",  "corrupt", "truncate", "garbage",
			     "splice", "twice",   "replay",  "swap",  "forge",   "event",    "term",
			     "drop",   "delay",   "dribble", "close", "reset"};
static_assert(std::size(names) == mutationKinds);

// Weights of the kinds. Kinds that end the connection are rare, because they usually end the session, too.
constexpr Mutation choices[] = {
	Mutation::field,   Mutation::field,  Mutation::field, Mutation::field,   Mutation::field,   Mutation::field,
	Mutation::shorten, Mutation::flip,   Mutation::flip,  Mutation::corrupt, Mutation::corrupt, Mutation::truncate,
	Mutation::garbage, Mutation::splice, Mutation::twice, Mutation::twice,   Mutation::replay,  Mutation::replay,
	Mutation::swap,    Mutation::swap,   Mutation::forge, Mutation::event,   Mutation::event,   Mutation::term,
	Mutation::drop,    Mutation::delay,  Mutation::delay, Mutation::dribble, Mutation::dribble, Mutation::close,
	Mutation::reset,
};

struct HeaderField {
	const char *name;
	std::size_t offset;
	unsigned width;
};

const HeaderField commonFields[] = {{"type", 0, 1}, {"flags", 1, 1}, {"HLEN", 2, 1}, {"PDO", 3, 1}, {"PLEN", 4, 4}};
const HeaderField helloFields[] = {{"PFV", 8, 2}, {"CPDA", 10, 1}, {"DGST", 11, 1}, {"MAXH2CDATA", 12, 4}};
const HeaderField responseFields[] = {{"result", 8, 4}, {"result", 12, 4}, {"SQHD", 16, 2},
				      {"SQID", 18, 2},  {"CID", 20, 2},    {"status", 22, 2}};
const HeaderField transferFields[] = {{"CID", 8, 2}, {"TTAG", 10, 2}, {"offset", 12, 4}, {"length", 16, 4}};

std::span<const HeaderField> fieldsOf(std::uint8_t type)
{
	switch (type) {
	case pdu_ic_resp:
		return helloFields;
	case pdu_response:
		return responseFields;
	case pdu_c2h_data:
	case pdu_r2t:
		return transferFields;
	}
	return commonFields;
}

std::string typeName(const Bytes &pdu)
{
	switch (pdu[0]) {
	case pdu_ic_resp:
		return "ICResp";
	case pdu_response:
		return "response";
	case pdu_c2h_data:
		return "C2HData";
	case pdu_r2t:
		return "R2T";
	}
	return "type " + std::to_string(pdu[0]);
}

// Offset of the command identifier; 0: none
std::size_t cidAt(std::uint8_t type)
{
	if (type == pdu_response)
		return 20;
	return type == pdu_c2h_data || type == pdu_r2t ? 8 : 0;
}

std::uint16_t cidOf(const Bytes &pdu)
{
	auto at = cidAt(pdu[0]);
	return at && pdu.size() >= at + 2 ? get<std::uint16_t>(pdu, at) : 0;
}

std::uint16_t statusOf(const Bytes &pdu)
{
	return pdu[0] == pdu_response && pdu.size() >= 24 ? get<std::uint16_t>(pdu, 22) >> 1 : 0;
}

std::uint64_t number(const Bytes &pdu, const HeaderField &f)
{
	std::uint64_t value = 0;
	for (unsigned i = f.width; i-- > 0;)
		value = value << 8 | pdu[f.offset + i];
	return value;
}

bool mangles(Mutation kind)
{
	return kind == Mutation::flip || kind == Mutation::corrupt || kind == Mutation::truncate ||
	       kind == Mutation::garbage || kind == Mutation::splice;
}

} // namespace

const char *toString(Mutation kind)
{
	return names[static_cast<std::size_t>(kind)];
}

Mutator::Mutator(std::uint64_t seed, std::uint64_t session) : seed_(seed), session_(session)
{
	Random random{seed, session};
	static const unsigned skips[] = {0, 0, 1, 2, 3, 4, 6, 8, 12, 16, 20, 25, 30, 40, 60, 100};
	static const unsigned rates[] = {1, 2, 2, 4, 4, 8, 8, 16, 32};
	static const unsigned limits[] = {1, 1, 2, 4, 8, 100};
	auto style = random.below(20);
	skip_ = random.pick(skips);
	max_ = random.pick(limits);
	if (style < 13)
		rate_ = random.pick(rates);
	if (style >= 8) {
		payloadRate_ = 1 + static_cast<unsigned>(random.below(6));
		payloadSkip_ = static_cast<unsigned>(random.below(8));
	}
}

std::unique_ptr<MutatedStream> Mutator::stream()
{
	return std::make_unique<MutatedStream>(shared_from_this(), connections_++);
}

std::string Mutator::line() const
{
	std::lock_guard guard(lock_);
	return "mutation " + std::to_string(seed_) + ":" + std::to_string(session_) + ":" +
	       (done_.empty() ? " nothing" : done_);
}

std::uint64_t Mutator::total() const
{
	std::uint64_t sum = 0;
	for (auto &n : counts_)
		sum += n;
	return sum;
}

MutatedStream::MutatedStream(std::shared_ptr<Mutator> mutator, unsigned connection)
	: mutator_(std::move(mutator)), connection_(connection), left_(mutator_->max_), random_{}
{
}

void MutatedStream::note(const std::string &what)
{
	std::lock_guard guard(mutator_->lock_);
	if (mutator_->done_.size() < 4000)
		mutator_->done_ += " [" + std::to_string(connection_) + "." + std::to_string(pdus_) + " " + what + "]";
}

void MutatedStream::payload(const Command &cmd, Bytes &data)
{
	auto n = payloads_++;
	Random random{mutator_->seed_, mutator_->session_, connection_, 1u << 20 | n};
	if (!mutator_->payloadRate_ || n < mutator_->payloadSkip_ || !left_ || !random.oneIn(mutator_->payloadRate_))
		return;
	left_--;
	mutator_->counts_[static_cast<std::size_t>(Mutation::payload)]++;
	note(mutatePayload(cmd, data, random));
}

void MutatedStream::chooseMutation()
{
	mutation_.reset();
	auto n = pdus_++;
	random_ = Random{mutator_->seed_, mutator_->session_, connection_, n};
	if (!mutator_->rate_ || n < mutator_->skip_ || !left_ || !random_.oneIn(mutator_->rate_))
		return;
	left_--;
	mutation_ = random_.pick(choices);
	mutator_->counts_[static_cast<std::size_t>(*mutation_)]++;
}

void MutatedStream::contents(Bytes &head, Bytes &data)
{
	chooseMutation();
	cid_ = cidOf(head);
	status_ = statusOf(head);
	if (mutation_ == Mutation::shorten && data.size() < 2)
		mutation_ = Mutation::field;
	if (mutation_ == Mutation::field)
		changeField(head);
	else if (mutation_ == Mutation::shorten)
		shorten(head, data);
	else if (mutation_)
		note(typeName(head) + " " + toString(*mutation_));
}

void MutatedStream::changeField(Bytes &head)
{
	auto fields = random_.oneIn(3) ? std::span<const HeaderField>(commonFields) : fieldsOf(head[0]);
	auto &f = fields[random_.below(fields.size())];
	auto was = number(head, f);
	auto is = random_.interesting(f.width * 8, was);
	auto text = typeName(head) + " " + f.name + " " + std::to_string(was) + "->" + std::to_string(is);
	for (unsigned i = 0; i < f.width; i++)
		head[f.offset + i] = static_cast<std::uint8_t>(is >> i * 8);
	note(text);
}

// Adapts all length fields. Flags stay, so a last part still has its Last flag.
void MutatedStream::shorten(Bytes &head, Bytes &data)
{
	auto &pdu = *reinterpret_cast<DataPdu *>(head.data());
	auto less = static_cast<std::uint32_t>(1 + random_.below(data.size() - 1));
	data.resize(data.size() - less);
	pdu.h.plen = pdu.h.plen - less;
	pdu.length = pdu.length - less;
	if (random_.oneIn(2))
		pdu.h.flags = static_cast<std::uint8_t>(pdu.h.flags & ~(f_last | f_success));
	note("C2HData shorter by " + std::to_string(less));
}

void MutatedStream::mangle(Bytes &raw, bool dataDigest)
{
	std::size_t header = std::min<std::size_t>(raw.size(), 24);
	switch (*mutation_) {
	case Mutation::flip:
		for (auto n = 1 + random_.below(8); n > 0; n--)
			raw[random_.below(header)] ^= static_cast<std::uint8_t>(1 << random_.below(8));
		break;
	case Mutation::corrupt:
		raw[random_.below(raw.size() - header + 1) + header - 1] ^=
			static_cast<std::uint8_t>(1 + random_.below(255));
		break;
	case Mutation::truncate:
		raw.resize(random_.below(raw.size()));
		break;
	case Mutation::splice:
		if (!sent_.empty()) {
			auto &other = sent_[random_.below(sent_.size())];
			auto at = random_.below(std::min(raw.size(), other.size()));
			raw.resize(at);
			raw.insert(raw.end(), other.begin() + static_cast<std::ptrdiff_t>(at), other.end());
		}
		break;
	default: { // garbage
		Bytes noise(1 + random_.below(64));
		for (auto &b : noise)
			b = static_cast<std::uint8_t>(random_.next());
		auto at = random_.oneIn(2) ? 0 : random_.below(raw.size());
		raw.insert(raw.begin() + static_cast<std::ptrdiff_t>(at), noise.begin(), noise.end());
	}
	}
	if (!dataDigest)
		mutator_->deceived_ = true;
}

Bytes MutatedStream::forged()
{
	Bytes out;
	if (*mutation_ == Mutation::term) {
		auto pdu = make<TermPdu>(pdu_c2h_term);
		pdu.fes = static_cast<std::uint16_t>(random_.interesting(16));
		write(out, pdu, {}, Bytes(random_.oneIn(2) ? 0 : random_.below(160)));
	} else {
		auto pdu = make<ResponsePdu>();
		pdu.cqe.cid = static_cast<std::uint16_t>(random_.interesting(16, cid_));
		write(out, pdu);
	}
	return out;
}

// Puts the PDUs into the order in which they are sent.
void MutatedStream::order(Outgoing &out, Bytes raw)
{
	switch (*mutation_) {
	case Mutation::drop:
		return;
	case Mutation::swap:
		held_ = std::move(raw);
		return;
	case Mutation::twice:
		out.pieces = {raw, raw};
		return;
	case Mutation::replay:
		if (!sent_.empty())
			out.pieces.push_back(sent_[random_.below(sent_.size())]);
		break;
	case Mutation::forge:
	case Mutation::term:
		out.pieces.push_back(forged());
		break;
	case Mutation::dribble:
		while (raw.size() > 1) {
			auto n = static_cast<std::ptrdiff_t>(1 +
							     random_.below(std::min<std::size_t>(raw.size() - 1, 40)));
			out.pieces.emplace_back(raw.begin(), raw.begin() + n);
			raw.erase(raw.begin(), raw.begin() + n);
			if (out.pieces.size() > 20)
				break;
		}
		break;
	default:
		break;
	}
	out.pieces.push_back(std::move(raw));
}

void MutatedStream::finish(Outgoing &out)
{
	switch (*mutation_) {
	case Mutation::delay:
		out.delay = std::chrono::milliseconds(1 + random_.below(60));
		break;
	case Mutation::close:
	case Mutation::reset:
		out.close = true;
		out.reset = mutation_ == Mutation::reset;
		out.pieces.back().resize(random_.below(out.pieces.back().size() + 1));
		break;
	case Mutation::event:
		out.event = AsyncEvent{
			static_cast<std::uint8_t>(random_.oneIn(2) ? 2 : random_.interesting(3)),
			static_cast<std::uint8_t>(random_.oneIn(2) ? random_.below(4) : random_.interesting(8)),
			static_cast<std::uint8_t>(random_.interesting(8, log_ana))};
		break;
	default:
		break;
	}
}

// Detects completions of another command, and failures turned into success.
void MutatedStream::checkDeception(const Bytes &raw, const std::set<std::uint16_t> &outstanding)
{
	if (raw.size() < 24)
		return;
	if (cidOf(raw) != cid_ && outstanding.contains(cidOf(raw)))
		mutator_->deceived_ = true;
	if (status_ && (statusOf(raw) & 0x7ff) == 0)
		mutator_->deceived_ = true;
}

Outgoing MutatedStream::wire(Bytes raw, const std::set<std::uint16_t> &outstanding, bool dataDigest)
{
	Outgoing out;
	auto late = std::exchange(held_, {});
	auto good = raw;
	if (mutation_ && mangles(*mutation_))
		mangle(raw, dataDigest);
	checkDeception(raw, outstanding);
	if (mutation_)
		order(out, std::move(raw));
	else
		out.pieces.push_back(std::move(raw));
	if (mutation_ == Mutation::forge) { // success of a command still outstanding, or of one that failed
		auto cid = cidOf(out.pieces.front());
		if (outstanding.contains(cid) || (status_ && cid == cid_))
			mutator_->deceived_ = true;
	}
	if (mutation_)
		finish(out);
	if (!late.empty())
		out.pieces.push_back(std::move(late));
	sent_.push_back(std::move(good));
	if (sent_.size() > remembered)
		sent_.pop_front();
	return out;
}

std::optional<MutationSeed> parseMutationSeed(const std::string &text)
{
	MutationSeed seed;
	auto *at = text.data(), *end = at + text.size();
	auto first = std::from_chars(at, end, seed.seed);
	if (first.ec != std::errc())
		return {};
	if (first.ptr == end)
		return seed;
	std::uint64_t session = 0;
	auto second = std::from_chars(first.ptr + 1, end, session);
	if (*first.ptr != ':' || second.ec != std::errc() || second.ptr != end)
		return {};
	seed.session = session;
	return seed;
}

MutatedSessions::MutatedSessions(MutationSeed seed, std::function<void(const std::string &)> report)
	: seed_(seed), report_(std::move(report))
{
}

MutatedSessions::~MutatedSessions()
{
	if (mutation_)
		report_(mutation_->line());
}

std::unique_ptr<MutatedStream> MutatedSessions::stream(bool alone)
{
	std::lock_guard guard(lock_);
	if (alone || !mutation_) {
		if (mutation_)
			report_(mutation_->line());
		mutation_ = std::make_shared<Mutator>(seed_.seed, seed_.session ? *seed_.session : next_++);
	}
	return mutation_->stream();
}

} // namespace target
