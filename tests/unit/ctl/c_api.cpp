// SPDX-License-Identifier: LGPL-2.1-or-later
// The C interface, used by a C program (c_client.c).
#include <catch2/catch.hpp>

#include <cerrno>
#include <cstdlib>
#include <new>
#include <stdexcept>

#include <poll.h>

#include <nvmeof/nvmeof_c.h>

#include "c_client.h"
#include "memory.h"
#include "stage.h"
#include "libctl/client/c_api.h"
#include "libctl/netlink/operations.h"

void *operator new(std::size_t size)
{
	void *memory = MemoryFault::strikes() ? nullptr : std::malloc(size ? size : 1);
	if (!memory)
		throw std::bad_alloc();
	return memory;
}

// Defined here because operator delete is: memory from the library's version would go to free().
void *operator new(std::size_t size, const std::nothrow_t & /*unused*/) noexcept
{
	return MemoryFault::strikes() ? nullptr : std::malloc(size ? size : 1);
}

void operator delete(void *memory) noexcept
{
	std::free(memory);
}

void operator delete(void *memory, std::size_t) noexcept
{
	std::free(memory);
}

namespace {

int goesLive(void *context)
{
	auto &stage = *static_cast<Stage *>(context);
	stage.disk("nvmeof0c1n1", "nvmeof0c1", "nvmeof0n1", 1);
	stage.live("nvmeof0c1", 1);
	return 0;
}

struct Handle {
	nvmeof_client *client = nullptr;

	Handle() { REQUIRE(nvmeof_client_open(nullptr, &client, nullptr) == NVMEOF_OK); }
	~Handle() { nvmeof_client_free(client); }
};

} // namespace

TEST_CASE("a C program connects and disconnects", "[c]")
{
	Stage stage;
	Handle handle;
	CHECK(c_connect(handle.client, goesLive, &stage) == 0);
	CHECK(stage.removed.contains("nvmeof0c1"));
}

TEST_CASE("a C program waits for a connect, and does not wait for a disconnect", "[c]")
{
	Stage stage;
	Handle handle;
	stage.kernel.on(NVMEOF_CMD_CTRL_NEW, [&](const Asked &asked) {
		auto object = controllerOf("nvmeof0c1", NVMEOF_CTRL_LIVE);
		stage.kernel.controllers["nvmeof0c1"] = object;
		stage.kernel.data(asked, NVMEOF_CMD_CTRL_NEW, *object);
		stage.kernel.acknowledge(asked);
	});
	CHECK(c_at_once(handle.client) == 0);
	CHECK(stage.removed.contains("nvmeof0c1"));
}

TEST_CASE("a C program reads an entry of a discovery log", "[c]")
{
	nvmeof::DiscoveryEntry entry;
	entry.kind = nvmeof::EntryKind::subsystem;
	entry.transport = "tcp";
	entry.traddr = "10.0.0.1";
	entry.subsysnqn = "nqn.test";
	entry.portId = 7;
	entry.defect = "none";
	auto item = nofctl::itemOf(entry);
	std::uint64_t number = 0;
	CHECK(nvmeof_item_kind(&item) == NVMEOF_DISCOVERY_ENTRY);
	CHECK(nvmeof_item_text(&item, "kind") == std::string("subsystem"));
	CHECK(nvmeof_item_text(&item, "transport") == std::string("tcp"));
	CHECK(nvmeof_item_text(&item, "traddr") == std::string("10.0.0.1"));
	CHECK(nvmeof_item_text(&item, "nqn") == std::string("nqn.test"));
	CHECK(nvmeof_item_text(&item, "defect") == std::string("none"));
	CHECK((nvmeof_item_number(&item, "port_id", &number) == 0 && number == 7));
}

