// SPDX-License-Identifier: LGPL-2.1-or-later
// The web page, the metrics and the event stream, over HTTP.
#include <catch2/catch.hpp>

#include <filesystem>
#include <map>

#include <arpa/inet.h>
#include <curl/curl.h>
#include <fcntl.h>

#include "tests/unit/exposition_checker.h"
#include "running.h"
#include "service.h"

using namespace cdc;
using namespace std::chrono_literals;

namespace {

struct Reply {
	long status = 0;
	std::string body;
	std::map<std::string, std::string> headers; // by name in lower case
};

std::size_t addBody(char *text, std::size_t, std::size_t count, void *reply)
{
	static_cast<Reply *>(reply)->body.append(text, count);
	return count;
}

std::size_t addHeader(char *text, std::size_t, std::size_t count, void *reply)
{
	const std::string line(text, count);
	const std::size_t colon = line.find(": ");
	std::string name = line.substr(0, colon);
	std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
	if (colon != line.npos)
		static_cast<Reply *>(reply)->headers[name] = line.substr(colon + 2, line.size() - colon - 4);
	return count;
}

using Curl = std::unique_ptr<CURL, void (*)(CURL *)>;

Reply request(const std::string &url, const char *method = "GET", const std::string &header = {})
{
	const Curl curl(curl_easy_init(), curl_easy_cleanup);
	const std::unique_ptr<curl_slist, void (*)(curl_slist *)> list(curl_slist_append(nullptr, header.c_str()),
								       curl_slist_free_all);
	Reply reply;
	curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
	curl_easy_setopt(curl.get(), CURLOPT_PROXY, "");
	curl_easy_setopt(curl.get(), CURLOPT_CUSTOMREQUEST, method);
	curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, list.get());
	curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT, 30L);
	curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, addBody);
	curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &reply);
	curl_easy_setopt(curl.get(), CURLOPT_HEADERFUNCTION, addHeader);
	curl_easy_setopt(curl.get(), CURLOPT_HEADERDATA, &reply);
	if (std::string(method) == "HEAD")
		curl_easy_setopt(curl.get(), CURLOPT_NOBODY, 1L);
	CHECK(curl_easy_perform(curl.get()) == CURLE_OK);
	curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &reply.status);
	return reply;
}

// A stream of events, which is read on demand
class Stream {
public:
	explicit Stream(std::uint16_t port, const std::string &headers = {}, int room = 0)
		: socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
	{
		if (room)
			::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
		const timeval limit{20, 0};
		::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		connectTo(socket_, port);
		const std::string text = "GET /api/events HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n";
		REQUIRE(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
	}
	~Stream() { ::close(socket_); }

	// Everything up to and including @text, for which it waits
	std::string upTo(const std::string &text)
	{
		for (;;) {
			if (const std::size_t at = read_.find(text); at != read_.npos) {
				std::string front = read_.substr(0, at + text.size());
				read_.erase(0, front.size());
				return front;
			}
			char room[65536];
			const ssize_t n = ::recv(socket_, room, sizeof(room), 0);
			INFO(text);
			REQUIRE(n > 0);
			read_.append(room, static_cast<std::size_t>(n));
		}
	}

private:
	int socket_;
	std::string read_;
};

std::uint16_t webPort(const ServiceFixture &running)
{
	return static_cast<std::uint16_t>(std::stoi(running.rules.web[0].trsvcid));
}

// A client that can send arbitrary bytes
class RawConnection {
public:
	explicit RawConnection(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
	{
		connectTo(socket_, port);
	}
	~RawConnection() { ::close(socket_); }
	RawConnection(const RawConnection &) = delete;
	RawConnection &operator=(const RawConnection &) = delete;

	// Returns false if the connection has ended.
	bool say(const std::string &text) { return ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) >= 0; }

private:
	int socket_;
};

// An HTTP server without a service behind it
struct HttpServerFixture {
	explicit HttpServerFixture(HttpServer::Limits limits) : server([this] { wanted++; }, limits)
	{
		auto sockets = listenAt({"127.0.0.1", std::to_string(port)}, 1);
		REQUIRE(sockets);
		REQUIRE(server.start({{sockets->front(), true}}));
	}

	std::uint16_t port = freePort();
	std::atomic<int> wanted{0};
	HttpServer server;
};

} // namespace

TEST_CASE("the page and its files are served, and requests from other origins are refused", "[web]")
{
	ServiceFixture running;
	running.start();
	for (const auto &[path, type] :
	     {std::pair("/", "text/html"), std::pair("/style.css", "text/css"),
	      std::pair("/page.js", "text/javascript"), std::pair("/map.js", "text/javascript"),
	      std::pair("/icon.svg", "image/svg+xml")}) {
		CAPTURE(path);
		const Reply reply = request(running.web() + path);
		CHECK(reply.status == 200);
		CHECK(reply.headers.at("content-type") == std::string(type) + "; charset=utf-8");
		CHECK(reply.headers.at("content-security-policy").starts_with("default-src 'none'; script-src 'self'"));
		CHECK(reply.headers.at("x-content-type-options") == "nosniff");
		CHECK(reply.body.find("http://") == reply.body.find("http://www.w3.org/2000/svg"));
		CHECK(reply.body.find("https://") == reply.body.npos);
	}
	const Reply head = request(running.web() + "/", "HEAD");
	CHECK(head.status == 200);
	CHECK(head.body.empty());
}

