# SPDX-License-Identifier: LGPL-2.1-or-later
"""Rows of the multipath cases from the results of gaps.sh, asym.sh, depth.sh and paths.sh."""
import collections
import statistics

from result_table import make_case, median_and_spread

SILENT = ("down", "loss", "oneway")
BLIPS = ("200ms", "600ms", "1500ms")

# Functions that choose a path, by module, whether or not a compiler leaves them as symbols. Ours are all of choose.c
# and selectors.c, and the functions from headers that these use; a function of the same name elsewhere in the
# module counts, too (none of those runs for each I/O). The in-tree driver's dispatch over the policies is inlined into
# nvme_ns_head_submit_bio() and not counted; ours is a call and counted.
CHOICE = {
    "nvmeof": {
        "nof_choose", "choose_slow", "begin_run", "pick_in_run", "choose_pick", "choose_probe", "probe_claim",
        "path_estimate_of", "choose_over", "choose_spill", "may_spill", "nof_choose_other", "nof_choose_undo",
        "nof_choose_again", "other_of", "has_room",
        "sel_latency_select", "sel_numa_select", "sel_queue_depth_select", "sel_round_robin_select", "select_probing",
        "sel_latency_compare", "sel_latency_look", "sel_latency_claim_probe", "sel_latency_class_of", "path_distance",
        "nof_pair_next", "nof_pair_won",
        "nof_path_depth", "nof_hctx_of", "nof_rq_class", "nof_rq_measured", "nof_lat_class", "nof_lat_better",
        "nof_lat_expect", "nof_lat_due", "nof_lat_known",
    },
    "nvme_core": {
        "nvme_find_path", "__nvme_find_path", "nvme_queue_depth_path", "nvme_numa_path",
        "nvme_round_robin_path", "nvme_next_ns", "nvme_path_is_disabled", "nvme_path_is_optimized",
    },
}
# Cases of paths.sh in which our policy is the one that the in-tree driver has in every case
SAME_POLICY = "/queue-depth"


def read_gaps(path):
    """{(case, stack): [(ms, errors), ...]}, without round 0."""
    gaps = collections.defaultdict(list)
    for line in path.read_text().splitlines():
        case, stack, ms, errors, round_ = line.split()
        if round_ != "0":
            gaps[case, stack].append((float(ms), int(errors)))
    return gaps


def gap_row(name, ours, intree):
    """The median over the rounds, with the longest interval and all errors."""
    row = make_case(name, "ms", [ms for ms, _ in ours], [ms for ms, _ in intree])
    both = (("ours", ours), ("intree", intree))
    row["worst"] = {key: max(ms for ms, _ in samples) for key, samples in both if samples}
    row["errors"] = {key: sum(errors for _, errors in samples) for key, samples in both if samples}
    return row


def worst_row(name, rows):
    """For each driver the row with the longest median; keeps the longest interval and all errors of all rows."""
    out = {"name": name, "unit": "ms", "ours": None, "intree": None, "ratio": None, "spread": {}, "worst": {},
           "errors": {}}
    for key in ("ours", "intree"):
        there = [row for row in rows if row[key] is not None]
        if there:
            longest = max(there, key=lambda row: row[key])
            out[key], out["spread"][key] = longest[key], longest["spread"][key]
            out["worst"][key] = max(row["worst"][key] for row in there)
            out["errors"][key] = sum(row["errors"][key] for row in there)
    if out["ours"] and out["intree"]:
        out["ratio"] = round(out["ours"] / out["intree"], 4)
    return out


def silent_rows(gaps, intree, suffix):
    """Separate rows for reads and writes: an outstanding write waits longer than a read."""
    out = []
    for kind in ("read", "write"):
        name = f"mpath/silent-gap/{kind}{suffix}"
        rows = [gap_row(f"{name}/{case}", gaps[f"silent-{case}-{kind}", "ours"], gaps[f"silent-{case}-{kind}", intree])
                for case in SILENT]
        out += [worst_row(name, rows), *rows]
    return out


def blip_rows(gaps):
    """An outage that is shorter than every timeout, by its length."""
    return [gap_row(f"mpath/blip/{length}/{kind}", gaps[f"blip-{length}-{kind}", "ours"],
                    gaps[f"blip-{length}-{kind}", "intree"])
            for length in BLIPS for kind in ("read", "write")]


def frozen_rows(gaps):
    """The target's TCP acknowledges data, but no command completes."""
    return [gap_row(f"mpath/frozen-gap/{kind}", gaps[f"frozen-{kind}", "ours"], gaps[f"frozen-{kind}", "intree"])
            for kind in ("read", "write")]


def gap_rows(path):
    gaps = read_gaps(path)
    rows = [gap_row(f"mpath/{name}", gaps[case, "ours"], gaps[case, "intree"])
            for name, case in (("no-event", "none"), ("ana-gap", "ana"), ("port-removed-gap", "removed"))]
    rows += silent_rows(gaps, "intree", "")
    if gaps["silent-down-read", "tuned"]:
        rows += silent_rows(gaps, "tuned", "/tuned")
    return rows + blip_rows(gaps) + frozen_rows(gaps)


