#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the calculations of the benchmark, from the files of its guests to the rows of bench.json, with made-up
input."""
import contextlib
import io
import json
import pathlib
import re
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "qemu" / "bench"))

import mpath  # noqa: E402
import report  # noqa: E402
import result_table  # noqa: E402

SYMBOLS = """\
ffffffff81000000 T do_common
ffffffff81000100 T tcp_sendmsg
ffffffffa0000000 t nof_choose\t[nvmeof]
ffffffffa0000100 t choose_slow\t[nvmeof]
ffffffffa0000200 t sel_latency_select\t[nvmeof]
ffffffffa0000300 t nof_send\t[nvmeof]
ffffffffa1000000 t nvme_queue_depth_path\t[nvme_core]
ffffffffa1000100 t nvme_path_is_disabled.part.0\t[nvme_core]
ffffffffa1000200 t nvme_setup_cmd\t[nvme_core]
ffffffffa2000000 t nvmet_tcp_io_work\t[nvmet_tcp]
"""


def section(total, user, blocks):
    lines = [f"section {total} {user}", *(f"{address:x} {n}" for address, n in blocks), "end"]
    return "\n".join(lines) + "\n"


def rows_by_name(rows):
    return {row["name"]: row for row in rows}


class FilesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


class FiguresTest(unittest.TestCase):
    def test_median_and_spread(self):
        self.assertEqual(result_table.median_and_spread([10, 30, 20]), (20, 1))
        self.assertEqual(result_table.median_and_spread([0, 0]), (0, 0))
        self.assertIsNone(result_table.median_and_spread([]))

    def test_row(self):
        row = result_table.make_case("x", "ms", [1, 2, 3], [4, 4])
        self.assertEqual((row["ours"], row["intree"], row["ratio"]), (2, 4, 0.5))
        self.assertEqual(row["spread"], {"ours": 1, "intree": 0})

    def test_ratio_to_the_better_of_both(self):
        for tuned, ratio in ((2, 1), (8, 0.5)):
            row = result_table.make_case("x", "ms", [2], [4], [tuned])
            self.assertEqual((row["tuned"], row["ratio"]), (tuned, ratio))

    def test_no_ratio_of_one_driver(self):
        for row in (result_table.make_case("x", "ms", [1], []), result_table.make_case("x", "ms", [], [1])):
            self.assertIsNone(row["ratio"])


class GapsTest(FilesTest):
    # Round 0 is the warm-up: with it every figure would be another one.
    TEXT = """\
