// SPDX-License-Identifier: LGPL-2.1-or-later
#include "prometheus.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <nvmeof/client.h>

#include "libctl/runtime/exposition.h"

using namespace nvmeof;
using runtime::exactNumber;
using runtime::Exposition;
using namespace std::chrono_literals;

namespace {

using Labels = Exposition::Labels;
using MetricType = Exposition::Type;

constexpr ControllerState controllerStates[] = {
	ControllerState::created,  ControllerState::connecting, ControllerState::live, ControllerState::recovering,
	ControllerState::deleting, ControllerState::dead,       ControllerState::lost};
constexpr AnaState anaStates[] = {AnaState::none,         AnaState::optimized,      AnaState::nonOptimized,
				  AnaState::inaccessible, AnaState::persistentLoss, AnaState::change};

Labels labelsOf(const Subsystem &s)
{
	return {{"subsystem", s.name}, {"nqn", s.nqn}};
}

Labels labelsOf(const Controller &c, const Snapshot &all)
{
	const Subsystem *s = all.subsystem(c.subsystem);
	return {{"subsystem", s ? s->name : ""}, {"nqn", c.subsysnqn}, {"controller", c.name},
		{"transport", c.transport},      {"traddr", c.traddr}, {"trsvcid", c.trsvcid}};
}

Labels labelsOf(const Namespace &n, const Snapshot &all)
{
	const Subsystem *s = all.subsystem(n.subsystem);
	return {{"subsystem", s ? s->name : ""},
		{"nqn", s ? s->nqn : ""},
		{"namespace", n.name},
		{"nsid", std::to_string(n.nsid)},
		{"uuid", n.uuid ? n.uuid->toString() : ""}};
}

// Empty if the controller was removed between two reads: the path has no address, and is left out.
std::optional<Labels> labelsOf(const Path &p, const Snapshot &all)
{
	const Controller *c = all.controller(p.controller);
	const Subsystem *s = c ? all.subsystem(c->subsystem) : nullptr;
	if (!s)
		return std::nullopt;
	return Labels{{"subsystem", s->name},       {"nqn", s->nqn},
		      {"namespace", p.nameSpace},   {"path", p.name},
		      {"controller", p.controller}, {"transport", c->transport},
		      {"traddr", c->traddr},        {"trsvcid", c->trsvcid}};
}

Labels with(Labels labels, std::string name, std::string value)
{
	labels.emplace_back(std::move(name), std::move(value));
	return labels;
}

double seconds(auto time)
{
	return static_cast<double>(time.count()) / 1e9; // the nearest double, which prints with few digits
}

class Writer {
public:
	Writer(const Snapshot &all, const PrometheusOptions &options) : all_(all), options_(options) {}

	std::string text()
	{
		if (options_.node)
			node(*options_.node);
		if (options_.lost)
			lost(*options_.lost);
		subsystems();
		controllers();
		namespaces();
		pathCounters();
		pathGauges();
		latencies();
		return out_.text();
	}

private:
	void node(const NodeFacts &facts)
	{
		out_.family("nvmeof_build_info", MetricType::gauge,
			    "Versions of the command and the loaded module; always 1.");
		out_.sample({{"version", facts.version}, {"module_version", facts.moduleVersion}}, std::uint64_t(1));
		out_.family("nvmeof_build_findings", MetricType::gauge,
			    "Number of version mismatches of command, library and modules; see nvmeofctl version.");
		out_.sample({}, std::uint64_t(facts.findings.size()));
		out_.family("nvmeof_build_finding_info", MetricType::gauge,
			    "A version mismatch, by its code; always 1.");
		for (const std::string &code : std::set<std::string>(facts.findings.begin(), facts.findings.end()))
			out_.sample({{"finding", code}}, std::uint64_t(1));
		if (!facts.daemonRuns)
			return;
		out_.family("nvmeof_daemon_up", MetricType::gauge, "1 while nvmeofd is on the system bus, else 0.");
		out_.sample({}, std::uint64_t(*facts.daemonRuns));
		out_.family("nvmeof_daemon_enabled", MetricType::gauge, "1 if nvmeofd is started at boot, else 0.");
		out_.sample({}, std::uint64_t(facts.daemonEnabled));
	}

