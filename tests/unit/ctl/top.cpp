// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <cerrno>
#include <sstream>

#include "kernel.h"
#include "snapshot.h"
#include "when.h"
#include "top_model.h"
#include "top_view.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

// The model after two readings one second apart: 100 I/Os on nvmeof0c1n1, 300 on nvmeof0c2n1, ...
TopModel exampleModel(Snapshot s = exampleSnapshot())
{
	std::vector<Path> before;
	for (const Path &path : s.paths) {
		before.emplace_back();
		before.back().name = path.name;
	}
	Rates rates;
	rates.update(999s, before);
	rates.update(1000s, s.paths);
	TopModel model = topModel(s, rates);
	model.host = "here";
	model.clock = "12:00:00";
	return model;
}

// A kernel with one namespace over one controller
struct TopFixture {
	FakeKernel kernel;

	TopFixture()
	{
		kernel.subsystems["nvmeof0"] = subsystemOf("nvmeof0");
		kernel.controllers["nvmeof0c1"] = controllerOf("nvmeof0c1", NVMEOF_CTRL_LIVE);
		kernel.namespaces["nvmeof0n1"] = namespaceOf("nvmeof0n1", 1);
		count(0);
	}
	void count(std::uint64_t ios)
	{
		auto path = pathOf("nvmeof0c1n1", "nvmeof0c1", "nvmeof0n1", 1);
		path->u64(NVMEOF_A_IOS, ios);
		kernel.paths["nvmeof0c1n1"] = path;
	}
	void controller(nvmeof_event type, const char *name)
	{
		kernel.event(NVMEOF_CMD_CTRL_NTF, type, *controllerOf(name, NVMEOF_CTRL_LIVE));
	}
};

void read(TopSampler &sampler)
{
	sampler.tick();
	sampler.wait(1s);
	CHECK_FALSE(sampler.pending());
}

std::string text(const std::vector<TopLine> &lines)
{
	std::string all;
	for (const TopLine &line : lines)
		all += plain(line) + "\n";
	return all;
}

bool screenHas(const std::string &text, const std::string &part)
{
	return text.find(part) != text.npos;
}

// The line that begins with this word, or contains it.
std::string lineOf(const std::string &text, const std::string &word)
{
	std::istringstream lines(text);
	for (std::string line; std::getline(lines, line);)
		if (screenHas(line, word))
			return line;
	return "";
}

std::vector<std::string> order(const std::string &text)
{
	std::vector<std::string> names;
	std::istringstream words(text);
	for (std::string word; words >> word;)
		if (word.starts_with("nvmeof0c") || word.starts_with("nvmeof1c"))
			names.push_back(word);
	return names;
}

constexpr TopSize wide{160, 40};

Tone toneOf(const std::vector<TopLine> &lines, const std::string &cell)
{
	for (const TopLine &line : lines)
		for (const TopSpan &span : line)
			if (screenHas(span.text, cell))
				return span.tone;
	return Tone::title;
}

} // namespace

TEST_CASE("a frame shows each path with its rates", "[top]")
{
	Snapshot s = exampleSnapshot();
	s.paths[0].inflight = 9;
	s.paths[0].failoversFrom = 3;
	s.paths[0].failoversTo = 4;
	s.namespaces[0].waiting = 5;
	s.namespaces[0].held = 6;
	TopView view;
	std::string frame = text(view.draw(exampleModel(s), wide));
	INFO(frame);
	CHECK(screenHas(frame, "nvmeofctl top - here 12:00:00, 1.0 s"));
	CHECK(screenHas(frame, "2 subsystems, 3 controllers (3 live), 3 namespaces, 5 paths (5 usable)"));
	CHECK(screenHas(frame, "total: 427 IOPS, read 1.7 MB/s, write 0.0 MB/s"));
	CHECK(screenHas(frame, "5 waiting, 6 held"));
	std::string line = lineOf(frame, "nvmeof0c1n1");
	for (const char *part :
	     {"nvmeof0n1", "10.0.0.1:4420", "live", "optimized", " 100 ", " 0.4 ", " us", " 9 ", "5/6", "3/4"})
		CHECK(screenHas(line, part));
	CHECK(screenHas(lineOf(frame, "nvmeof0c2n1"), "[fd00::2]:4420"));
	CHECK(screenHas(lineOf(frame, "nvmeof0c2n2"), " - ")); // without I/O no latency is shown
	CHECK(screenHas(frame, "q quit"));
}