none ours 99 9 0
none ours 0.1 0 1
ana ours 1 0 1
ana ours 3 1 2
ana intree 4 0 1
ana intree 4 0 2
silent-down-read ours 300 0 1
silent-down-read ours 320 0 2
silent-loss-read ours 500 0 1
silent-oneway-read ours 200 2 1
silent-down-read intree 8000 0 1
silent-loss-read intree 6000 0 1
silent-oneway-read intree 6000 0 1
silent-down-read tuned 3000 0 1
silent-loss-read tuned 2000 0 1
silent-oneway-read tuned 2000 0 1
silent-down-write ours 6300 0 1
silent-down-write intree 7000 0 1
blip-200ms-write ours 430 0 1
blip-200ms-write intree 680 0 1
"""

    def rows(self, text=TEXT):
        return rows_by_name(mpath.gap_rows(self.file("gaps", text)))

    def test_median_worst_and_errors(self):
        rows = self.rows()
        self.assertEqual(rows["mpath/no-event"]["ours"], 0.1)
        self.assertEqual(rows["mpath/no-event"]["errors"], {"ours": 0})
        ana = rows["mpath/ana-gap"]
        self.assertEqual((ana["ours"], ana["intree"], ana["ratio"]), (2, 4, 0.5))
        self.assertEqual((ana["worst"], ana["errors"]), ({"ours": 3, "intree": 4}, {"ours": 1, "intree": 0}))

    def test_the_worst_kind_of_silence_counts_for_each_driver(self):
        gap = self.rows()["mpath/silent-gap/read"]
        self.assertEqual((gap["ours"], gap["intree"], gap["ratio"]), (500, 8000, 0.0625))
        self.assertEqual((gap["worst"]["ours"], gap["errors"]["ours"]), (500, 2))
        gap = self.rows()["mpath/silent-gap/write"]
        self.assertEqual((gap["ours"], gap["intree"], gap["ratio"]), (6300, 7000, 0.9))

    def test_outages_by_their_length(self):
        rows = self.rows()
        self.assertEqual({name for name in rows if name.startswith("mpath/blip/")},
                         {f"mpath/blip/{length}/{kind}" for length in mpath.BLIPS for kind in ("read", "write")})
        gap = rows["mpath/blip/200ms/write"]
        self.assertEqual((gap["ours"], gap["intree"]), (430, 680))

    def test_tuned_is_the_intree_driver(self):
        rows = self.rows()
        self.assertEqual(rows["mpath/silent-gap/read/tuned"]["intree"], 3000)
        self.assertEqual(rows["mpath/silent-gap/read/tuned"]["ours"], 500)

    def test_no_tuned_rows_without_its_samples(self):
        rows = self.rows("".join(line + "\n" for line in self.TEXT.splitlines() if "tuned" not in line))
        self.assertNotIn("mpath/silent-gap/read/tuned", rows)

    def test_two_guests(self):
        text = "tcp ours 330 0 1\nrdma ours 300 0 1\nrdma ours 400 1 2\nrdma intree 7000 0 1\nrdma tuned 1400 0 1\n" \
               "rdma-blip-600ms-write ours 900 0 1\nrdma-blip-600ms-write intree 1800 0 1\n" \
               "rdma-removal-read ours 20 0 1\n"
        rows = rows_by_name(mpath.two_guest_rows(self.file("gaps", text)))
        self.assertEqual({name for name in rows if "silent" in name},
                         {"tcp/silent-gap", "rdma/silent-gap", "rdma/silent-gap/tuned"})
        self.assertEqual(rows["rdma/blip/600ms/write"]["ratio"], 0.5)
        self.assertEqual(rows["rdma/removal-gap/read"]["ours"], 20)
        gap = rows["rdma/silent-gap"]
        self.assertEqual((gap["ours"], gap["worst"]["ours"], gap["errors"]["ours"], gap["ratio"]), (350, 400, 1, 0.05))
        self.assertEqual(rows["rdma/silent-gap/tuned"]["ratio"], 0.25)
        self.assertIsNone(rows["tcp/silent-gap"]["ratio"])

    def test_every_kind_of_silence_is_one_of_the_guest_job(self):
        job = (TOP / "qemu/bench/gaps.sh").read_text()
        self.assertEqual(set(re.findall(r"\bsilent-(\w+)", job)), set(mpath.SILENT))


class AsymTest(FilesTest):
    def test_against_own_policy_and_intree(self):
        rows = rows_by_name(mpath.asym_rows(self.file("asym", """\
base ours latency 30
base ours queue-depth 15
base intree queue-depth 20
cpu ours latency 90
cpu intree queue-depth 60
""")))
        own = rows["mpath/asym30ms/latency-vs-queue-depth"]
        self.assertEqual((own["ours"], own["base"], own["intree"], own["ratio"]), (30, 15, None, 2))
        self.assertEqual(rows["mpath/asym30ms/vs-intree"]["ratio"], 1.5)
        self.assertEqual(rows["mpath/asym30ms/cpu/vs-intree"]["ratio"], 1.5)
        self.assertIsNone(rows["mpath/asym30ms/cpu/latency-vs-queue-depth"]["ratio"])


class DepthTest(FilesTest):
    def test_beside_a_dead_disk_next_to_alone(self):
        rows = rows_by_name(mpath.depth_rows(self.file("depth", """\