TEST_CASE("a C program rescans and resets a controller", "[c]")
{
	Stage stage;
	Handle handle;
	goesLive(&stage);
	stage.kernel.on(NVMEOF_CMD_CTRL_RESCAN, [&](const Asked &asked) {
		bool there = stage.kernel.controllers.contains(asked.text(NVMEOF_A_CTRL_NAME));
		stage.kernel.fail(asked, there ? 0 : ENODEV);
	});
	stage.kernel.on(NVMEOF_CMD_CTRL_RESET, [&](const Asked &asked) {
		std::string name = asked.text(NVMEOF_A_CTRL_NAME);
		if (!stage.kernel.controllers.contains(name))
			return stage.kernel.fail(asked, ENODEV);
		stage.kernel.controllers[name] = controllerOf(name.c_str(), NVMEOF_CTRL_CONNECTING);
		stage.kernel.acknowledge(asked);
	});
	CHECK(c_again(handle.client, goesLive, &stage) == 0);
	CHECK(stage.kernel.count(NVMEOF_CMD_CTRL_RESCAN) == 3);
	CHECK(stage.removed.empty());
}

TEST_CASE("a C program reads a discovery log and leaves no controller behind", "[c]")
{
	Stage stage;
	Handle handle;
	CHECK(c_discover(handle.client) == 0);
	CHECK(stage.made == 2);
	CHECK(stage.kernel.controllers.empty());
}

TEST_CASE("a C program lists objects and receives events and errors", "[c]")
{
	Stage stage;
	Handle handle;
	CHECK(c_errors(handle.client) == 0);
	goesLive(&stage);
	CHECK(c_list(handle.client) == 0);
	CHECK(c_events(
		      [](void *context) {
			      static_cast<Stage *>(context)->live("nvmeof0c1", 1);
			      return 0;
		      },
		      &stage) == 0);
}

TEST_CASE("a C program that frees a pending connect undoes it", "[c]")
{
	Stage stage;
	Handle handle;
	nvmeof_options *options = nvmeof_options_new();
	for (auto [name, value] :
	     {std::pair("traddr", "10.0.0.1"), std::pair("nqn", "nqn.test"), std::pair("hostnqn", "nqn.host"),
	      std::pair("hostid", "12345678-9abc-4def-8123-456789abcdef")})
		REQUIRE(nvmeof_options_set(options, name, value, nullptr) == NVMEOF_OK);
	nvmeof_pending_free(nvmeof_start_connect(handle.client, options, NVMEOF_WAIT_CONTROLLER, -1));
	nvmeof_options_free(options);
	CHECK(stage.removed.contains("nvmeof0c1"));
}

namespace {

struct CallOutcome {
	nvmeof_code code = NVMEOF_OK;
	int sysErrno = 0;

	void take(nvmeof_code got, nvmeof_error *error)
	{
		code = got;
		sysErrno = error ? nvmeof_error_errno(error) : 0;
		nvmeof_error_free(error);
	}
};

// Runs @call once for each of its allocations, which then fails, and once without a failure. Returns the number of
// allocations.
template <typename F> unsigned eachAllocationFails(F call)
{
	for (unsigned n = 1;; n++) {
		CallOutcome outcome;
		MemoryFault::at(n);
		call(outcome);
		const bool struck = MemoryFault::end();
		CAPTURE(n, struck, outcome.code, outcome.sysErrno);
		if (!struck) {
			CHECK(outcome.code == NVMEOF_OK);
			return n - 1;
		}
		// a call may succeed without optional allocations
		if (outcome.code != NVMEOF_OK)
			CHECK((outcome.code == NVMEOF_FAILED && outcome.sysErrno == ENOMEM));
	}
}

nvmeof_options *someOptions()
{
	nvmeof_options *options = nvmeof_options_new();
	for (auto [name, value] :
	     {std::pair("traddr", "10.0.0.1"), std::pair("nqn", "nqn.test"), std::pair("hostnqn", "nqn.host"),
	      std::pair("hostid", "12345678-9abc-4def-8123-456789abcdef")})
		REQUIRE(nvmeof_options_set(options, name, value, nullptr) == NVMEOF_OK);
	return options;
}

} // namespace

