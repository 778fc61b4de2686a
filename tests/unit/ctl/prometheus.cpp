// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include "tests/unit/exposition_checker.h"
#include "snapshot.h"
#include "lost.h"
#include "prometheus.h"
#include "libctl/runtime/exposition.h"

using namespace nvmeof;
using runtime::exactNumber;
using runtime::Exposition;
using namespace std::chrono_literals;

namespace {

using Names = std::vector<std::string>;

ExpositionChecker::Labels pathNamed(const std::string &name, ExpositionChecker::Labels more = {})
{
	more["path"] = name;
	return more;
}

bool complains(const std::string &text, const std::string &about)
{
	ExpositionChecker read(text);
	for (const std::string &problem : read.problems())
		if (problem.find(about) != problem.npos)
			return true;
	return false;
}

std::string family(const std::string &type, const std::string &name, const std::string &samples)
{
	return "# HELP " + name + " Help.\n# TYPE " + name + " " + type + "\n" + samples;
}

} // namespace

TEST_CASE("metrics of a snapshot have the right names and values", "[prometheus]")
{
	Snapshot s = exampleSnapshot();
	s.paths[0].failoversFrom = 3;
	s.paths[0].inflight = 12;
	s.paths[0].anaState = AnaState::nonOptimized;
	s.paths[0].anaSince = 900s;
	s.paths[0].readLatency = {};
	s.paths[0].readLatency[0] = 5;
	s.paths[0].readLatency[2] = 7;
	s.paths[0].readLatency[23] = 1;
	s.paths[0].readLatencyTotal = 5s;
	s.controllers[1].state = ControllerState::connecting;
	s.controllers[1].reconnects = 4;
	s.namespaces[0].waiting = 2;
	s.namespaces[0].held = 8;
	s.namespaces[0].livePaths = 0;
	s.namespaces[0].expectedPaths = 2;
	s.namespaces[0].openers = 1;
	s.namespaces[0].noPathSince = 987500ms;
	s.controllers[0].authentication = Authentication{"SHA-512", "ffdhe8192", false, 800s};
	s.controllers[0].authKey = AuthKey{18, 700s, "nvmeof:dhchap:host:nqn.h:*"};
	s.controllers[0].authRequired = true;
	s.controllers[0].tls = Tls{"AES-GCM-256", 17, 17, "NVMe0R02 nqn.h nqn.a", 600s, 810s};
	std::string text = prometheusText(s, {.bootOffset = 1700000000s, .node = {}, .lost = {}});
	INFO(text);
	ExpositionChecker read(text);
	CHECK(read.problems() == Names{});
	CHECK(read.value("nvmeof_path_ios_total", pathNamed("nvmeof0c1n1")) == 100);
	CHECK(read.value("nvmeof_path_ios_total", {{"subsystem", "nvmeof0"},
						   {"nqn", "nqn.a"},
						   {"namespace", "nvmeof0n1"},
						   {"path", "nvmeof0c2n1"},
						   {"controller", "nvmeof0c2"},
						   {"transport", "tcp"},
						   {"traddr", "fd00::2"},
						   {"trsvcid", "4420"}}) == 300);
	CHECK(read.value("nvmeof_path_read_bytes_total", pathNamed("nvmeof0c1n1")) == 409600);
	CHECK(read.value("nvmeof_path_failovers_from_total", pathNamed("nvmeof0c1n1")) == 3);
	CHECK(read.value("nvmeof_path_inflight_requests", pathNamed("nvmeof0c1n1")) == 12);
	CHECK(read.value("nvmeof_path_ana_state", pathNamed("nvmeof0c1n1", {{"state", "non-optimized"}})) == 1);
	CHECK(read.value("nvmeof_path_ana_state", pathNamed("nvmeof0c1n1", {{"state", "optimized"}})) == 0);
	CHECK(read.value("nvmeof_path_ana_change_timestamp_seconds", pathNamed("nvmeof0c1n1")) == 1700000900);
	CHECK_FALSE(read.value("nvmeof_path_ana_change_timestamp_seconds", pathNamed("nvmeof0c2n1")));
	CHECK(read.value("nvmeof_controller_authenticated", {{"controller", "nvmeof0c1"}}) == 1);
	CHECK(read.value("nvmeof_controller_authenticated", {{"controller", "nvmeof0c2"}}) == 0);
	CHECK(read.value("nvmeof_controller_authentication_info", {{"controller", "nvmeof0c1"},
								   {"hash", "SHA-512"},
								   {"dh_group", "ffdhe8192"},
								   {"mutual", "no"}}) == 1);
	CHECK(read.value("nvmeof_controller_tls_info", {{"controller", "nvmeof0c1"},
							{"cipher", "AES-GCM-256"},
							{"identity", "NVMe0R02 nqn.h nqn.a"},
							{"key_source", "configured"}}) == 1);
	CHECK_FALSE(read.value("nvmeof_controller_tls_info", {{"controller", "nvmeof0c2"}}));
	for (const auto &[name, time] : {std::pair{"authentication_key", 700}, {"tls_key", 600}, {"tls", 810}}) {
		const std::string metric = std::string("nvmeof_controller_") + name + "_timestamp_seconds";
		CHECK(read.value(metric, {{"controller", "nvmeof0c1"}}) == 1700000000 + time);
		CHECK_FALSE(read.value(metric, {{"controller", "nvmeof0c2"}}));
	}
	CHECK(read.value("nvmeof_controller_authentication_required", {{"controller", "nvmeof0c1"}}) == 1);
	CHECK_FALSE(read.value("nvmeof_controller_authentication_required", {{"controller", "nvmeof0c2"}}));
	CHECK(read.value("nvmeof_controller_authentication_timestamp_seconds", {{"controller", "nvmeof0c1"}}) ==
	      1700000800);
	CHECK(read.value("nvmeof_controller_state", {{"controller", "nvmeof0c2"}, {"state", "connecting"}}) == 1);
	CHECK(read.value("nvmeof_controller_state", {{"controller", "nvmeof0c2"}, {"state", "live"}}) == 0);
	CHECK(read.value("nvmeof_controller_reconnects_total", {{"controller", "nvmeof0c2"}}) == 4);
	CHECK(read.value("nvmeof_namespace_waiting_requests", {{"namespace", "nvmeof0n1"}}) == 2);
	CHECK(read.value("nvmeof_namespace_held_requests", {{"namespace", "nvmeof0n1"}}) == 8);
	CHECK(read.value("nvmeof_namespace_live_paths", {{"namespace", "nvmeof0n1"}}) == 0);
	CHECK(read.value("nvmeof_namespace_expected_paths", {{"namespace", "nvmeof0n1"}}) == 2);
	CHECK(read.value("nvmeof_namespace_openers", {{"namespace", "nvmeof0n1"}}) == 1);
	CHECK(read.value("nvmeof_namespace_generic_only", {{"namespace", "nvmeof0n1"}}) == 0);
	CHECK(read.value("nvmeof_namespace_no_path_seconds", {{"namespace", "nvmeof0n1"}}) == 12.5);
	CHECK(read.value("nvmeof_namespace_no_path_seconds", {{"namespace", "nvmeof0n2"}}) == 0);
	CHECK(read.value("nvmeof_subsystem_info", {{"nqn", "nqn.a"}, {"iopolicy", "latency"}}) == 1);
	auto bucket = [&](const char *le) {
		return read.value("nvmeof_path_latency_seconds_bucket",
				  pathNamed("nvmeof0c1n1", {{"op", "read"}, {"le", le}}));
	};
	CHECK(bucket("1.024e-06") == 5);
	CHECK(bucket("2.048e-06") == 5);
	CHECK(bucket("4.096e-06") == 12);
	CHECK(bucket("4.294967296") == 12);
	CHECK(bucket("+Inf") == 13);
	CHECK(read.value("nvmeof_path_latency_seconds_count", pathNamed("nvmeof0c1n1", {{"op", "read"}})) == 13);
	CHECK(read.value("nvmeof_path_latency_seconds_sum", pathNamed("nvmeof0c1n1", {{"op", "read"}})) == 5);
	CHECK(read.value("nvmeof_path_latency_seconds_count", pathNamed("nvmeof0c1n1", {{"op", "write"}})) == 0);
}