TEST_CASE("unknown paths and methods are refused", "[web]")
{
	ServiceFixture running;
	running.start();
	CHECK(request(running.web() + "/nothing").status == 404);
	CHECK(request(running.web() + "/../service.cpp").status == 404);
	const Reply post = request(running.web() + "/api/state", "POST");
	CHECK(post.status == 405);
	CHECK(post.headers.at("allow") == "GET, HEAD");
	CHECK(request(running.web() + "/", "GET", "Host: cdc.example").status == 403);
	CHECK(request(running.web() + "/", "GET", "Host: localhost:1").status == 200);
	CHECK(request(running.web() + "/", "GET", "Host: [::1]:8010").status == 200);
}

TEST_CASE("metrics are current", "[web]")
{
	ServiceFixture running;
	running.start();
	running.write({putOf(someTarget(0)), putOf(someTarget(1))});
	const Reply reply = request(running.web() + "/metrics");
	CHECK(reply.status == 200);
	CHECK(reply.headers.at("content-type") == "text/plain; version=0.0.4; charset=utf-8");
	const ExpositionChecker checked(reply.body);
	CHECK(checked.problems() == std::vector<std::string>{});
	CHECK(checked.value("nvmeof_cdc_targets", {{"state", "optimized"}}) == 2);
	CHECK(checked.value("nvmeof_cdc_serving") == 1);
}

TEST_CASE("concurrent requests for the state all get the same document", "[web]")
{
	ServiceFixture running;
	running.start();
	running.write({putOf(someTarget(0))});
	std::vector<std::thread> threads;
	std::atomic<int> good{0};
	for (int i = 0; i < 8; i++)
		threads.emplace_back([&] {
			const Reply reply = request(running.web() + "/api/state");
			const Json state = Json::parse(reply.body, nullptr, false);
			good += reply.status == 200 && state.is_object() && state["targets"].size() == 1;
		});
	for (std::thread &thread : threads)
		thread.join();
	CHECK(good == 8);
}

TEST_CASE("the event stream has each change as it happens", "[web]")
{
	ServiceFixture running;
	running.start();
	Stream stream(webPort(running));
	CHECK(stream.upTo("retry: 2000\n\n").find("text/event-stream") != std::string::npos);
	std::string id;
	for (int i = 0; i < 3; i++) {
		running.write({putOf(someTarget(i))});
		const std::string event = stream.upTo("\n\n");
		CHECK(event.find("event: change\n") != event.npos);
		CHECK(event.find(someTarget(i).key()) != event.npos);
		id = event.substr(event.find("id: ") + 4, event.find("\nevent") - event.find("id: ") - 4);
		if (i == 1) { // a client resumes behind its last event ID
			Stream again(webPort(running), "Last-Event-ID: " + std::to_string(std::stoi(id) - 1) + "\r\n");
			CHECK(again.upTo("id: " + id + "\n").find("retry") != std::string::npos);
		}
	}
}

TEST_CASE("a slow reader of events learns how many were dropped, and uses bounded memory", "[web]")
{
	HttpServerFixture lone({.kept = 8});
	Stream slow(lone.port, {}, 4096);
	slow.upTo("retry: 2000\n\n");
	constexpr int many = 2000;
	ChangeEvent changeEvent{0, 0, 1, std::vector<std::string>(100, someTarget(1).key()), {}, 0, false};
	for (int i = 1; i <= many; i++) {
		changeEvent.number = static_cast<std::uint64_t>(i);
		lone.server.onChange(changeEvent);
	}
	const std::string all = slow.upTo("\"number\":2000,");
	const std::size_t dropped = all.find("event: dropped\ndata: {\"dropped\":");
	REQUIRE(dropped != all.npos);
	CHECK(std::stoi(all.substr(dropped + 32)) > 100); // all events that neither the sockets nor the server keep
	CHECK(all.find("\"number\":1993,") != all.npos);  // the server keeps the last eight
}

TEST_CASE("the number of streams is limited, and a closed stream makes room", "[web]")
{
	HttpServerFixture lone({.streams = 2, .ping = 1s});
	Stream first(lone.port);
	first.upTo("retry");
	{
		Stream second(lone.port);
		second.upTo("retry");
		Stream third(lone.port);
		CHECK(third.upTo("\r\n").find("503") != std::string::npos);
	}
	first.upTo(":\n\n"); // the keep-alive comment
	for (int i = 0; i < 20; i++) {
		Stream again(lone.port);
		if (again.upTo("\r\n").find("200") != std::string::npos)
			return;
		std::this_thread::sleep_for(500ms);
	}
	FAIL("the second one's place is not free");
}