TEST_CASE("no exception leaves the C interface when memory runs out", "[c]")
{
	Stage stage;
	goesLive(&stage);
	stage.kernel.subsystems["nvmeof0"] = subsystemOf("nvmeof0");
	CHECK(eachAllocationFails([](CallOutcome &outcome) {
		      nvmeof_client *client = nullptr;
		      nvmeof_error *error = nullptr;
		      nvmeof_code code = nvmeof_client_open(nullptr, &client, &error);
		      outcome.take(code, error);
		      if (code == NVMEOF_OK)
			      nvmeof_client_free(client);
	      }) > 5);
	Handle handle;
	for (nvmeof_kind kind : {NVMEOF_SUBSYSTEM, NVMEOF_CONTROLLER, NVMEOF_NAMESPACE, NVMEOF_PATH})
		CHECK(eachAllocationFails([&](CallOutcome &outcome) {
			      nvmeof_items *items = nullptr;
			      nvmeof_error *error = nullptr;
			      nvmeof_code code = nvmeof_list(handle.client, kind, &items, &error);
			      outcome.take(code, error);
			      nvmeof_items_free(items);
		      }) > 5);
	CHECK(eachAllocationFails([](CallOutcome &outcome) {
		      nvmeof_options *options = nvmeof_options_new();
		      nvmeof_error *error = nullptr;
		      nvmeof_code code =
			      options ? nvmeof_options_set(options, "nqn", "nqn.2024-01.com.example:one", &error)
				      : NVMEOF_OK;
		      outcome.take(code, error);
		      nvmeof_options_free(options);
	      }) > 1);
	CHECK(eachAllocationFails([&](CallOutcome &outcome) {
		      nvmeof_error *error = nullptr;
		      nvmeof_events *events = nullptr;
		      nvmeof_item *item = nullptr;
		      nvmeof_code code = nvmeof_events_open(1, &events, &error);
		      if (code == NVMEOF_OK)
			      code = nvmeof_events_next(events, 0, &item, &error);
		      outcome.take(code, error);
		      nvmeof_item_free(item);
		      nvmeof_events_free(events);
	      }) > 5);
}

TEST_CASE("a connect continues after a short lack of memory", "[c]")
{
	Stage stage;
	Handle handle;
	nvmeof_options *options = someOptions();
	unsigned never = 0;
	const unsigned allocations = eachAllocationFails([&](CallOutcome &outcome) {
		nvmeof_pending *pending = nvmeof_start_connect(handle.client, options, NVMEOF_WAIT_CONTROLLER, 5000);
		if (!pending)
			return;
		if (!stage.kernel.controllers.empty()) {
			MemoryFault::NoFaultScope spared;
			stage.live(stage.kernel.controllers.begin()->first.c_str(), 1);
		}
		for (int i = 0; i < 20 && !nvmeof_pending_ready(pending); i++)
			nvmeof_client_dispatch(handle.client);
		never += !nvmeof_pending_ready(pending);
		nvmeof_item *item = nullptr;
		nvmeof_error *error = nullptr;
		if (nvmeof_pending_ready(pending)) {
			nvmeof_code code = nvmeof_pending_take(pending, &item, &error);
			outcome.take(code, error);
		}
		nvmeof_item_free(item);
		nvmeof_pending_free(pending);
		for (int i = 0; i < 5; i++)
			nvmeof_client_dispatch(handle.client);
		MemoryFault::NoFaultScope spared;
		stage.kernel.controllers.clear();
	});
	CHECK(allocations > 50);
	CHECK(never == 0);
	nvmeof_options_free(options);
}

TEST_CASE("a callback or job that throws affects neither other callbacks nor the process", "[c]")
{
	using namespace nvmeof;
	FakeKernel kernel;
	Result<std::unique_ptr<nofctl::Engine>> engine = nofctl::Engine::open();
	REQUIRE(engine);
	auto job = [&](auto work) {
		return nofctl::startJob<Result<int>>(
			**engine, [work](std::stop_token) -> Result<int> { return work(); }, nofctl::AtEnd::waited);
	};
	auto first = job([] { return 1; }), second = job([] { return 2; });
	auto bad = job([]() -> int { throw std::runtime_error("no"); });
	int called = 0, thrown = 0;
	first.then([&] {
		called++;
		throw std::runtime_error("first");
	});
	second.then([&] { called++; });
	bad.then([&] { called++; });
	for (int i = 0; i < 100 && called < 3; i++) {
		pollfd readable{(*engine)->fd(), POLLIN, 0};
		REQUIRE(::poll(&readable, 1, 5000) == 1);
		try {
			(*engine)->dispatch();
		} catch (const std::runtime_error &) {
			thrown++;
		}
	}
	CHECK(called == 3);
	CHECK(thrown == 1);
	REQUIRE(bad.ready());
	CHECK(bad.take().error().sysErrno == ENOMEM);
}