TEST_CASE("latencies without histograms keep names and type", "[prometheus]")
{
	Snapshot s = exampleSnapshot();
	s.paths[0].readLatency = {};
	s.paths[0].readLatency[0] = 5;
	s.paths[0].readLatency[23] = 1;
	s.paths[0].readLatencyTotal = 5s;
	const PrometheusOptions without{.bootOffset = {}, .histograms = false, .node = {}, .lost = {}};
	const std::string text = prometheusText(s, without);
	INFO(text);
	ExpositionChecker read(text);
	CHECK(read.problems() == Names{});
	CHECK(text.find("# TYPE nvmeof_path_latency_seconds histogram\n") != text.npos);
	CHECK(text.find("le=\"0.0") == text.npos);
	CHECK(read.value("nvmeof_path_latency_seconds_bucket",
			 pathNamed("nvmeof0c1n1", {{"op", "read"}, {"le", "+Inf"}})) == 6);
	CHECK(read.value("nvmeof_path_latency_seconds_count", pathNamed("nvmeof0c1n1", {{"op", "read"}})) == 6);
	CHECK(read.value("nvmeof_path_latency_seconds_sum", pathNamed("nvmeof0c1n1", {{"op", "read"}})) == 5);
	Snapshot one;
	one.subsystems = {s.subsystems[0]};
	one.controllers = {s.controllers[0], s.controllers[1]};
	one.namespaces = {s.namespaces[0]};
	one.paths = {s.paths[0], s.paths[1]};
	for (Path &path : one.paths)
		path.anaSince = 1s;
	auto series = [](const std::string &metrics) {
		std::size_t lines = 0, comments = 0;
		for (std::size_t at = 0; at < metrics.size(); at = metrics.find('\n', at) + 1, lines++)
			comments += metrics[at] == '#';
		return lines - comments;
	};
	// the numbers that operations.md and CHANGELOG.md state
	CHECK(series(prometheusText(one, without)) == 86);
	CHECK(series(prometheusText(one, {})) == 178);
}