def two_guest_rows(path):
    """A link between two guests, by transport: reads during a silence, reads and writes during a short outage."""
    gaps = read_gaps(path)
    rows = [gap_row(f"{transport}/blip/{length}/{kind}", gaps[f"{transport}-blip-{length}-{kind}", "ours"],
                    gaps[f"{transport}-blip-{length}-{kind}", "intree"])
            for transport in ("tcp", "rdma") for length in BLIPS for kind in ("read", "write")]
    rows += [gap_row(f"rdma/removal-gap/{kind}", gaps[f"rdma-removal-{kind}", "ours"],
                     gaps[f"rdma-removal-{kind}", "intree"]) for kind in ("read", "write")]
    return rows + [gap_row(f"{transport}/silent-gap{name}", gaps[transport, "ours"], gaps[transport, stack])
            for transport in ("tcp", "rdma")
            for stack, name in (("intree", ""), ("tuned", "/tuned")) if stack == "intree" or gaps[transport, stack]]


def print_gaps(rows):
    def pair(row, key):
        def text(value):
            return "-" if value is None else f"{value:,.2f}"
        return f"{text(row[key]):>12}{text(row['worst'].get(key)):>12}{row['errors'].get(key, '-'):>8}"

    print("\nLongest interval between completions at QD1 in ms: median over the rounds, the worst round, I/O errors")
    print(f"{'':34}{'ours':>12}{'worst':>12}{'errors':>8}{'in-tree':>12}{'worst':>12}{'errors':>8}")
    for row in rows:
        print(f"{row['name']:34}{pair(row, 'ours')}{pair(row, 'intree')}")


def read_rates(path):
    """{(case, stack, policy): [MB/s, ...]}"""
    rates = collections.defaultdict(list)
    for line in path.read_text().splitlines():
        case, stack, policy, mbps = line.split()
        rates[case, stack, policy].append(float(mbps))
    return rates


def against_row(name, unit, ours, base):
    """Two samples of one driver: the result is `ours` relative to "base"."""
    row = make_case(name, unit, ours, [])
    found = median_and_spread(base)
    if found:
        row["base"] = round(found[0], 3)
        row["spread"]["base"] = round(found[1], 5)
        row["ratio"] = round(statistics.median(ours) / found[0], 4) if ours else None
    return row


def asym_rows(path):
    rates, rows = read_rates(path), []
    for case, prefix in (("base", "mpath/asym30ms"), ("cpu", "mpath/asym30ms/cpu")):
        for policy in ("numa", "round-robin", "queue-depth"):
            rows.append(make_case(f"{prefix}/{policy}", "MB/s", rates[case, "ours", policy],
                                  rates[case, "intree", policy]))
        latency = rates[case, "ours", "latency"]
        base = rates[case, "ours", "queue-depth"]
        rows.append(against_row(f"{prefix}/latency-vs-queue-depth", "MB/s", latency, base))
        rows.append(make_case(f"{prefix}/vs-intree", "MB/s", latency, rates[case, "intree", "queue-depth"]))
    return rows


def depth_rows(path):
    """Lines of CASE STACK IOPS. Next to a dead disk each driver is compared with itself alone."""
    found = collections.defaultdict(list)
    for line in path.read_text().splitlines():
        case, stack, iops = line.split()
        found[case, stack].append(float(iops))
    rows = [make_case(f"mpath/depth256/{case}", "IOPS", found[case, "ours"], found[case, "intree"])
            for case in ("1path", "4paths")]
    for stack in ("ours", "intree"):
        if found["beside", stack]:
            name = "mpath/dead-neighbour" + ("" if stack == "ours" else "/intree")
            rows.append(against_row(name, "IOPS", found["beside", stack], found["alone", stack]))
    return rows


def share_intree(samples):
    """The in-tree driver is measured once for each case, with queue-depth; it is also compared with our queue-depth."""
    for case, drivers in samples.items():
        base = samples.get(case.removesuffix(SAME_POLICY), {})
        if case.endswith(SAME_POLICY) and "intree" in base:
            drivers.setdefault("intree", base["intree"])


def choosing(section):
    return sum(n for (module, name), n in section.functions.items()
               if name.split(".")[0] in CHOICE.get(module, ()))


def choice_rows(samples, unit):
    """Cases of the drive with latency keep their names. Those of the fast drive, whose paths are idle, get "idle"."""
    rows = []
    for case, drivers in samples.items():
        if case.startswith("mpath/"):
            name = case.replace("/cost/", "/choice/").replace("/qd16", "/idle")
            rows.append(make_case(name, unit, [choosing(s) for s in drivers.get("ours", [])],
                                  [choosing(s) for s in drivers.get("intree", [])]))
    return rows


def ghost_rows(path):
    """How often a late write overwrote newer data, and in how many rounds."""
    found = {}
    for line in path.read_text().splitlines():
        fencing, driver, ghosts, rounds = line.split()
        sums = found.setdefault(fencing, {}).setdefault(driver, [0, 0])
        sums[0] += int(ghosts)
        sums[1] += int(rounds)
    rows = []
    for fencing, drivers in found.items():
        row = {"name": f"mpath/ghost/{fencing}", "unit": "ghosts", "ours": None, "intree": None, "ratio": None,
               "spread": {}, "rounds": {}}
        for driver, (ghosts, rounds) in drivers.items():
            row[driver], row["rounds"][driver] = ghosts, rounds
        rows.append(row)
    return rows


def print_ghosts(rows):
    def pair(row, key):
        return "-" if row[key] is None else f"{row[key]} of {row['rounds'][key]}"

    print("\nNewer data overwritten by a write of the lost controller: ghosts of rounds")
    print(f"{'':34}{'ours':>14}{'in-tree':>14}")
    for row in rows:
        print(f"{row['name']:34}{pair(row, 'ours'):>14}{pair(row, 'intree'):>14}")
