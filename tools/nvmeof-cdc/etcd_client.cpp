// SPDX-License-Identifier: LGPL-2.1-or-later
#include "etcd_client.h"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "libctl/base/make_error.h"
#include "libctl/runtime/loop.h"

namespace cdc {

using namespace std::chrono_literals;

namespace {

constexpr long connectMs = 1000;

template <typename T> T *made(T *object)
{
	if (!object)
		throw std::system_error(ENOMEM, std::generic_category(), "cannot speak HTTP");
	return object;
}

void setFile(CURL *easy, CURLoption option, const std::string &file)
{
	if (!file.empty())
		curl_easy_setopt(easy, option, file.c_str());
}

} // namespace

HttpCall::HttpCall(HttpClient &client, std::string body, Done done, Piece piece)
	: client_(client), easy_(made(curl_easy_init())), body_(std::move(body)), done_(std::move(done)),
	  piece_(std::move(piece))
{
}

HttpCall::~HttpCall()
{
	std::erase(client_.fresh_, this);
	curl_multi_remove_handle(client_.multi_, easy_);
	curl_easy_cleanup(easy_);
	curl_slist_free_all(headers_);
}

// libcurl calls this and must not be called from here: delivery is deferred.
std::size_t HttpCall::write(char *bytes, std::size_t one, std::size_t count, void *data)
{
	auto *call = static_cast<HttpCall *>(data);
	if (call->got_.size() + one * count > call->client_.maxResponse_)
		return 0;
	const bool good = runtime::guarded([&] {
		call->got_.append(bytes, one * count);
		if (call->piece_)
			call->client_.fresh_.push_back(call);
	});
	return good ? one * count : 0;
}

void HttpCall::deliver()
{
	if (got_.empty())
		return;
	const Piece piece = piece_; // copied: the callback may destroy this object
	const std::string got = std::move(got_);
	got_.clear();
	piece(got);
}

void HttpCall::finish(CURLcode outcome)
{
	HttpAnswer answer{.outcome = outcome, .sent = false, .status = 0, .body = std::move(got_), .trouble = error_};
	curl_off_t before = 0;
	curl_easy_getinfo(easy_, CURLINFO_PRETRANSFER_TIME_T, &before);
	answer.sent = before > 0;
	curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &answer.status);
	if (outcome != CURLE_OK && answer.trouble.empty())
		answer.trouble = curl_easy_strerror(outcome);
	curl_multi_remove_handle(client_.multi_, easy_);
	const Done done = std::move(done_);
	done(std::move(answer));
}

HttpClient::HttpClient(runtime::Loop &loop, HttpTls tls, std::size_t maxResponse)
	: tls_(std::move(tls)), maxResponse_(maxResponse), poller_(loop),
	  timer_(loop, [this] { act(CURL_SOCKET_TIMEOUT, 0); })
{
	::signal(SIGPIPE, SIG_IGN); // TLS has no other way to avoid it on a closed connection
	curl_global_init(CURL_GLOBAL_DEFAULT);
	multi_ = made(curl_multi_init());
	curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
	curl_multi_setopt(
		multi_, CURLMOPT_SOCKETFUNCTION, +[](CURL *, curl_socket_t fd, int what, void *client, void *) {
			return runtime::guarded([&] { static_cast<HttpClient *>(client)->watch(fd, what); }) ? 0 : -1;
		});
	curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
	curl_multi_setopt(
		multi_, CURLMOPT_TIMERFUNCTION, +[](CURLM *, long ms, void *client) {
			runtime::Timer &timer = static_cast<HttpClient *>(client)->timer_;
			ms < 0 ? timer.stop() : timer.start(std::chrono::milliseconds(ms));
			return 0;
		});
}

HttpClient::~HttpClient()
{
	curl_multi_cleanup(multi_);
	curl_global_cleanup();
}