TEST_CASE("the health check tells a load balancer whether hosts are served", "[web]")
{
	ServiceFixture running;
	running.start();
	CHECK(request(running.web() + "/healthz").status == 200);
	auto snapshot = std::make_shared<Snapshot>();
	snapshot->model = std::make_shared<const Model>();
	HttpServerFixture lone({});
	lone.server.take(snapshot);
	const Reply reply = request("http://127.0.0.1:" + std::to_string(lone.port) + "/healthz");
	CHECK(reply.status == 503);
}

TEST_CASE("a request gets 503 when the service does not answer in time", "[web]")
{
	HttpServerFixture lone({.patience = 1s});
	const std::string url = "http://127.0.0.1:" + std::to_string(lone.port);
	const Reply reply = request(url + "/metrics");
	CHECK(reply.status == 503);
	CHECK(reply.headers.at("retry-after") == "2");
	CHECK(lone.wanted == 1);
	CHECK(request(url + "/").status == 200);
}

TEST_CASE("incomplete requests do not keep other clients from the metrics", "[web]")
{
	HttpServerFixture lone({.connections = 32, .patience = 1s, .request = 300s});
	const std::string url = "http://127.0.0.1:" + std::to_string(lone.port);
	std::vector<std::unique_ptr<RawConnection>> slow;
	for (int i = 0; i < 140; i++) {
		slow.push_back(std::make_unique<RawConnection>(lone.port));
		slow.back()->say(i % 2 ? "GET /metrics HTTP/1.1\r\nHost: 127.0" : "");
	}
	CHECK(request(url + "/").status == 200);
	CHECK(request(url + "/metrics").status == 503); // 503: the service does not answer
}

TEST_CASE("a request that arrives too slowly is ended", "[web]")
{
	HttpServerFixture lone({.request = 1s});
	RawConnection slow(lone.port);
	const auto begun = std::chrono::steady_clock::now();
	while (slow.say("G") && std::chrono::steady_clock::now() - begun < 30s)
		std::this_thread::sleep_for(20ms);
	CHECK(std::chrono::steady_clock::now() - begun < 30s);
}

TEST_CASE("the server can stop with a pending request and an open stream", "[web]")
{
	auto lone = std::make_unique<HttpServerFixture>(HttpServer::Limits{});
	Stream stream(lone->port);
	stream.upTo("retry");
	const std::string url = "http://127.0.0.1:" + std::to_string(lone->port);
	std::thread asking([url] {
		const Curl curl(curl_easy_init(), curl_easy_cleanup);
		curl_easy_setopt(curl.get(), CURLOPT_URL, (url + "/metrics").c_str());
		curl_easy_setopt(curl.get(), CURLOPT_PROXY, "");
		curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
		curl_easy_perform(curl.get());
	});
	while (lone->wanted == 0)
		std::this_thread::sleep_for(10ms);
	lone.reset();
	asking.join();
}

TEST_CASE("a web server that does not start closes the sockets that it was given", "[web]")
{
	const int unfit = ::open("/dev/null", O_RDWR | O_CLOEXEC); // epoll does not take it
	auto sockets = listenAt({"127.0.0.1", std::to_string(freePort())}, 2);
	REQUIRE(sockets);
	HttpServer server([] {}, HttpServer::Limits{});
	CHECK_FALSE(server.start({{sockets->at(0), true}, {unfit, true}, {sockets->at(1), true}}));
	CHECK(::fcntl(sockets->at(1), F_GETFD) == -1);
}

TEST_CASE("if one address cannot be listened on, the sockets of the addresses before it are closed", "[web]")
{
	auto openSockets = [] {
		int count = 0;
		std::error_code ignored;
		for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd"))
			count += std::filesystem::read_symlink(entry.path(), ignored).string().starts_with("socket:");
		return count;
	};
	Scratch dir;
	const Rules rules;
	runtime::Loop loop(runtime::Loop::Watchdog::none);
	Service service(loop, rules, {selfId, "nqn.self", "serial", "0.0"},
			std::make_unique<SqliteStore>(loop, dir.path() / "cdc.db"));
	Web web(loop, service);
	const std::string port = std::to_string(freePort());
	const int before = openSockets();
	CHECK_FALSE(web.start({{"127.0.0.1", port}, {"no address", "1"}}));
	CHECK(openSockets() == before);
}

TEST_CASE("without a configured address there is no web server", "[web]")
{
	ServiceFixture running;
	const std::uint16_t port = webPort(running);
	running.rules.web.clear();
	running.start();
	CHECK(listenAt({"127.0.0.1", std::to_string(port)}, 1).ok());
}
