// SPDX-License-Identifier: LGPL-2.1-or-later
// Client of the JSON gateway of etcd 3.4, over HTTP. All calls go to one of the configured members until next() selects
// another.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <curl/curl.h>
#include <nlohmann/json.hpp>

#include <nvmeof/result.h>

#include "libctl/base/base64.h"
#include "libctl/runtime/loop.h"

namespace cdc {

class HttpClient;

// Paths of PEM files; empty: not used
struct HttpTls {
	std::string ca{}; // trusted CAs; empty: those of the system
	std::string cert{}, key{};
};

struct HttpAnswer {
	CURLcode outcome = CURLE_OK; // CURLE_OK: there is a response
	bool sent = false;           // at least part of the request may have been sent
	long status = 0;
	std::string body;
	std::string trouble; // for messages
};

// A request in progress. Destroying the object cancels it; its callbacks may do so.
class HttpCall {
public:
	using Done = std::function<void(HttpAnswer)>;
	using Piece = std::function<void(std::string_view)>;

	~HttpCall();
	HttpCall(const HttpCall &) = delete;
	HttpCall &operator=(const HttpCall &) = delete;

private:
	friend class HttpClient;
	HttpCall(HttpClient &client, std::string body, Done done, Piece piece);
	static std::size_t write(char *bytes, std::size_t one, std::size_t count, void *call);
	void deliver();
	void finish(CURLcode outcome);

	HttpClient &client_;
	CURL *easy_;
	curl_slist *headers_ = nullptr;
	std::string body_, got_;
	Done done_;
	Piece piece_;
	char error_[CURL_ERROR_SIZE] = "";
};

// HTTP/1.1 client on libcurl and an event loop. It does not block; libcurl resolves names in its own threads.
class HttpClient {
public:
	// @maxResponse: bytes of a response that are accepted. Throws std::system_error
	HttpClient(runtime::Loop &loop, HttpTls tls, std::size_t maxResponse);
	~HttpClient();
	HttpClient(const HttpClient &) = delete;
	HttpClient &operator=(const HttpClient &) = delete;

	// @timeout: of the whole request; 0: of connecting only. @piece: if set, receives the body as it arrives
	std::unique_ptr<HttpCall> post(const std::string &url, const std::vector<std::string> &headers,
				       std::string body, std::chrono::milliseconds timeout, HttpCall::Done done,
				       HttpCall::Piece piece = {});

private:
	friend class HttpCall;
	class Socket final : public runtime::Poller::Handler {
	public:
		Socket(HttpClient &client, curl_socket_t fd) : client_(client), fd_(fd) {}
		void ready(std::uint32_t events) override;
		void threw() override {} // only callbacks of a call throw, and that call has ended

	private:
		HttpClient &client_;
		curl_socket_t fd_;
	};

	void watch(curl_socket_t fd, int what);
	void act(curl_socket_t fd, int what);
	void deliver();

	HttpTls tls_;
	const std::size_t maxResponse_;
	runtime::Poller poller_;
	runtime::Timer timer_;
	CURLM *multi_;
	std::map<curl_socket_t, std::unique_ptr<Socket>> sockets_;
	std::vector<HttpCall *> fresh_; // with undelivered data
};

} // namespace cdc