	void lost(const LostObjects &lost)
	{
		out_.family("nvmeof_namespaces_lost_total", MetricType::counter,
			    "Namespaces lost because no controller of their subsystem was left.");
		out_.sample({}, lost.namespacesTotal);
		out_.family("nvmeof_paths_lost_total", MetricType::counter,
			    "Paths removed because ctrl-loss-tmo of their controller expired.");
		out_.sample({}, lost.pathsTotal);
		out_.family("nvmeof_namespace_lost", MetricType::gauge,
			    "1 for a lost namespace that has not returned, until its subsystem is disconnected.");
		for (const Labels &labels : lost.namespaces)
			out_.sample(labels, std::uint64_t(1));
	}

	void subsystems()
	{
		out_.family("nvmeof_subsystem_info", MetricType::gauge,
			    "Identity and policy of a subsystem; always 1.");
		for (const Subsystem &s : all_.subsystems) {
			Labels labels = labelsOf(s);
			labels.insert(labels.end(), {{"hostnqn", s.hostnqn},
						     {"iopolicy", s.iopolicy},
						     {"model", s.model},
						     {"serial", s.serial},
						     {"firmware", s.firmware}});
			out_.sample(labels, std::uint64_t(1));
		}
	}

	void eachController(const char *name, MetricType type, const char *help, auto value)
	{
		out_.family(name, type, help);
		for (const Controller &c : all_.controllers)
			out_.sample(labelsOf(c, all_), std::uint64_t(value(c)));
	}

	void controllers()
	{
		out_.family("nvmeof_controller_state", MetricType::gauge,
			    "1 for the state a controller is in, else 0.");
		for (const Controller &c : all_.controllers)
			for (ControllerState state : controllerStates)
				out_.sample(with(labelsOf(c, all_), "state", toString(state)),
					    std::uint64_t(c.state == state));
		eachController("nvmeof_controller_reconnects_total", MetricType::counter,
			       "Reconnects after a connection loss.", [](const Controller &c) { return c.reconnects; });
		eachController("nvmeof_controller_connect_attempts", MetricType::gauge,
			       "Connect attempts since the controller was last live.",
			       [](const Controller &c) { return c.attempts; });
		eachController("nvmeof_controller_inflight_commands", MetricType::gauge,
			       "Commands in flight to a controller.", [](const Controller &c) { return c.inflight; });
		authentication();
		tls();
	}

	void tls()
	{
		out_.family("nvmeof_controller_tls_info", MetricType::gauge,
			    "Cipher, key identity and key source of a controller that uses TLS; always 1.");
		for (Controller c : all_.controllers)
			if (const auto &is = c.tls) {
				readKeyNames(c);
				Labels labels = labelsOf(c, all_);
				labels.insert(labels.end(),
					      {{"cipher", is->cipher},
					       {"identity", is->identity},
					       {"key_source", is->generated ? "generated" : "configured"}});
				out_.sample(labels, std::uint64_t(1));
			}
		eachTime("nvmeof_controller_tls_timestamp_seconds",
			 "Unix time of the TLS handshake of a controller's admin queue.",
			 [](const Controller &c) { return c.tls ? c.tls->at : 0ns; });
		eachTime("nvmeof_controller_tls_key_timestamp_seconds",
			 "Unix time at which the driver was given the TLS key of a controller, or generated it.",
			 [](const Controller &c) { return c.tls ? c.tls->keySince : 0ns; });
	}

	// @time: CLOCK_BOOTTIME; 0: no sample
	void eachTime(const char *name, const char *help, auto time)
	{
		out_.family(name, MetricType::gauge, help);
		for (const Controller &c : all_.controllers)
			if (const std::chrono::nanoseconds at = time(c); at.count())
				out_.sample(labelsOf(c, all_), unixTime(at));
	}