std::unique_ptr<HttpCall> HttpClient::post(const std::string &url, const std::vector<std::string> &headers,
					   std::string body, std::chrono::milliseconds timeout, HttpCall::Done done,
					   HttpCall::Piece piece)
{
	std::unique_ptr<HttpCall> call(new HttpCall(*this, std::move(body), std::move(done), std::move(piece)));
	CURL *easy = call->easy_;
	call->headers_ = curl_slist_append(nullptr, "Expect:"); // no 100-continue before a large body
	for (const std::string &header : headers)
		call->headers_ = curl_slist_append(call->headers_, header.c_str());
	curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, call->headers_);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call->body_.size()));
	curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call->body_.c_str());
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, HttpCall::write);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, call.get());
	curl_easy_setopt(easy, CURLOPT_PRIVATE, call.get());
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, call->error_);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
	curl_easy_setopt(easy, CURLOPT_PROXY, ""); // ignore the environment
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 5L);
	curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 5L);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, connectMs);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count()));
	setFile(easy, CURLOPT_CAINFO, tls_.ca);
	setFile(easy, CURLOPT_SSLCERT, tls_.cert);
	setFile(easy, CURLOPT_SSLKEY, tls_.key);
	curl_multi_add_handle(multi_, easy); // libcurl starts through its timer
	return call;
}

void HttpClient::Socket::ready(std::uint32_t events)
{
	int what = 0;
	if (events & EPOLLIN)
		what |= CURL_CSELECT_IN;
	if (events & EPOLLOUT)
		what |= CURL_CSELECT_OUT;
	if (events & (EPOLLERR | EPOLLHUP))
		what |= CURL_CSELECT_ERR;
	client_.act(fd_, what); // may destroy this object
}

void HttpClient::watch(curl_socket_t fd, int what)
{
	std::unique_ptr<Socket> &socket = sockets_[fd];
	if (what == CURL_POLL_REMOVE) {
		if (socket)
			poller_.remove(fd, *socket);
		sockets_.erase(fd);
		return;
	}
	std::uint32_t events = 0;
	if (what & CURL_POLL_IN)
		events |= EPOLLIN;
	if (what & CURL_POLL_OUT)
		events |= EPOLLOUT;
	if (socket)
		return poller_.want(fd, events, *socket);
	socket = std::make_unique<Socket>(*this, fd);
	poller_.add(fd, events, *socket);
}

void HttpClient::act(curl_socket_t fd, int what)
{
	int running;
	curl_multi_socket_action(multi_, fd, what, &running);
	deliver();
}

void HttpClient::deliver()
{
	while (!fresh_.empty()) {
		HttpCall *call = fresh_.back();
		std::erase(fresh_, call);
		call->deliver();
	}
	int left;
	while (const CURLMsg *message = curl_multi_info_read(multi_, &left)) {
		char *call = nullptr;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &call);
		reinterpret_cast<HttpCall *>(call)->finish(message->data.result);
	}
}

} // namespace cdc

namespace cdc::etcd {

using nofctl::invalidError;
using nvmeof::Result;
using Outcome = Answer::Outcome;

// ---- requests and responses

namespace {

constexpr int maxDepth = 4;

// Reads members; a member of the wrong type makes the whole message invalid.
class JsonReader {
public:
	const JsonValue &object(const JsonValue &of, const char *key)
	{
		static const JsonValue none = JsonValue::object();
		const JsonValue *member = find(of, key);
		return member && check(member->is_object()) ? *member : none;
	}
	const JsonValue &list(const JsonValue &of, const char *key)
	{
		static const JsonValue none = JsonValue::array();
		const JsonValue *member = find(of, key);
		return member && check(member->is_array()) ? *member : none;
	}
	template <typename T = std::uint64_t> T number(const JsonValue &of, const char *key)
	{
		T value = 0;
		const JsonValue *member = find(of, key);
		if (member && member->is_string()) {
			const auto &text = member->get_ref<const std::string &>();
			auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
			check(error == std::errc() && end == text.data() + text.size());
		} else if (member && check(member->is_number_integer())) {
			if (member->is_number_unsigned() && check(std::in_range<T>(member->get<std::uint64_t>())))
				value = static_cast<T>(member->get<std::uint64_t>());
			else if (!member->is_number_unsigned() && check(std::in_range<T>(member->get<std::int64_t>())))
				value = static_cast<T>(member->get<std::int64_t>());
		}
		return value;
	}
	bool flag(const JsonValue &of, const char *key)
	{
		const JsonValue *member = find(of, key);
		return member && check(member->is_boolean()) && member->get<bool>();
	}
	std::string text(const JsonValue &of, const char *key)
	{
		const JsonValue *member = find(of, key);
		return member && check(member->is_string()) ? member->get<std::string>() : "";
	}
	std::string bytes(const JsonValue &of, const char *key)
	{
		auto decoded = ofBase64(text(of, key));
		return check(decoded.has_value()) ? *std::move(decoded) : "";
	}
	Header header(const JsonValue &of)
	{
		const JsonValue &header = object(of, "header");
		return {number(header, "cluster_id"), number(header, "revision")};
	}
	Event event(const JsonValue &kv, bool gone)
	{
		Event event{.key = bytes(kv, "key"), .value = {}, .revision = number(kv, "mod_revision")};
		if (!gone)
			event.value = bytes(kv, "value");
		return event;
	}
	bool check(bool holds)
	{
		good_ = good_ && holds;
		return holds;
	}
	template <typename T> Result<T> outcome(T value) const
	{
		if (good_)
			return value;
		nvmeof::Error error;
		error.message = "not a response of etcd's v3 JSON gateway";
		return error;
	}

private:
	const JsonValue *find(const JsonValue &of, const char *key)
	{
		if (!check(of.is_object()))
			return nullptr;
		auto found = of.find(key);
		return found == of.end() ? nullptr : &*found;
	}

