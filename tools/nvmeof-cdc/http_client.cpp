// SPDX-License-Identifier: LGPL-2.1-or-later
#include "http_client.h"

#include <cerrno>
#include <csignal>
#include <system_error>

#include "serving/guard.h"

namespace cdc {

using namespace std::chrono_literals;

namespace {

constexpr long connectMs = 1000;
constexpr std::size_t maxResponseBytes = 64 << 20; // of a response

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
	if (call->got_.size() + one * count > maxResponseBytes)
		return 0;
	const bool good = serving::guarded([&] {
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

HttpClient::HttpClient(serving::Loop &loop, HttpTls tls)
	: tls_(std::move(tls)), poller_(loop), timer_(loop, [this] { act(CURL_SOCKET_TIMEOUT, 0); })
{
	::signal(SIGPIPE, SIG_IGN); // TLS has no other way to avoid it on a closed connection
	curl_global_init(CURL_GLOBAL_DEFAULT);
	multi_ = made(curl_multi_init());
	curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
	curl_multi_setopt(
		multi_, CURLMOPT_SOCKETFUNCTION, +[](CURL *, curl_socket_t fd, int what, void *client, void *) {
			return serving::guarded([&] { static_cast<HttpClient *>(client)->watch(fd, what); }) ? 0 : -1;
		});
	curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
	curl_multi_setopt(
		multi_, CURLMOPT_TIMERFUNCTION, +[](CURLM *, long ms, void *client) {
			serving::Timer &timer = static_cast<HttpClient *>(client)->timer_;
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