	void authentication()
	{
		eachController("nvmeof_controller_authenticated", MetricType::gauge,
			       "1 if this host has authenticated itself to a controller (DH-HMAC-CHAP), else 0.",
			       [](const Controller &c) { return c.authentication.has_value(); });
		out_.family("nvmeof_controller_authentication_info", MetricType::gauge,
			    "How a controller was authenticated; mutual: it has authenticated itself, too; always 1.");
		for (const Controller &c : all_.controllers)
			if (const auto &is = c.authentication) {
				Labels labels = labelsOf(c, all_);
				labels.insert(labels.end(), {{"hash", is->hash},
							     {"dh_group", is->dhGroup},
							     {"mutual", is->mutual ? "yes" : "no"}});
				out_.sample(labels, std::uint64_t(1));
			}
		eachTime("nvmeof_controller_authentication_timestamp_seconds",
			 "Unix time of the last authentication of a controller.",
			 [](const Controller &c) { return c.authentication ? c.authentication->at : 0ns; });
		eachTime("nvmeof_controller_authentication_key_timestamp_seconds",
			 "Unix time at which the driver was given the key by which a host authenticates itself.",
			 [](const Controller &c) { return c.authKey ? c.authKey->since : 0ns; });
		out_.family("nvmeof_controller_authentication_required", MetricType::gauge,
			    "1 for a controller whose connections without authentication are refused ([[security]]).");
		for (const Controller &c : all_.controllers)
			if (c.authRequired)
				out_.sample(labelsOf(c, all_), std::uint64_t(1));
	}

	// The clocks drift against each other: a finer value would change with each sample.
	double unixTime(std::chrono::nanoseconds at) const
	{
		const std::chrono::duration<double> when = at + options_.bootOffset;
		return std::round(when.count() * 100) / 100;
	}

	void eachNamespace(const char *name, const char *help, auto value)
	{
		out_.family(name, MetricType::gauge, help);
		for (const Namespace &n : all_.namespaces)
			out_.sample(labelsOf(n, all_), std::uint64_t(value(n)));
	}

	void namespaces()
	{
		out_.family("nvmeof_namespace_info", MetricType::gauge, "Identifiers of a namespace; always 1.");
		for (const Namespace &n : all_.namespaces)
			out_.sample(labelsOf(n, all_), std::uint64_t(1));
		eachNamespace("nvmeof_namespace_size_bytes", "Size of a namespace.",
			      [](const Namespace &n) { return n.size; });
		eachNamespace(
			"nvmeof_namespace_generic_only",
			"1 if a namespace has a generic node and no block device, because the driver does not know "
			"its command set, else 0.",
			[](const Namespace &n) { return genericOnly(n); });
		eachNamespace("nvmeof_namespace_paths", "Paths of a namespace.",
			      [](const Namespace &n) { return n.paths; });
		eachNamespace("nvmeof_namespace_usable_paths", "Paths that are usable for I/O.",
			      [](const Namespace &n) { return n.usablePaths; });
		eachNamespace("nvmeof_namespace_live_paths", "Paths whose controller is connected.",
			      [](const Namespace &n) { return n.livePaths; });
		eachNamespace("nvmeof_namespace_expected_paths",
			      "Number of live paths if all controllers were connected.",
			      [](const Namespace &n) { return n.expectedPaths; });
		eachNamespace("nvmeof_namespace_openers", "Users of the disk: programs, mounts, other devices.",
			      [](const Namespace &n) { return n.openers; });
		noPath();
		eachNamespace("nvmeof_namespace_waiting_requests", "Requests that wait for a path.",
			      [](const Namespace &n) { return n.waiting; });
		eachNamespace("nvmeof_namespace_held_requests", "Requests held back by fencing.",
			      [](const Namespace &n) { return n.held; });
	}

	void noPath()
	{
		out_.family("nvmeof_namespace_no_path_seconds", MetricType::gauge,
			    "Time for which no path has been usable, so that I/O waits; 0 while a path is usable.");
		for (const Namespace &n : all_.namespaces)
			out_.sample(labelsOf(n, all_),
				    n.noPathSince ? seconds(std::max(all_.time - *n.noPathSince, 0ns)) : 0.0);
	}

	void eachPath(const char *name, MetricType type, const char *help, auto value)
	{
		out_.family(name, type, help);
		for (const Path &p : all_.paths)
			if (std::optional<Labels> labels = labelsOf(p, all_))
				out_.sample(*labels, std::uint64_t(value(p)));
	}