TEST_CASE("metrics of the machine have the right values", "[prometheus]")
{
	PrometheusOptions options;
	options.node = {"0.1.0", "0.0.9", {"reload_needed", "tool_differs", "reload_needed"}, true, false};
	ExpositionChecker read(prometheusText(Snapshot(), options));
	CHECK(read.problems() == Names{});
	CHECK(read.value("nvmeof_build_info", {{"version", "0.1.0"}, {"module_version", "0.0.9"}}) == 1);
	CHECK(read.value("nvmeof_build_findings", {}) == 3);
	CHECK(read.value("nvmeof_build_finding_info", {{"finding", "reload_needed"}}) == 1);
	CHECK(read.value("nvmeof_daemon_up", {}) == 1);
	CHECK(read.value("nvmeof_daemon_enabled", {}) == 0);
	options.node->daemonRuns = std::nullopt; // systemd could not be asked
	CHECK_FALSE(ExpositionChecker(prometheusText(Snapshot(), options)).value("nvmeof_daemon_up", {}));
}

TEST_CASE("a disk that is lost stays in the metrics until its subsystem is disconnected", "[prometheus]")
{
	Snapshot s = exampleSnapshot();
	for (Controller &one : s.controllers)
		one.subsysnqn = s.subsystems[0].nqn;
	s.subsystems[0].nqn += "\"\\\n"; // characters that a target may use
	for (Controller &one : s.controllers)
		one.subsysnqn = s.subsystems[0].nqn;
	std::erase_if(s.namespaces, [&](const Namespace &one) { return one.subsystem != s.subsystems[0].id; });
	const std::size_t disks = s.namespaces.size(), paths = s.paths.size();
	auto next = [&](const std::string &before) {
		PrometheusOptions options;
		options.lost = findLost(before, s);
		const std::string text = prometheusText(s, options);
		CHECK(ExpositionChecker(text).problems() == Names{});
		return text;
	};
	auto count = [](const std::string &text, const char *name) {
		return ExpositionChecker(text).value(name, {}).value_or(-1);
	};
	auto lost = [](const std::string &text, const std::string &disk) {
		return ExpositionChecker(text).value("nvmeof_namespace_lost", {{"namespace", disk}}).value_or(0);
	};
	std::string text = next("");
	CHECK(count(text, "nvmeof_namespaces_lost_total") == 0);
	const Snapshot whole = s;
	// reconnecting is no loss yet
	for (Controller &one : s.controllers)
		one.state = ControllerState::connecting;
	text = next(text);
	CHECK(count(text, "nvmeof_namespaces_lost_total") == 0);
	// after ctrl_loss_tmo the kernel has removed the disks
	for (Controller &one : s.controllers)
		one.state = ControllerState::lost;
	s.namespaces.clear();
	s.paths.clear();
	for (int again = 0; again < 3; again++) {
		text = next(text);
		INFO(text);
		CHECK(count(text, "nvmeof_namespaces_lost_total") == static_cast<double>(disks));
		CHECK(count(text, "nvmeof_paths_lost_total") == static_cast<double>(paths));
		CHECK(lost(text, "nvmeof0n1") == 1);
	}
	// the disk returns with another name
	const std::string whileLost = text;
	s = whole;
	s.namespaces[0].name = "nvmeof9n1";
	text = next(text);
	CHECK(lost(text, "nvmeof0n1") == 0);
	CHECK(count(text, "nvmeof_namespaces_lost_total") == static_cast<double>(disks));
	// the subsystem is disconnected
	s = {};
	text = next(whileLost);
	CHECK(lost(text, "nvmeof0n1") == 0);
	CHECK(count(text, "nvmeof_namespaces_lost_total") == static_cast<double>(disks));
	// one path is lost, and the other one disconnected: no loss
	REQUIRE(whole.controllers.size() >= 2);
	s = whole;
	s.controllers[0].state = ControllerState::lost;
	for (std::size_t i = 1; i < s.controllers.size(); i++)
		s.controllers[i].state = ControllerState::live;
	text = next(prometheusText(s, {}));
	s.controllers.resize(1);
	s.namespaces.clear();
	s.paths.clear();
	text = next(text);
	CHECK(count(text, "nvmeof_namespaces_lost_total") == 0);
	CHECK(lost(text, "nvmeof0n1") == 0);
	CHECK(count(next(text), "nvmeof_namespaces_lost_total") == 0);
	// neither a disconnect of a present disk nor its removal by a connected target is a loss
	CHECK(count(next(prometheusText(whole, {})), "nvmeof_namespaces_lost_total") == 0);
	s = whole;
	s.namespaces.clear();
	CHECK(count(next(prometheusText(whole, {})), "nvmeof_namespaces_lost_total") == 0);
}