namespace cdc::etcd {

class Client;

/*
 * Requests to and responses from the JSON gateway of etcd 3.4. Keys and values are base64, 64-bit numbers may be
 * strings, and members that are zero or empty are omitted.
 */

using JsonValue = nlohmann::json;

using nofctl::ofBase64;
using nofctl::toBase64;

// The end of the range of all keys that begin with @prefix
std::string endOf(std::string prefix);

// Operations and comparisons of a transaction
JsonValue put(std::string_view key, std::string_view value, std::int64_t lease = 0);
JsonValue remove(std::string_view key);
JsonValue isRevision(std::string_view key,
		     std::uint64_t revision); // compares the mod revision; 0: the key does not exist
JsonValue isValue(std::string_view key, std::string_view value);

struct Event {
	std::string key;
	std::optional<std::string> value; // absent: the key was deleted
	std::uint64_t revision = 0;       // of the change
};

struct Header {
	std::uint64_t cluster = 0, revision = 0;
};

struct Range {
	Header header;
	std::vector<Event> records;
	bool more = false;
};

struct Transaction {
	Header header;
	bool succeeded = false;
	bool changed = false; // the transaction caused an event in this revision
};

struct Notice { // message of a watch stream
	Header header;
	bool created = false, canceled = false;
	std::uint64_t compacted = 0; // compact_revision: earlier events are gone
	std::string reason;
	std::vector<Event> events;
};

struct Lease {
	std::int64_t id = 0, ttl = 0; // seconds
};

nvmeof::Result<Range> rangeOf(const JsonValue &answer);
nvmeof::Result<Transaction> transactionOf(const JsonValue &answer);
nvmeof::Result<Notice> noticeOf(const JsonValue &answer);
nvmeof::Result<Lease> leaseOf(const JsonValue &answer);

struct Options {
	std::vector<std::string> endpoints = {"http://127.0.0.1:2379"};
	HttpTls tls = {};
	std::string user = {}, password = {}; // empty: none
	std::chrono::milliseconds timeout{2000};
	std::size_t maxResponse = 64 << 20; // bytes
};

// Errors: a message for the operator
nvmeof::Result<void> check(const Options &options);

struct Answer {
	enum class Outcome {
		good,
		unsent,   // no connection: the request was not sent
		lost,     // no response: the request may have been executed
		refused,  // not executed; a retry fails as well
		stranger, // authentication is required or has expired
		missing,  // not found or compacted
	};
	Outcome outcome = Outcome::good;
	std::string trouble = {}; // for messages
	JsonValue json = {};

	explicit operator bool() const { return outcome == Outcome::good; }
};

// Interprets a response of a member
Answer answerOf(const HttpAnswer &http);
Answer answerOf(const std::string &line); // one line of a stream

// A call or stream in progress. Destroying the object cancels it; its callbacks may do so.
class Call {
public:
	using Done = std::function<void(Answer)>;

	~Call();
	Call(const Call &) = delete;
	Call &operator=(const Call &) = delete;

private:
	friend class Client;
	enum class Kind { call, stream };
	Call(Client &client, Kind kind, std::string path, std::string body, Done done);
	void begin();
	void authenticate();
	void send();
	void answered(Answer answer);
	void received(std::string_view piece);
	void tell(Answer answer);

	Client &client_;
	Kind kind_;
	std::string path_, body_, line_;
	Done done_;
	bool introduced_ = false; // authenticated in this call
	std::shared_ptr<bool> ended_ = std::make_shared<bool>(false);
	std::unique_ptr<HttpCall> http_;
};

class Client {
public:
	Client(runtime::Loop &loop, Options options)
		: options_(std::move(options)), http_(loop, options_.tls, options_.maxResponse)
	{
	}

	const std::string &endpoint() const { return options_.endpoints[endpoint_]; }
	std::size_t endpoints() const { return options_.endpoints.size(); }
	// Selects the next member and drops the authentication token.
	void next();

	// @path: "kv/range". Authenticates first if a user is configured and there is no token.
	std::unique_ptr<Call> call(const char *path, const JsonValue &body, Call::Done done);
	// @each: called for each message; an error is the last one
	std::unique_ptr<Call> stream(const char *path, const JsonValue &body, Call::Done each);

private:
	friend class Call;
	std::unique_ptr<Call> make(Call::Kind kind, const char *path, const JsonValue &body, Call::Done done);

	Options options_;
	HttpClient http_;
	std::size_t endpoint_ = 0;
	std::string token_;
};

} // namespace cdc::etcd