	void pathCounters()
	{
		eachPath("nvmeof_path_ios_total", MetricType::counter, "I/Os completed on a path.",
			 [](const Path &p) { return p.ios; });
		eachPath("nvmeof_path_read_bytes_total", MetricType::counter, "Bytes read over a path.",
			 [](const Path &p) { return p.bytesRead; });
		eachPath("nvmeof_path_written_bytes_total", MetricType::counter, "Bytes written over a path.",
			 [](const Path &p) { return p.bytesWritten; });
		eachPath("nvmeof_path_errors_total", MetricType::counter, "Completions with an error status.",
			 [](const Path &p) { return p.errors; });
		eachPath("nvmeof_path_retries_total", MetricType::counter, "Requests removed from a path for a retry.",
			 [](const Path &p) { return p.retries; });
		eachPath("nvmeof_path_aborts_total", MetricType::counter, "Abort commands sent because of a timeout.",
			 [](const Path &p) { return p.aborts; });
		eachPath("nvmeof_path_failovers_from_total", MetricType::counter,
			 "Requests that failed over from a path.", [](const Path &p) { return p.failoversFrom; });
		eachPath("nvmeof_path_failovers_to_total", MetricType::counter, "Requests that failed over to a path.",
			 [](const Path &p) { return p.failoversTo; });
	}

	void pathGauges()
	{
		eachPath("nvmeof_path_inflight_requests", MetricType::gauge, "Requests in flight on a path.",
			 [](const Path &p) { return p.inflight; });
		eachPath("nvmeof_path_usable", MetricType::gauge, "1 if a path is usable for I/O, else 0.",
			 [](const Path &p) { return p.usable; });
		eachPath("nvmeof_path_degraded", MetricType::gauge,
			 "1 if a path is avoided as an outlier, suspect or on probation, else 0.",
			 [](const Path &p) { return p.degraded; });
		eachPath("nvmeof_path_suspect", MetricType::gauge,
			 "1 if the controller of a path does not answer, but its connection is not considered lost "
			 "yet, else 0.",
			 [](const Path &p) { return p.suspect; });
		eachPath("nvmeof_path_probation", MetricType::gauge,
			 "1 if the controller of a path was lost too often, so that the path gets only single "
			 "requests, else 0.",
			 [](const Path &p) { return p.probation; });
		out_.family("nvmeof_path_ana_state", MetricType::gauge,
			    "1 for the ANA state a path is in, else 0; state none: the controller reports none.");
		for (const Path &p : all_.paths)
			if (std::optional<Labels> labels = labelsOf(p, all_))
				for (AnaState state : anaStates)
					out_.sample(with(*labels, "state", toString(state)),
						    std::uint64_t(p.anaState == state));
		anaSince();
	}

	void anaSince()
	{
		out_.family("nvmeof_path_ana_change_timestamp_seconds", MetricType::gauge,
			    "Unix time at which a path entered its ANA state.");
		for (const Path &p : all_.paths) {
			std::optional<Labels> labels = labelsOf(p, all_);
			if (labels && p.anaSince)
				out_.sample(*labels, unixTime(*p.anaSince));
		}
	}

	void latencies()
	{
		out_.family("nvmeof_path_latency_seconds", MetricType::histogram,
			    "Latency of requests completed on a path.");
		for (const Path &p : all_.paths) {
			std::optional<Labels> labels = labelsOf(p, all_);
			if (!labels)
				continue;
			histogram(with(*labels, "op", "read"), p.readLatency, p.readLatencyTotal);
			histogram(with(*labels, "op", "write"), p.writeLatency, p.writeLatencyTotal);
		}
	}

	// The kernel's buckets exclude their upper end, those of Prometheus include it. Times are whole nanoseconds, so
	// the bound is off by 1 ns, of 1024 ns or more.
	void histogram(const Labels &labels, const Histogram &histogram, LatencyTotal total)
	{
		std::vector<Exposition::Bucket> buckets;
		for (std::size_t i = 0; options_.histograms && i + 1 < histogram.size(); i++)
			buckets.push_back({seconds(bucketEnd(i)), histogram[i]});
		const std::uint64_t beyond = options_.histograms ? histogram.back() : countOf(histogram);
		out_.histogram(labels, buckets, beyond, seconds(total));
	}

	const Snapshot &all_;
	const PrometheusOptions &options_;
	Exposition out_;
};

} // namespace

std::string prometheusText(const Snapshot &snapshot, const PrometheusOptions &options)
{
	return Writer(snapshot, options).text();
}
