#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the judge: made-up runs with one fault each must be judged bad for that reason."""
import importlib.machinery
import importlib.util
import pathlib
import tempfile
import unittest

PATH = pathlib.Path(__file__).resolve().parent.parent / "judge"


def load():
    loader = importlib.machinery.SourceFileLoader("judge", str(PATH))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("judge", loader))
    loader.exec_module(module)
    return module


JUDGE = load()
GOOD = {
    "log": "guest: kernel 6.12\n",
    "status": "exit=0\n",
    "checks": "unload=ok try 1\ncaches=\nkmemleak=\n",
    "dmesg": "<6>[    1.000000] Linux\n<4>[    2.000000] nvmeof: loading out-of-tree module taints kernel.\n",
    "qemu.exit": "0\n",
    "qemu.err": "",
}


class JudgeTest(unittest.TestCase):
    def complaints(self, options=None, **changes):
        """Judges GOOD with some files replaced (by None: removed); '_' in a name stands for '.'."""
        with tempfile.TemporaryDirectory() as folder:
            results = pathlib.Path(folder)
            files = GOOD | {name.replace("_", "."): text for name, text in changes.items()}
            for name, text in files.items():
                if text is not None:
                    (results / name).write_text(text)
            return JUDGE.judge(results / "log", results, **(options or {}))

    def assert_one(self, expected, found):
        self.assertEqual(len(found), 1, found)
        self.assertIn(expected, found[0])

    def test_good_run(self):
        self.assertEqual(self.complaints(), [])

    def test_a_fault_of_the_emulator_is_known(self):
        lockup = "watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [kworker/1:2]\nRIP: 0010:f+0x5/0x10\nCode: {}\n"
        for text, fault in (("Oops: int3: 0000 [#1]", True),
                            (lockup.format("48 89 e5 <eb> 12 90"), True),
                            (lockup.format("48 89 e5 <0f> 1f 44 00 00"), True),
                            (lockup.format("48 89 e5 <f3> 90 8b"), False),
                            (lockup.format("48 <f3> 90") + "WARNING\nCode: 48 <eb> 12\n", False),
                            ("Code: <eb> 12", False)):
            with self.subTest(text):
                self.assertEqual(JUDGE.emulator_fault(text), fault)

    def test_job_failed(self):
        self.assert_one("ended with 3", self.complaints(status="exit=3\n"))

    def test_no_status_is_a_failure(self):
        self.assert_one("died", self.complaints(status=None))
        self.assert_one("hung", self.complaints(status=None, qemu_exit="124\n"))
        self.assert_one("no end after 275 s of the guest's time", self.complaints(status=None, hung="275\n"))

    def test_one_that_was_killed_leaves_no_status(self):
        gone = {"status": None, "checks": None, "dmesg": None}
        self.assertEqual(self.complaints({"killed": True}, **gone), [])
        self.assert_one("BUG", self.complaints({"killed": True}, **gone, log="[    1.0] BUG: x\n"))
        self.assert_one("console", self.complaints({"killed": True}, **gone, log=""))

    def test_first_complaint_is_shown_wherever_it_stands(self):
        far, bad = [f"line {n}" for n in range(200)], "[ 1.0] BUG: soft lockup"
        trace, tail = JUDGE.ends("\n".join([*far, bad, *far]), ["final: none", "kernel: " + bad])
        self.assertEqual((trace[0], trace[1], len(trace)), (bad, "line 0", JUDGE.TRACE_LINES))
        self.assertEqual((tail[-1], len(tail)), ("line 199", JUDGE.TAIL_LINES))
        self.assertEqual(JUDGE.ends("\n".join([*far, bad, *far]), [])[0], [])
        trace, tail = JUDGE.ends("\n".join([*far, bad, "end"]), ["kernel: " + bad])
        self.assertEqual((trace, tail[-2:]), ([], [bad, "end"]))
        self.assertEqual(JUDGE.ends("", []), ([], []))

    def test_what_a_run_cost(self):
        self.assertEqual(JUDGE.spent({"seconds": "9.5", "user": "7.0", "system": "1.5"}), "9.5 s, 8.5 of CPU")
        self.assertEqual(JUDGE.spent({}), "? s, 0.0 of CPU")

    def test_half_written_status_is_a_failure(self):
        self.assert_one("died", self.complaints(status="exi"))

    def test_kernel_messages(self):
        for text in ("WARNING: CPU: 0 PID: 1 at a.c:1 f+0x1/0x2", "BUG: kernel NULL pointer dereference, address: 0",
                     "kernel BUG at a.c:1!", "Oops: 0000 [#1] SMP", "WARNING: possible circular locking dependency",
                     "INFO: task fio:12 blocked for more than 40 seconds.", "refcount_t: underflow; use-after-free.",
                     "UBSAN: array-index-out-of-bounds in a.c", "BUG: KASAN: slab-use-after-free in f",
                     "Call Trace:", "Call trace:",
                     "BUG nof_cmd (Tainted: G  O): Objects remaining on __kmem_cache_shutdown()",
                     "watchdog: BUG: soft lockup - CPU#0 stuck for 22s!",
                     "list_del corruption, x->next is LIST_POISON1",
                     "nvmeof: Unknown symbol x (err -2)", "ODEBUG: Out of memory. ODEBUG disabled",
                     "kmemleak: Kernel memory leak detector disabled", "INFO: lockdep is turned off."):
            with self.subTest(text):
                self.assert_one(text, self.complaints(dmesg=f"<4>[    3.000000] {text}\n"))

    def test_panic_seen_on_console_alone(self):
        found = self.complaints(status=None, dmesg=None, log="[    3.000000] Kernel panic - not syncing: x\r\n")
        self.assertEqual(len(found), 2, found)
        self.assertIn("Kernel panic", found[1])

    def test_job_output_is_no_kernel_message(self):
        self.assertEqual(self.complaints(log="the job says WARNING: all is well\n"), [])

    def test_allowed_message(self):
        dmesg = "<4>[    3.000000] WARNING: expected one\n"
        self.assertEqual(self.complaints({"allowed": ["expected one"]}, dmesg=dmesg), [])
        self.assert_one("expected one", self.complaints({"allowed": ["another"]}, dmesg=dmesg))

    def test_warnings_that_linux_gives_by_itself(self):
        begin, end = "------------[ cut here ]------------", "---[ end trace 0000000000000000 ]---"
        at = "WARNING: CPU: 1 PID: 7 at rxe_verbs.c:1019 rxe_post_recv+0x103/0x1c0 [rdma_rxe]"
        mad = [" ib_mad_post_receive_mads+0x1b8/0x380 [ib_core]", " ib_mad_recv_done+0x38c/0xdc0 [ib_core]"]
        other = "BUG: KASAN: slab-use-after-free in f+0x1/0x2"
        ours = "WARNING: CPU: 0 PID: 8 at a.c:1 nof_queue_free+0x1/0x2 [nvmeof]"
        for lines, good in (([begin, at, "Call Trace:", *mad, end], True),
                            ([begin, at, "Modules linked in: nvmeof(OE)", "Call Trace:", *mad, end], True),
                            ([begin, at, "Call Trace:", *mad], False),
                            ([begin, at, "Call Trace:", mad[0], end], False),
                            ([begin, at, "Call Trace:", *mad, other, end], False),
                            ([begin, ours, begin, at, "Call Trace:", *mad, end], False),
                            ([begin, ours, "Call Trace:", " rxe_post_recv+0x1/0x2", *mad, end], False),
                            ([begin, at, "Call Trace:", *mad, " nof_rdma_recv_init+0x1/0x2", end], False)):
            dmesg = "".join(f"<4>[    3.000000] {line}\n" for line in lines)
            with self.subTest(lines=lines):
                self.assertEqual(self.complaints(dmesg=dmesg) == [], good)
                # a complaint after it counts
                self.assertNotEqual(self.complaints(dmesg=dmesg + "<4>[    3.100000] BUG: x: y\n"), [])

    def test_driver_errors_count_only_when_asked(self):
        dmesg = "<3>[    3.000000] nvmeof nvmeof0c1: connect failed\n"
        self.assertEqual(self.complaints(dmesg=dmesg), [])
        self.assert_one("driver error", self.complaints({"quiet_driver": True}, dmesg=dmesg))

    def test_checks(self):
        self.assert_one("do not unload", self.complaints(checks="unload=failed Module in use\n"))
        self.assert_one("nof_cmd", self.complaints(checks="unload=ok\ncaches=nof_cmd\n"))
        self.assert_one("kmemleak", self.complaints(checks="unload=ok\nkmemleak=2\n"))

    def test_leaks_of_the_kernel_itself(self):
        head = "unreferenced object 0xffff888006295000 (size 2048):\n  backtrace (crc 5f733b62):\n"
        known = head + "    iov_iter_extract_pages+0x919/0x27d0\n    bio_map_user_iov+0x2f1/0x9a0\n"
        ours = head + "    kmalloc+0x24/0x30\n    nof_ctrl_create+0x1/0x2 [nvmeof]\n"
        found = {"checks": "unload=ok\nkmemleak=1\n", "dmesg": "<6>[ 5.0] kmemleak: 1 new suspected memory leaks\n"}
        self.assertEqual(self.complaints(kmemleak=known, **found), [])
        self.assertEqual(len(self.complaints(kmemleak=known + ours, **found)), 2)
        self.assertEqual(len(self.complaints(kmemleak=ours, **found)), 2)

    def test_leaks_of_the_kernel_itself_that_come_with_a_message(self):
        leak = ("unreferenced object 0xffff88800a1b6000 (size 1024):\n  backtrace (crc 33ff7208):\n"
                "    __kmalloc_cache_node_noprof+0x23c/0x3b0\n    blk_mq_alloc_and_init_hctx+0x5ae/0x1200\n")
        found = {"checks": "unload=ok\nkmemleak=1\n", "kmemleak": leak}
        counted = "<6>[ 5.0] kmemleak: 1 new suspected memory leaks\n"
        message = "<3>[ 4.0] kobject: kobject_add_internal failed for cpu0 (error: -12 parent: 2)\n"
        self.assertEqual(self.complaints(dmesg=message + counted, **found), [])
        self.assertEqual(len(self.complaints(dmesg=counted, **found)), 2)

    def test_allocations(self):
        files = {"module-range": "ffffffffc0100000\nffffffffc0110000\n",
                 "allocations": "      3 0xffffffffc0100010 age=1 pid=1 cpus=0\n"
                                "     9 0xffffffffc0200000 age=1 pid=1\n"}
        self.assert_one("3 objects from module text + 0x10", self.complaints(**files))

    def test_missing_evidence(self):
        self.assert_one("no dmesg", self.complaints(dmesg=None))
        self.assert_one("no checks", self.complaints({"checks_expected": True}, checks=None))
        self.assert_one("console", self.complaints(log=""))

    def test_what_the_tests_said(self):
        console = ("test: one\r\n\x1b[0;37ma.cpp:7: \x1b[1;31mFAILED:\r\n\x1b[0m  CHECK( x )\r\n"
                   "with expansion:\r\n  false\r\n\r\nmore of it\r\n"
                   "test: FAILED one (1.000 s)\r\ntest: ok two\r\n")
        self.assertEqual(list(JUDGE.failures(console)),
                         ["a.cpp:7: FAILED:", "  CHECK( x )", "with expansion:", "  false",
                          "test: FAILED one (1.000 s)"])
        console = "fuzz_pdu: FAILED 7:12: wrong data read\r\n  nothing\r\n  again: qemu/run\r\nagain: qemu/run\r\n"
        self.assertEqual(list(JUDGE.failures(console)),
                         ["fuzz_pdu: FAILED 7:12: wrong data read", "  again: qemu/run", "again: qemu/run"])

    def test_what_no_load_explains(self):
        def final(complaint, failed=(), counted=False):
            return JUDGE.reasons([complaint], list(failed), counted)[0].startswith("final: ")

        for text in ("kernel: BUG: KASAN: slab-use-after-free in judge_stall+0x1/0x2 [nvmeof]",
                     "kernel: ODEBUG: Out of memory. ODEBUG disabled", "kernel: WARNING: possible circular locking",
                     "kernel: BUG: Poison overwritten", "modules do not unload: in use", "slab caches left: nof_cmd",
                     "never freed: 3 objects", "kmemleak found 1 leaks: see the file kmemleak"):
            with self.subTest(text):
                self.assertTrue(final(text))
        for text in ("kernel: watchdog: BUG: soft lockup - CPU#1 stuck for 26s!", "the job ended with 1",
                     "kernel: rcu: INFO: rcu_preempt detected stalls on CPUs/tasks", "no end after 300 s: it hung",
                     "kernel: INFO: task fio:7 blocked for more than 120 seconds.", "kernel: Call Trace:"):
            with self.subTest(text):
                self.assertFalse(final(text))
                self.assertEqual(final(text, counted=True), text.startswith("kernel: "))
        for text in ("no end after 300 s of the guest's time: the job hung", "driver error: [ 3.0] nvmeof: x",
                     "the guest left no dmesg"):
            with self.subTest(text):
                self.assertEqual((final(text), final(text, counted=True)), (False, True))
        for text in ("  -84 == 0", "fuzz_pdu: FAILED 7:12: wrong data read", "fio: verify: bad header rand_seed 1",
                     "  CHECK( in.holds(seed) )", "left behind: controller nvmeof0c1, connecting"):
            with self.subTest(text):
                self.assertTrue(final("the job ended with 1", [text]))
                self.assertTrue(final("the job ended with 1", [text], counted=True))
        self.assertFalse(final("the job ended with 1", ["  -5 == 0", "  184 == 0"]))

    def test_final_comes_first(self):
        many = [f"driver error: {i}" for i in range(30)] + ["kmemleak found 1 leaks"]
        self.assertEqual(JUDGE.reasons(many, [], False)[:2], ["final: kmemleak found 1 leaks", "driver error: 0"])

    CONSOLE = ("program: one\r\ntest: first\r\n"
               "section: a\r\nsection: FAILED a (0.1 s)\r\nagain: qemu/run --cmd 'a'\r\n"
               "test: FAILED first (1.000 s)\r\ntest: second (of two)\r\ntest: ok second (of two) (0.100 s)\r\n"
               "test: third\r\ntest: FAILED third (2.000 s)\r\n"
               "again: qemu/run --cmd 'c'\r\nagain: qemu/run --cmd 'c'\r\n"
               "program: one: ended, 2 cases failed\r\n")

    def repeated(self, console=CONSOLE, complaints=("the job ended with 1",), status=(("exit", "1"),)):
        return JUDGE.may_be_repeated(list(complaints), console, dict(status))

    def test_failed_cases_alone_may_be_repeated(self):
        wanted = {"first": ["qemu/run --cmd 'a'"], "third": ["qemu/run --cmd 'c'"]}
        self.assertEqual(self.repeated(), wanted)
        self.assertEqual(self.repeated(complaints=["the job ended with 1", "kernel: watchdog: soft lockup"]), wanted)

    def test_nothing_is_repeated_where_more_than_cases_failed(self):
        self.assertEqual(self.repeated(complaints=["final: kernel: WARNING: x", "the job ended with 1"]), {})
        self.assertEqual(self.repeated(status=()), {})  # the guest hung or died
        with self.subTest("a program died, and the rest of its cases was never run"):
            self.assertEqual(self.repeated("program: two\n" + self.CONSOLE), {})
            self.assertEqual(self.repeated(self.CONSOLE.replace(": ended", ": ends")), {})
        with self.subTest("a case that nobody says how to run again"):
            self.assertEqual(self.repeated(self.CONSOLE.replace("again: qemu/run --cmd 'c'", "")), {})
        with self.subTest("too many"):
            more = "".join(f"test: {n}\ntest: FAILED {n} (1.0 s)\nagain: qemu/run\n" for n in range(3))
            self.assertEqual(self.repeated(more + self.CONSOLE), {})

    def test_figures(self):
        console = "figure: a, root: 1\r\nnot a figure: b: 2\r\nfigure: c: 3\r\nfigure: a, root: 4\r\n"
        self.assertEqual(JUDGE.figures(console), ["figure: a, root: 4", "figure: c: 3"])


if __name__ == "__main__":
    unittest.main()