TEST_CASE("a disk without a usable path shows for how long", "[top]")
{
	Snapshot s = exampleSnapshot();
	s.namespaces[0].noPathSince = 0ns;
	s.time = 88s;
	TopModel model = exampleModel(s);
	TopView view;
	view.key(TopKey::table);
	std::vector<TopLine> frame = view.draw(model, wide);
	INFO(text(frame));
	CHECK(screenHas(text(frame), "NO PATH"));
	CHECK(screenHas(lineOf(text(frame), "nvmeof0n1"), " " + formatAge(88s) + " "));
	CHECK(toneOf(frame, formatAge(88s)) == Tone::bad);
	CHECK(screenHas(lineOf(text(frame), "nvmeof0n2"), " - "));
	CHECK(toJson(model)["namespaces"][0]["no_path_since_ns"] == 0);
	CHECK_FALSE(toJson(model)["namespaces"][1].contains("no_path_since_ns"));
}

TEST_CASE("before the second reading no rates are shown", "[top]")
{
	Rates rates;
	Snapshot s = exampleSnapshot();
	rates.update(1s, s.paths);
	TopView view;
	std::string frame = text(view.draw(topModel(s, rates), wide));
	INFO(frame);
	CHECK_FALSE(screenHas(frame, "IOPS,"));
	CHECK(screenHas(lineOf(frame, "nvmeof0c1n1"), " - "));
}

TEST_CASE("states are coloured", "[top]")
{
	Snapshot s = exampleSnapshot();
	s.paths[0].controllerState = ControllerState::connecting;
	s.paths[1].controllerState = ControllerState::recovering;
	s.paths[3].anaState = AnaState::inaccessible;
	s.paths[2].degraded = true;
	s.paths[2].anaState = AnaState::nonOptimized;
	s.namespaces[0].waiting = 1;
	TopView view;
	std::vector<TopLine> frame = view.draw(exampleModel(s), wide);
	CHECK(toneOf(frame, "connecting") == Tone::warning);
	CHECK(toneOf(frame, "recovering") == Tone::bad);
	CHECK(toneOf(frame, "inaccessible") == Tone::bad);
	CHECK(toneOf(frame, "degraded") == Tone::warning);
	CHECK(toneOf(frame, "non-optimized") == Tone::warning);
	CHECK(toneOf(frame, "live ") == Tone::good);
	CHECK(toneOf(frame, "1/0") == Tone::warning);
}

TEST_CASE("a path whose controller is not live has no current ANA state", "[top]")
{
	Snapshot s = exampleSnapshot();
	s.paths[0].controllerState = ControllerState::connecting;
	const TopModel model = exampleModel(s);
	TopView view;
	const std::string frame = text(view.draw(model, wide));
	INFO(frame);
	CHECK_FALSE(screenHas(lineOf(frame, "nvmeof0c1n1"), "optimized"));
	CHECK(toJson(model)["paths"][0]["ana_state"] == "optimized"); // the last state that was reported
}

TEST_CASE("rows are sorted by the selected column", "[top]")
{
	using Names = std::vector<std::string>;
	Snapshot s = exampleSnapshot();
	TopView view;
	auto now = [&] { return order(text(view.draw(exampleModel(s), wide))); };
	Names byName{"nvmeof0c1n1", "nvmeof0c2n1", "nvmeof0c1n2", "nvmeof0c2n2", "nvmeof1c1n1"};
	CHECK(now() == byName);
	CHECK(view.key(TopKey::reverse));
	CHECK(now() == Names{"nvmeof1c1n1", "nvmeof0c1n2", "nvmeof0c2n2", "nvmeof0c1n1", "nvmeof0c2n1"});
	for (int i = 0; i < 5; i++) // selects IOPS
		view.key(TopKey::sort);
	Names byRate{"nvmeof0c2n1", "nvmeof0c1n1", "nvmeof0c1n2", "nvmeof1c1n1", "nvmeof0c2n2"};
	CHECK(now() == byRate);
	view.key(TopKey::reverse);
	CHECK(now() == Names(byRate.rbegin(), byRate.rend()));
	for (std::size_t i = 5; i < columnsOf(TopTable::paths).size(); i++) // selects the first column again
		view.key(TopKey::sort);
	CHECK(now() == byName);
	CHECK(naturalLess("nvmeof0n2", "nvmeof0n10"));
	CHECK_FALSE(naturalLess("nvmeof0n10", "nvmeof0n2"));
	CHECK_FALSE(naturalLess("a01b", "a1b"));
	CHECK(naturalLess("a1", "a1b"));
	CHECK_FALSE(naturalLess("a", "a"));
}

TEST_CASE("the table of namespaces sums their paths", "[top]")
{
	Snapshot s = exampleSnapshot();
	s.paths[2].usable = false;
	TopView view;
	view.key(TopKey::table);
	std::string frame = text(view.draw(exampleModel(s), wide));
	INFO(frame);
	CHECK(screenHas(lineOf(frame, "nvmeof0n1"), " 400 "));
	CHECK(screenHas(lineOf(frame, "nvmeof0n1"), "1/2"));
	CHECK(screenHas(lineOf(frame, "nvmeof0n1"), "1.00 GB"));
	CHECK(screenHas(frame, "n paths"));
	CHECK_FALSE(screenHas(frame, "nvmeof0c1n1"));
	view.key(TopKey::table);
	CHECK(screenHas(text(view.draw(exampleModel(s), wide)), "nvmeof0c1n1"));
}