1path ours 100
1path intree 50
alone ours 200
beside ours 150
""")))
        self.assertEqual(rows["mpath/depth256/1path"]["ratio"], 2)
        self.assertEqual(rows["mpath/dead-neighbour"]["ratio"], 0.75)
        self.assertNotIn("mpath/dead-neighbour/intree", rows)


class GhostTest(FilesTest):
    def test_sums(self):
        rows = rows_by_name(mpath.ghost_rows(self.file("ghost", """\
immediate ours 19 20
safe ours 0 190
safe ours 1 10
immediate intree 20 20
""")))
        safe, immediate = rows["mpath/ghost/safe"], rows["mpath/ghost/immediate"]
        self.assertEqual((safe["ours"], safe["intree"], safe["rounds"]), (1, None, {"ours": 200}))
        self.assertEqual((immediate["ours"], immediate["intree"]), (19, 20))
        self.assertEqual(immediate["rounds"], {"ours": 20, "intree": 20})

    def test_no_ghost_is_a_figure(self):
        row = mpath.ghost_rows(self.file("ghost", "safe ours 0 190\n"))[0]
        self.assertEqual(row["ours"], 0)


class CountedTest(FilesTest):
    """Each sample has 10 I/Os."""

    def samples(self, labels, sections):
        self.file("guest/samples", "".join(f"{label}\n" for label in labels))
        self.file("guest/symbols", SYMBOLS)
        return report.read_samples(self.folder / "guest", self.file("sections", "".join(sections)))

    def paths(self):
        ours = section(5000, 100, [(0xffffffffa0000000, 100), (0xffffffffa0000110, 20), (0xffffffffa0000210, 80),
                                   (0xffffffffa0000300, 1000), (0xffffffffa2000000, 600)])
        queue_depth = section(4000, 100, [(0xffffffffa0000000, 100), (0xffffffffa0000210, 40)])
        intree = section(9000, 100, [(0xffffffffa1000010, 300), (0xffffffffa1000100, 100), (0xffffffffa1000200, 7000)])
        warm = section(99999, 0, [(0xffffffffa0000000, 99999)])
        return self.samples(
            ["mpath/choice/2paths ours 10 0", "mpath/choice/2paths ours 10 1",
             "mpath/choice/2paths/queue-depth ours 10 1", "mpath/choice/2paths intree 10 1",
             "mpath/cost/2paths/qd16 ours 10 1"], [warm, ours, queue_depth, intree, ours])

    def test_instructions_go_to_the_function_before(self):
        found = self.paths()["mpath/choice/2paths"]["ours"]
        self.assertEqual(len(found), 1, "round 0 counts")
        self.assertEqual(found[0].functions[("nvmeof", "choose_slow")], 2)
        self.assertEqual((found[0].total, found[0].user), (500, 10))

    def test_choosing_is_all_of_it_and_no_more(self):
        samples = self.paths()
        mpath.share_intree(samples)
        rows = rows_by_name(mpath.choice_rows(samples, "instructions"))
        row = rows["mpath/choice/2paths"]
        self.assertEqual((row["ours"], row["intree"], row["ratio"]), (20, 40, 0.5))

    def test_same_policy_has_the_same_intree_figure(self):
        samples = self.paths()
        mpath.share_intree(samples)
        rows = rows_by_name(mpath.choice_rows(samples, "instructions"))
        row = rows["mpath/choice/2paths/queue-depth"]
        self.assertEqual((row["ours"], row["intree"], row["ratio"]), (14, 40, 0.35))

    def test_fast_drive_is_idle(self):
        rows = rows_by_name(mpath.choice_rows(self.paths(), "instructions"))
        self.assertEqual(rows["mpath/choice/2paths/idle"]["ours"], 20)

    def test_host_side_leaves_the_target_out(self):
        row = rows_by_name(report.counted_tables(self.paths())["host_side"])["mpath/cost/2paths/qd16"]
        self.assertEqual(row["ours"], 440)

    def test_samples_and_sections_must_match(self):
        with self.assertRaises(SystemExit):
            self.samples(["mpath/choice/2paths ours 10 1"], [])

    def test_every_function_that_chooses_counts(self):
        """The functions in the sources, whether or not the compiler inlines them."""
        files = [TOP / "kmod/mpath/choose.c", TOP / "kmod/mpath/selectors.c"]
        pattern = re.compile(r"^(?:static |noinline |__always_inline |inline )*(?:const )?(?:struct |enum )?\w+ \**"
                             r"(\w+)\([^;]*?\)\n\{", re.MULTILINE)
        found = {name for file in files for name in pattern.findall(file.read_text())}
        self.assertTrue({"nof_choose", "sel_latency_select"} <= found, found)
        self.assertEqual(found - mpath.CHOICE["nvmeof"], set())


class ReportTest(FilesTest):
    def test_all_of_it(self):
        self.file("guest/bench-connect/connect", "connect/64 ours 1.5\nconnect/64 intree 15\n")
        self.file("guest/bench-discovery/discovery", "discovery/log1001 ours 0.1\ndiscovery/log1001 intree 1\n")
        self.file("guest/bench-discovery/daemon", "daemon/rss ours 6000\n")
        self.file("guest/bench-gaps/gaps", GapsTest.TEXT)
        self.file("guest/bench-silent/gaps", "rdma ours 300 0 1\nrdma intree 6000 0 1\n")
        self.file("guest/bench-asym/asym", "base ours latency 30\nbase intree queue-depth 20\n")
        self.file("guest/bench-ns/ns", "ns/remove-1000 ours 1\nns/remove-1000 intree 50\nns/scan-1000 ours 2\n")
        self.file("guest/bench-mem/mem", "mem/queue ours 100\nmem/queue intree 125\n")
        self.file("guest/bench-ghost/ghost", "safe ours 0 200\n")
        self.file("guest/bench-cost/samples", "tcp/randread/4k/qd1 ours 10 1\nsingle/randread/4k/qd16 ours 10 1\n")
        self.file("guest/bench-cost/symbols", SYMBOLS)
        self.file("bench/cost.sections", section(1000, 0, [(0xffffffffa2000000, 100)]) * 2)
        self.file("guest/bench-host/samples", "host/randread/4k/qd1 ours 10 1\nhost/randread/4k/qd1 tuned 10 1\n")
        self.file("guest/bench-host/symbols", SYMBOLS)
        self.file("bench/host.sections", section(500, 0, [(0xffffffffa2000000, 100)]) * 2)
        self.file("guest/bench-depth/depth", "4paths ours 10\n")
        jobs = ["cost", "host", "connect", "discovery", "gaps", "asym", "depth", "ns", "mem", "ghost", "silent"]
        with mock.patch.object(sys, "argv", ["report.py", str(self.folder), *jobs]), \
                contextlib.redirect_stdout(io.StringIO()) as printed:
            report.main()
        written = json.loads((self.folder / "bench.json").read_text())
        cases = rows_by_name(written["cases"])
        self.assertEqual(cases["connect/64"]["ratio"], 0.1)
        self.assertEqual(cases["discovery/log1001"]["ratio"], 0.1)
        self.assertEqual(cases["ns/remove-1000"]["ratio"], 0.02)
        self.assertEqual(cases["rdma/silent-gap"]["ratio"], 0.05)
        self.assertIsNone(cases["ns/scan-1000"]["intree"])
        self.assertEqual(cases["tcp/randread/4k/qd1"]["ours"], 100)
        self.assertEqual(cases["mpath/ghost/safe"]["rounds"], {"ours": 200})
        self.assertEqual([row["name"] for row in written["single"]], ["single/randread/4k/qd16"])
        self.assertEqual(written["host_side"][0]["ours"], 90)
        self.assertEqual([(row["name"], row["ours"], row["tuned"]) for row in written["host"]],
                         [("host/randread/4k/qd1", 50, 50)])
        self.assertEqual(cases["mpath/depth256/4paths"]["ours"], 10)
        self.assertEqual(cases["mem/queue"]["ratio"], 0.8)
        for name in cases:
            self.assertIn(name, printed.getvalue())


if __name__ == "__main__":
    unittest.main()