	bool good_ = true;
};

// A put always causes an event, a deletion only if the key existed.
bool changes(JsonReader &reader, const JsonValue &responses, int nested = 0)
{
	if (!reader.check(nested < maxDepth))
		return false;
	for (const JsonValue &response : responses) {
		if (!reader.check(response.is_object()))
			return false;
		if (response.contains("response_put") ||
		    reader.number(reader.object(response, "response_delete_range"), "deleted") > 0 ||
		    changes(reader, reader.list(reader.object(response, "response_txn"), "responses"), nested + 1))
			return true;
	}
	return false;
}

// The payload of a stream message
const JsonValue &resultOf(JsonReader &reader, const JsonValue &answer)
{
	return reader.object(answer, "result");
}

} // namespace

std::string endOf(std::string prefix)
{
	while (!prefix.empty() && static_cast<std::uint8_t>(prefix.back()) == 0xff)
		prefix.pop_back();
	if (prefix.empty())
		return std::string(1, '\0'); // no upper bound
	prefix.back()++;
	return prefix;
}

JsonValue put(std::string_view key, std::string_view value, std::int64_t lease)
{
	JsonValue put{{"key", toBase64(key)}, {"value", toBase64(value)}};
	if (lease)
		put["lease"] = std::to_string(lease);
	return {{"request_put", std::move(put)}};
}

JsonValue remove(std::string_view key)
{
	return {{"request_delete_range", {{"key", toBase64(key)}}}};
}

JsonValue isRevision(std::string_view key, std::uint64_t revision)
{
	return {{"key", toBase64(key)}, {"target", "MOD"}, {"mod_revision", std::to_string(revision)}};
}

JsonValue isValue(std::string_view key, std::string_view value)
{
	return {{"key", toBase64(key)}, {"target", "VALUE"}, {"value", toBase64(value)}};
}

Result<Range> rangeOf(const JsonValue &answer)
{
	JsonReader reader;
	Range range{.header = reader.header(answer), .records = {}, .more = reader.flag(answer, "more")};
	for (const JsonValue &kv : reader.list(answer, "kvs"))
		range.records.push_back(reader.event(kv, false));
	return reader.outcome(std::move(range));
}

Result<Transaction> transactionOf(const JsonValue &answer)
{
	JsonReader reader;
	Transaction transaction{.header = reader.header(answer), .succeeded = reader.flag(answer, "succeeded")};
	transaction.changed = changes(reader, reader.list(answer, "responses"));
	return reader.outcome(transaction);
}

Result<Notice> noticeOf(const JsonValue &answer)
{
	JsonReader reader;
	const JsonValue &result = resultOf(reader, answer);
	Notice notice{.header = reader.header(result),
		      .created = reader.flag(result, "created"),
		      .canceled = reader.flag(result, "canceled"),
		      .compacted = reader.number(result, "compact_revision"),
		      .reason = reader.text(result, "cancel_reason"),
		      .events = {}};
	for (const JsonValue &event : reader.list(result, "events"))
		notice.events.push_back(
			reader.event(reader.object(event, "kv"), reader.text(event, "type") == "DELETE"));
	return reader.outcome(std::move(notice));
}

// From the response to a lease grant, or from a message of a keep-alive stream
Result<Lease> leaseOf(const JsonValue &answer)
{
	JsonReader reader;
	reader.check(answer.is_object());
	const JsonValue &lease = answer.is_object() && answer.contains("result") ? resultOf(reader, answer) : answer;
	Lease found{.id = reader.number<std::int64_t>(lease, "ID"), .ttl = reader.number<std::int64_t>(lease, "TTL")};
	return reader.outcome(found);
}

// ---- calls

namespace {

constexpr std::size_t maxLineSize = 64 << 20;

Answer strange(const std::string &what)
{
	return {.outcome = Outcome::lost, .trouble = what + ": this is not etcd's v3 JSON gateway"};
}

// By gRPC status code, or by etcd's message where the code is ambiguous
Outcome outcomeOf(int code, const std::string &message)
{
	auto says = [&](const char *words) { return message.find(words) != message.npos; };
	switch (code) {
	case 3: // invalid argument
		return says("auth token") || says("auth store is old") || says("user name is empty") ? Outcome::stranger
												     : Outcome::refused;
	case 5:  // not found
	case 11: // out of range: compacted
		return Outcome::missing;
	case 7: // permission denied
	case 8: // resource exhausted
	case 9: // failed precondition
		return Outcome::refused;
	case 16: // unauthenticated
		return Outcome::stranger;
	}
	return Outcome::lost;
}

const char *adviceFor(const std::string &message)
{
	if (message.find("database space exceeded") != message.npos)
		return "; compact and defragment it, and disarm its alarm, with etcdctl";
	if (message.find("permission denied") != message.npos)
		return "; give the user's role readwrite permission on the whole prefix";
	if (message.find("user name is empty") != message.npos)
		return "; it requires a user and a password";
	return "";
}

// {"message": ..., "code": ...}, and in a stream {"message": ..., "grpc_code": ...}
Answer refusal(const JsonValue &error)
{
	Answer answer = strange("malformed error response");
	const JsonValue none;
	auto member = [&](const char *key) { return error.contains(key) ? error[key] : none; };
	const JsonValue code = member(error.contains("grpc_code") ? "grpc_code" : "code"), message = member("message");
	if (!code.is_number_integer() || !message.is_string())
		return answer;
	answer.trouble = message.get<std::string>();
	answer.outcome = outcomeOf(code.get<int>(), answer.trouble);
	answer.trouble += adviceFor(answer.trouble);
	return answer;
}

bool readable(const std::string &file)
{
	return file.empty() || ::access(file.c_str(), R_OK) == 0;
}

} // namespace

Result<void> check(const Options &options)
{
	if (options.endpoints.empty())
		return invalidError("no etcd member is configured");
	for (const std::string &endpoint : options.endpoints) {
		const auto host = endpoint.starts_with("https://")  ? endpoint.substr(8)
				  : endpoint.starts_with("http://") ? endpoint.substr(7)
								    : "";
		if (host.empty() || host.find_first_of("/?#@ ") != host.npos)
			return invalidError(fmt::format(
				"'{}' is not the URL of an etcd member: expected http://HOST:PORT or https://HOST:PORT",
				endpoint));
	}
	for (const std::string &file : {options.tls.ca, options.tls.cert, options.tls.key})
		if (!readable(file))
			return invalidError(
				fmt::format("{}: cannot be read by the user of this service: check its path and "
					    "mode, or use LoadCredential= in the unit",
					    file));
	if (options.tls.cert.empty() != options.tls.key.empty())
		return invalidError("a certificate for etcd needs its key, and a key its certificate");
	if (options.user.empty() && !options.password.empty())
		return invalidError("a password for etcd needs its user");
	return {};
}

Answer answerOf(const std::string &line)
{
	Answer answer;
	answer.json = JsonValue::parse(line, nullptr, false);
	if (!answer.json.is_object())
		return strange("the response is not a JSON object");
	auto error = answer.json.find("error");
	if (error == answer.json.end())
		return answer;
	return refusal(error->is_object() ? *error : answer.json);
}

Answer answerOf(const HttpAnswer &http)
{
	if (http.outcome != CURLE_OK)
		return {.outcome = http.sent ? Outcome::lost : Outcome::unsent, .trouble = http.trouble};
	Answer answer = answerOf(http.body);
	if (http.status != 200 && (answer || !JsonValue::accept(http.body)))
		return strange(fmt::format("it responds with HTTP status {}", http.status));
	return answer;
}

Call::Call(Client &client, Kind kind, std::string path, std::string body, Done done)
	: client_(client), kind_(kind), path_(std::move(path)), body_(std::move(body)), done_(std::move(done))
{
}

Call::~Call()
{
	*ended_ = true;
}

void Call::begin()
{
	if (client_.options_.user.empty() || !client_.token_.empty())
		send();
	else
		authenticate();
}

void Call::authenticate()
{
	introduced_ = true;
	client_.token_.clear();
	const JsonValue who{{"name", client_.options_.user}, {"password", client_.options_.password}};
	auto known = [this](const HttpAnswer &http) {
		Answer answer = answerOf(http);
		if (!answer)
			return tell(std::move(answer));
		client_.token_ = answer.json.value("token", "");
		send();
	};
	http_ = client_.http_.post(client_.endpoint() + "/v3/auth/authenticate", {},
				   who.dump(-1, ' ', false, JsonValue::error_handler_t::replace),
				   client_.options_.timeout, known);
}

void Call::send()
{
	std::vector<std::string> headers;
	if (!client_.token_.empty())
		headers.push_back("Authorization: " + client_.token_);
	auto done = [this](const HttpAnswer &http) { answered(answerOf(http)); };
	auto piece = [this](std::string_view piece) { received(piece); };
	if (kind_ == Kind::call)
		http_ = client_.http_.post(client_.endpoint() + path_, headers, body_, client_.options_.timeout, done);
	else
		http_ = client_.http_.post(client_.endpoint() + path_, headers, body_, {}, done, piece);
}

void Call::answered(Answer answer)
{
	if (answer.outcome == Outcome::stranger && !client_.options_.user.empty() && !introduced_)
		return authenticate();
	if (kind_ == Kind::stream && (answer || answer.outcome == Outcome::lost))
		answer = {.outcome = Outcome::lost, .trouble = "the connection has ended"};
	tell(std::move(answer));
}

// Splits the stream into lines; an incomplete line is kept for the next piece.
void Call::received(std::string_view piece)
{
	const std::shared_ptr<bool> ended = ended_;
	while (!*ended && !piece.empty()) {
		const std::size_t end = piece.find('\n');
		line_ += piece.substr(0, end);
		if (line_.size() > maxLineSize)
			return tell(strange("the response line is too long"));
		if (end == piece.npos)
			return;
		piece.remove_prefix(end + 1);
		const std::string line = std::move(line_);
		line_.clear();
		if (!line.empty())
			tell(answerOf(line));
	}
}

void Call::tell(Answer answer)
{
	if (!answer)
		answer.trouble = fmt::format("{}: {}", client_.endpoint(), answer.trouble);
	const Done done = done_; // copied: the callback may destroy this object
	done(std::move(answer));
}

void Client::next()
{
	endpoint_ = (endpoint_ + 1) % options_.endpoints.size();
	token_.clear();
}

std::unique_ptr<Call> Client::make(Call::Kind kind, const char *path, const JsonValue &body, Call::Done done)
{
	const auto replace = JsonValue::error_handler_t::replace;
	std::unique_ptr<Call> call(new Call(*this, kind, fmt::format("/v3/{}", path),
					    body.dump(-1, ' ', false, replace), std::move(done)));
	call->begin();
	return call;
}

std::unique_ptr<Call> Client::call(const char *path, const JsonValue &body, Call::Done done)
{
	return make(Call::Kind::call, path, body, std::move(done));
}

std::unique_ptr<Call> Client::stream(const char *path, const JsonValue &body, Call::Done each)
{
	return make(Call::Kind::stream, path, body, std::move(each));
}

} // namespace cdc::etcd