TEST_CASE("scrolling stays within the rows, also when rows disappear", "[top]")
{
	Snapshot s = exampleSnapshot();
	s.paths.clear();
	for (std::uint32_t nsid = 1; nsid <= 50; nsid++)
		s.paths.push_back(pathOf(s.controllers[0], nsid, nsid));
	TopView view;
	TopSize size{160, 16}; // room for 10 rows
	auto shown = [&] { return order(text(view.draw(exampleModel(s), size))); };
	REQUIRE(shown().size() == 10);
	CHECK(shown().front() == "nvmeof0c1n1");
	view.key(TopKey::up);
	CHECK(shown().front() == "nvmeof0c1n1");
	view.key(TopKey::down);
	CHECK(shown().front() == "nvmeof0c1n2");
	view.key(TopKey::pageDown);
	CHECK(shown().front() == "nvmeof0c1n12");
	CHECK(screenHas(text(view.draw(exampleModel(s), size)), "(12-21 of 50)"));
	view.key(TopKey::pageUp);
	CHECK(shown().front() == "nvmeof0c1n2");
	view.key(TopKey::end);
	CHECK(shown().back() == "nvmeof0c1n50");
	CHECK(shown().size() == 10);
	view.key(TopKey::down);
	CHECK(shown().front() == "nvmeof0c1n41");
	s.paths.resize(3);
	CHECK(shown() == std::vector<std::string>{"nvmeof0c1n1", "nvmeof0c1n2", "nvmeof0c1n3"});
	view.key(TopKey::home);
	CHECK(shown().size() == 3);
	s.paths.clear();
	CHECK(shown().empty());
}

TEST_CASE("a frame fits any terminal", "[top]")
{
	TopView view;
	TopModel model = exampleModel();
	TopModel broken;
	broken.error = errorFromErrno(ENODEV, "the kernel module is not there, and this is a long line about it");
	for (TopSize size : {TopSize{80, 24}, TopSize{40, 10}, TopSize{20, 6}, TopSize{10, 4}, TopSize{5, 3},
			     TopSize{1, 2}, TopSize{1, 1}, TopSize{0, 0}}) {
		for (const TopModel *one : {&model, &broken}) {
			std::vector<TopLine> frame = view.draw(*one, size);
			CHECK(frame.size() <= size.lines);
			for (const TopLine &line : frame)
				CHECK(plain(line).size() <= size.columns);
		}
	}
	std::string narrow = text(view.draw(model, {80, 24})); // a narrow terminal shows the important columns
	INFO(narrow);
	for (const char *title : {"PATH", "STATE", "ANA", "IOPS", "R MB/s", "p99"})
		CHECK(screenHas(narrow, title));
	CHECK_FALSE(screenHas(narrow, "ADDRESS"));
}

TEST_CASE("a path that was slow in the last interval is marked", "[top]")
{
	Snapshot s = exampleSnapshot();
	s.paths[0].readLatency = {};
	s.paths[0].readLatency[14] = 100;
	TopModel model = exampleModel(s);
	REQUIRE(model.paths[0].path == "nvmeof0c1n1");
	CHECK(model.paths[0].slow);
	CHECK(model.paths[0].stateTone == Tone::warning);
	CHECK_FALSE(model.paths[2].slow); // nvmeof0c2n1, the fast one
	TopView view;
	CHECK(screenHas(lineOf(view.batch(model), "nvmeof0c1n1"), " slow "));
	CHECK(screenHas(lineOf(view.batch(model), "nvmeof0c2n1"), " live "));
	CHECK(toJson(model)["paths"][0]["slow"] == true);
	CHECK(toJson(model)["paths"][0]["state"] == "live");
	CHECK_FALSE(toJson(model)["paths"][2].contains("slow"));
	s.paths[0].anaState = AnaState::nonOptimized; // slower by design
	CHECK_FALSE(exampleModel(s).paths[0].slow);
}

TEST_CASE("without the module a message is shown, and no table", "[top]")
{
	TopModel gone;
	gone.host = "here";
	gone.error = errorFromErrno(EPERM, "not loaded\x1b[2J");
	TopView view;
	std::string frame = text(view.draw(gone, wide));
	CHECK(screenHas(frame, "not loaded?[2J"));
	CHECK(screenHas(frame, "retrying"));
	CHECK_FALSE(screenHas(frame, "STATE"));
	CHECK(screenHas(view.batch(gone), "not loaded"));
	CHECK(toJson(gone)["error"]["message"] == "not loaded\x1b[2J");
	CHECK(toJson(gone)["error"]["exit_code"] == 7);
}

