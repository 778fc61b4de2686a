#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: report.py BUILD_DIR JOB...

Turn the results of the benchmark's guests (BUILD_DIR/guest/bench-JOB, BUILD_DIR/bench/JOB.sections) into bench.json,
tables, and bench-profile.txt (instructions by function), all in BUILD_DIR. Jobs that are not named leave no rows.
Figures are medians over the rounds; the spread is (largest - smallest) / median.

The host side alone: all instructions except those at symbols of the modules nvmet, nvmet_tcp and null_blk. The target's
share of the common kernel (its half of the TCP stack, its block layer calls) cannot be separated by symbol and is
included for both drivers.
"""
import bisect
import collections
import json
import pathlib
import sys

import mpath
from result_table import make_case, print_table

TARGET_MODULES = {"nvmet", "nvmet_tcp", "null_blk"}
# Modules of a driver over RDMA and below it. The target shares the last two.
RDMA_MODULES = {"nvmeof", "nvmeof_rdma", "nvme_core", "nvme_fabrics", "nvme_rdma", "ib_core", "rdma_cm"}
# Functions of the verbs core that rxe and the target use
CARD_NAMES = ("rdma_get_gid", "rdma_put_gid", "rdma_read_gid", "ib_device_", "rdma_rw_")
BLOCK_NAMES = ("blk_", "__blk", "bio_", "__bio", "bdev_", "blkdev_", "submit_bio", "irq_poll", "rq_", "dd_", "sg_")
PROFILE_LINES = 400


class Symbols:
    """Maps an address to (module, function), from /proc/kallsyms of the guest; the kernel itself is module vmlinux."""

    def __init__(self, path):
        rows = []
        for line in path.read_text().splitlines():
            words = line.split()
            module = words[3].strip("[]") if len(words) > 3 else "vmlinux"
            rows.append((int(words[0], 16), module, words[2]))
        rows.sort()
        self.addresses = [row[0] for row in rows]
        self.rows = rows

    def find(self, address):
        index = bisect.bisect_right(self.addresses, address) - 1
        return self.rows[index][1:] if index >= 0 else ("?", "?")


class Section:
    """The instructions between two markers, for one I/O."""

    def __init__(self, total, user, functions, count):
        self.total = total / count
        self.user = user / count
        self.functions = {key: n / count for key, n in functions.items()}

    def modules(self):
        sums = collections.Counter()
        for (module, _), n in self.functions.items():
            sums[module] += n
        return sums

    def driver_side(self):
        return sum(n for (module, name), n in self.functions.items()
                   if (module in RDMA_MODULES and not name.startswith(CARD_NAMES)) or
                   (module == "vmlinux" and name.startswith(BLOCK_NAMES)))

    def host_side(self):
        return self.total - sum(n for module, n in self.modules().items() if module in TARGET_MODULES)


def read_sections(path):
    """(total, user, {address: instructions}) of each complete section."""
    sections, current = [], None
    with path.open() as lines:
        for line in lines:
            words = line.split()
            if words[0] == "section":
                current = (int(words[1]), int(words[2]), {})
            elif words[0] == "end":
                sections.append(current)
            else:
                address = int(words[0], 16)
                current[2][address] = current[2].get(address, 0) + int(words[1])
    return sections


def read_samples(results, plugin_output):
    """{case: {driver: [Section, ...]}}"""
    symbols = Symbols(results / "symbols")
    labels = (results / "samples").read_text().splitlines()
    sections = read_sections(plugin_output)
    if len(labels) != len(sections):
        sys.exit(f"report: {len(labels)} samples, but {len(sections)} sections counted")
    out = {}
    for label, (total, user, blocks) in zip(labels, sections):
        case, driver, count, round_ = label.split()
        if round_ == "0":
            continue
        functions = collections.Counter()
        for address, n in blocks.items():
            functions[symbols.find(address)] += n
        out.setdefault(case, {}).setdefault(driver, []).append(Section(total, user, functions, int(count)))
    return out


def cost_rows(samples, value, unit):
    return [make_case(case, unit, *([value(s) for s in drivers.get(key, [])] for key in ("ours", "intree", "tuned")))
            for case, drivers in samples.items()]


def plain_rows(path, unit):
    """Lines of CASE DRIVER FIGURE"""
    cases = {}
    for line in path.read_text().splitlines():
        case, driver, value = line.split()
        cases.setdefault(case, {}).setdefault(driver, []).append(float(value))
    return [make_case(case, unit, found.get("ours", []), found.get("intree", [])) for case, found in cases.items()]


def write_profile(samples, path):
    with path.open("w") as out:
        for case, drivers in samples.items():
            for driver, sections in drivers.items():
                section = sorted(sections, key=lambda s: s.total)[len(sections) // 2]
                print(f"\n{case} {driver}: {section.total:.0f} instructions per I/O, {section.user:.0f} of them user",
                      file=out)
                for module, n in section.modules().most_common():
                    print(f"  {n:10.1f}  {module}", file=out)
                print("  functions:", file=out)
                for (module, name), n in collections.Counter(section.functions).most_common(PROFILE_LINES):
                    print(f"  {n:10.1f}  {name} [{module}]", file=out)


def counted_tables(samples):
    """{table of bench.json: rows}, from the jobs that count instructions."""
    unit = "instructions per I/O"
    costs = {case: drivers for case, drivers in samples.items() if not case.startswith("mpath/choice/")}
    rdma = {case.replace("rdma/", "rdma/host/"): drivers for case, drivers in costs.items()
            if case.startswith("rdma/")}
    total = cost_rows(costs, lambda s: s.total, unit)
    return {
        "cases": [row for row in total if not row["name"].startswith(("single/", "host/"))] +
                 mpath.choice_rows(samples, unit),
        "host": [row for row in total if row["name"].startswith("host/")],
        "single": [row for row in total if row["name"].startswith("single/")],
        "host_side": [row for row in cost_rows(costs, Section.host_side, unit)
                      if not row["name"].startswith(("host/", "rdma/"))],
        "rdma_host": cost_rows(rdma, Section.driver_side, unit),
    }


def timed_rows(guest, jobs):
    rows = {}
    if "connect" in jobs:
        rows["connect"] = plain_rows(guest / "bench-connect" / "connect", "seconds")
    if "secure" in jobs:
        rows["secure"] = plain_rows(guest / "bench-secure" / "connect", "seconds")
        rows["rotation"] = plain_rows(guest / "bench-secure" / "gaps", "ms")
    if "discovery" in jobs:
        rows["discovery"] = plain_rows(guest / "bench-discovery" / "discovery", "seconds")
        rows["daemon"] = plain_rows(guest / "bench-discovery" / "daemon", "KiB")
    if "gaps" in jobs:
        rows["gaps"] = mpath.gap_rows(guest / "bench-gaps" / "gaps")
    if "asym" in jobs:
        rows["asym"] = mpath.asym_rows(guest / "bench-asym" / "asym")
    if "depth" in jobs:
        rows["depth"] = mpath.depth_rows(guest / "bench-depth" / "depth")
    if "ns" in jobs:
        rows["ns"] = plain_rows(guest / "bench-ns" / "ns", "seconds")
    if "zns" in jobs:
        rows["zns"] = plain_rows(guest / "bench-zns" / "zns", "us")
        rows["changes"] = plain_rows(guest / "bench-zns" / "changes", "cuts")
    if "mem" in jobs:
        rows["mem"] = plain_rows(guest / "bench-mem" / "mem", "KiB")
    if "rdma" in jobs:
        rows["rdma"] = plain_rows(guest / "bench-rdma" / "rdma", "per 1000 I/Os")
    if "silent" in jobs:
        rows["silent"] = mpath.two_guest_rows(guest / "bench-silent" / "gaps")
    if "ghost" in jobs:
        rows["ghost"] = mpath.ghost_rows(guest / "bench-ghost" / "ghost")
    return rows


def print_all(tables, timed):
    print_table("Instructions per I/O, the whole guest", tables["cases"])
    print_table("The same, each I/O submitted by a call of its own", tables["single"])
    print_table("The same, without the symbols of nvmet, nvmet_tcp, null_blk: not yet the host alone",
                tables["host_side"])
    print_table("The host alone, on a CPU of its own", tables["host"])
    print_table("RDMA: driver, block layer and verbs core, by symbol", tables["rdma_host"])
    print_table("RDMA: calls to post, and completions, of the host, for 1000 I/Os", timed.get("rdma", []))
    print_table("Seconds until 64 controllers are live", timed.get("connect", []))
    print_table("Seconds until 16 controllers are live, with a delay of 5 ms", timed.get("secure", []))
    print_table("Longest time without a completed read while the key changes, ms", timed.get("rotation", []))
    print_table("Seconds until 50 subsystems over two ports are there; until a log of 1,001 entries is read",
                timed.get("discovery", []))
    print_table("Memory of nvmeofd with 400 connections, KiB", timed.get("daemon", []))
    if "gaps" in timed or "silent" in timed:
        mpath.print_gaps(timed.get("gaps", []) + timed.get("silent", []))
    print_table("Two paths, one with 30 ms more delay: MB/s of reads", timed.get("asym", []))
    print_table("256 reads in flight, 20 ms each: I/Os per second; beside a dead disk, next to alone",
                timed.get("depth", []))
    print_table("A thousand namespaces: seconds until they are there (answers take 50 ms), and gone",
                timed.get("ns", []))
    print_table("Microseconds of an I/O: writes to a zone and to a conventional drive, zone appends by passthrough",
                timed.get("zns", []))
    print_table("Cuts of one of two paths that verified writes to zones survive, of 20", timed.get("changes", []))
    print_table("Kernel memory of an idle connection, KiB", timed.get("mem", []))
    if "ghost" in timed:
        mpath.print_ghosts(timed["ghost"])


def main():
    output, jobs = pathlib.Path(sys.argv[1]), sys.argv[2:]
    samples = {}
    for job in ("cost", "large", "tls", "host", "hostlarge", "paths", "rdma"):
        if job in jobs:
            samples |= read_samples(output / "guest" / f"bench-{job}", output / "bench" / f"{job}.sections")
    mpath.share_intree(samples)
    tables, timed = counted_tables(samples), timed_rows(output / "guest", jobs)
    everything = {**tables, "cases": tables["cases"] + [row for rows in timed.values() for row in rows]}
    (output / "bench.json").write_text(json.dumps(everything, indent=2) + "\n")
    write_profile(samples, output / "bench-profile.txt")
    print_all(tables, timed)
    print(f"\nWhere instructions go: {output}/bench-profile.txt; figures: {output}/bench.json")


if __name__ == "__main__":
    main()