TEST_CASE("truncated or foreign metrics files are tolerated", "[prometheus]")
{
	const std::string whole = prometheusText(exampleSnapshot(), {});
	for (std::size_t length = 0; length < whole.size(); length += 7)
		(void)findLost(std::string_view(whole).substr(0, length), exampleSnapshot());
	for (const char *text : {"{", "a{", "a{b", "a{b=\"", "a{b=\"\\", "a{b=\"c\"", "a{b=\"c\"}",
				 "nvmeof_namespaces_lost_total x", "nvmeof_namespaces_lost_total", " 1", "#", "\n\n"})
		CHECK(findLost(text, exampleSnapshot()).namespaces.empty());
	CHECK(findLost("nvmeof_namespaces_lost_total 7\nnvmeof_paths_lost_total 9", Snapshot()).pathsTotal == 9);
}

TEST_CASE("text from a target is escaped in metrics", "[prometheus]")
{
	Snapshot s = exampleSnapshot();
	s.subsystems[0].nqn = "a\"b\\c\nd";
	s.subsystems[0].model = "bad\xff\xc0\x80\xed\xa0\x80 good\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 cut\xe2\x82";
	std::string text = prometheusText(s, {});
	INFO(text);
	ExpositionChecker read(text);
	CHECK(read.problems() == Names{});
	CHECK(read.value("nvmeof_subsystem_info", {{"nqn", "a\"b\\c\nd"}}) == 1);
	CHECK(text.find("model=\"bad\xef\xbf\xbd") != text.npos);
	CHECK(text.find("good\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 cut\xef\xbf\xbd\xef\xbf\xbd\"") != text.npos);
}