TEST_CASE("a missing object is reported until it appears", "[top]")
{
	TopFixture plant;
	TopSampler sampler("nvmeof0c2");
	for (int i = 0; i < 2; i++) {
		read(sampler);
		CHECK(sampler.model().error->message ==
		      "there is no 'nvmeof0c2' yet: 'nvmeofctl list-subsys' lists the existing objects");
		CHECK(sampler.exitCode() == 3);
	}
	CHECK(screenHas(TopView().batch(sampler.model()), "there is no 'nvmeof0c2' yet"));
	CHECK(toJson(sampler.model()).contains("error"));
	plant.controller(NVMEOF_EVENT_ADDED, "nvmeof0c2");
	CHECK(sampler.dispatch());
	CHECK_FALSE(sampler.model().error);
	CHECK(sampler.model().controllers == 1);
	CHECK(screenHas(sampler.model().event, "nvmeof0c2 added"));
	CHECK(sampler.exitCode() == 0);
	plant.controller(NVMEOF_EVENT_REMOVED, "nvmeof0c2");
	CHECK(sampler.dispatch());
	CHECK(screenHas(sampler.model().error->message, "yet"));
	CHECK(sampler.exitCode() == 0); // the object has existed
}

TEST_CASE("a failed reading is shown, and the exit code is that of the last one", "[top]")
{
	TopFixture plant;
	TopSampler sampler("");
	read(sampler);
	CHECK(sampler.exitCode() == 0); // nothing is connected, and no object was named
	plant.kernel.on(NVMEOF_CMD_PATH_GET,
			[&](const Asked &asked) { plant.kernel.fail(asked, EPERM, "not for you"); });
	read(sampler);
	CHECK(sampler.model().error->message == "not for you (run it as root)");
	CHECK(sampler.exitCode() == 7);
	CHECK(sampler.fd() == -1);
	plant.kernel.on(NVMEOF_CMD_PATH_GET, [&](const Asked &asked) { plant.kernel.done(asked); });
	read(sampler);
	CHECK(sampler.exitCode() == 0);
}

TEST_CASE("each tick reads namespaces and paths, and two ticks give rates", "[top]")
{
	TopFixture plant;
	TopSampler sampler("");
	plant.count(100);
	read(sampler);
	CHECK(sampler.model().paths.size() == 1);
	CHECK_FALSE(sampler.model().paths[0].rate);
	std::size_t asked = plant.kernel.asked().size();
	plant.count(1100);
	read(sampler);
	CHECK(plant.kernel.asked().size() == asked + 2);
	REQUIRE(sampler.model().paths[0].rate);
	double seconds = std::chrono::duration<double>(sampler.model().interval).count();
	CHECK(sampler.model().paths[0].rate->ios * seconds == Approx(1000));
	auto interval = sampler.model().interval;
	sampler.refresh();
	sampler.wait(1s);
	CHECK(sampler.model().interval == interval);
	CHECK(plant.kernel.count(NVMEOF_CMD_SUBSYS_GET) == 1);
	CHECK(plant.kernel.count(NVMEOF_CMD_CTRL_GET) == 1);
}

TEST_CASE("keys change the view", "[top]")
{
	TopView view;
	CHECK_FALSE(view.key(TopKey::quit));
	CHECK_FALSE(view.paused());
	CHECK(view.key(TopKey::pause));
	CHECK(view.paused());
	CHECK(screenHas(text(view.draw(exampleModel(), wide)), "paused"));
	CHECK(view.key(TopKey::pause));
	CHECK_FALSE(view.paused());
	CHECK(view.key(TopKey::none));
	CHECK(view.key(TopKey::redraw));
}

TEST_CASE("frames for files and programs are plain text and JSON", "[top]")
{
	TopView view;
	std::string frame = view.batch(exampleModel());
	INFO(frame);
	CHECK(order(frame).size() == 5);
	CHECK(screenHas(frame, "FROM/TO"));
	CHECK_FALSE(screenHas(frame, "q quit"));
	CHECK(frame.ends_with("\n\n"));
	Json json = toJson(exampleModel());
	CHECK(json["interval_ns"] == 1000000000);
	CHECK(json["totals"]["iops"] == Approx(427));
	REQUIRE(json["paths"].size() == 5);
	CHECK(json["paths"][0]["name"] == "nvmeof0c1n1");
	CHECK(json["paths"][0]["namespace"] == "nvmeof0n1");
	CHECK(json["paths"][0]["iops"] == Approx(100));
	CHECK(json["paths"][0]["p50_ns"] > 65536);
	CHECK_FALSE(json["paths"][3].contains("p50_ns"));
	CHECK(json["namespaces"][0]["name"] == "nvmeof0n1");
	CHECK(json["namespaces"][0]["nr_usable"] == 2);
}