TEST_CASE("an empty snapshot, or one without some controllers, gives valid metrics", "[prometheus]")
{
	CHECK(prometheusText(Snapshot(), {}).empty()); // an empty file is valid
	Snapshot s = exampleSnapshot();
	s.controllers.erase(s.controllers.begin());
	ExpositionChecker read(prometheusText(s, {}));
	CHECK(read.problems() == Names{});
	CHECK_FALSE(read.value("nvmeof_path_ios_total", pathNamed("nvmeof0c1n1")));
	CHECK(read.value("nvmeof_path_ios_total", pathNamed("nvmeof0c2n1")) == 300);
}

TEST_CASE("numbers of metrics are printed exactly", "[prometheus]")
{
	CHECK(exactNumber(0) == "0");
	CHECK(exactNumber(1.5) == "1.5");
	CHECK(exactNumber(0.001048576) == "0.001048576");
	CHECK(exactNumber(1e300) == "1e+300");
	CHECK(exactNumber(std::numeric_limits<double>::infinity()) == "+Inf");
	CHECK(exactNumber(-std::numeric_limits<double>::infinity()) == "-Inf");
}

// The checker has to detect errors, or the tests above prove nothing.
TEST_CASE("the format checker detects errors", "[prometheus]")
{
	CHECK(ExpositionChecker(family("gauge", "a", "a{x=\"1\"} 2\n")).problems() == Names{});
	CHECK(complains("a 1", "newline"));
	CHECK(complains("a 1\n", "no TYPE"));
	CHECK(complains(family("gauge", "a", "b 1\n"), "not of the family"));
	CHECK(complains(family("gauge", "a", "a 1\na 2\n"), "twice"));
	CHECK(complains(family("gauge", "a", "a{x=\"1\",y=\"2\"} 1\na{y=\"2\",x=\"1\"} 1\n"), "twice"));
	CHECK(complains(family("gauge", "a", "a{x=\"\\t\"} 1\n"), "not a sample"));
	CHECK(complains(family("gauge", "a", "a{x=\"\"\"} 1\n"), "not a sample"));
	CHECK(complains(family("gauge", "a", "a{1x=\"\"} 1\n"), "not a sample"));
	CHECK(complains(family("gauge", "a", "a{__x=\"\"} 1\n"), "not a sample"));
	CHECK(complains(family("gauge", "a", "a{x=\"\"} 1,5\n"), "not a sample"));
	CHECK(complains(family("gauge", "a", "a{x=\"\xff\"} 1\n"), "UTF-8"));
	CHECK(complains(family("gauge", "a", "a 1\n") + family("gauge", "b", "b 1\n") + family("gauge", "a", "a 3\n"),
			"not together"));
	CHECK(complains(family("counter", "a", "a 1\n"), "_total"));
	CHECK(complains(family("gauge", "a_total", "a_total 1\n"), "_total"));
	CHECK(complains(family("counter", "a_total", "a_total -1\n"), "below zero"));
	CHECK(complains(family("gauge", "a_count", "a_count 1\n"), "part of a histogram"));
	std::string good = "h_bucket{le=\"1\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_sum 3\nh_count 2\n";
	CHECK(ExpositionChecker(family("histogram", "h", good)).problems() == Names{});
	CHECK(complains(family("histogram", "h", "h_bucket{le=\"1\"} 1\nh_sum 3\nh_count 1\n"), "+Inf"));
	CHECK(complains(family("histogram", "h", "h_bucket{le=\"1\"} 3\nh_bucket{le=\"+Inf\"} 2\nh_sum 3\nh_count 2\n"),
			"do not rise"));
	CHECK(complains(family("histogram", "h",
			       "h_bucket{le=\"2\"} 1\nh_bucket{le=\"1\"} 1\nh_bucket{le=\"+Inf\"} "
			       "2\nh_sum 3\nh_count 2\n"),
			"do not rise"));
	CHECK(complains(family("histogram", "h", "h_bucket{le=\"+Inf\"} 2\nh_sum 3\nh_count 1\n"), "_count"));
	CHECK(complains(family("histogram", "h", "h_bucket{le=\"+Inf\"} 2\nh_count 2\n"), "no _sum"));
	CHECK(complains(family("histogram", "h", "h_bucket 2\nh_sum 3\nh_count 2\n"), "le is a number"));
}
