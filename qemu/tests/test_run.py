#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests how qemu/run handles failing guests, and the report of qemu/check-guests, with a fake emulator."""
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import time
import unittest

HARNESS = pathlib.Path(__file__).resolve().parent.parent
KERNEL = "0-nvmeof-debug"  # in the cache of the test

# Plays the next prepared guest, a directory with its console and results. Peers have their own directories. The process
# that creates the sockets is the host. A guest with the file "stays" does not end.
EMULATOR = """#!/bin/bash
which=host
while [ $# -gt 0 ]; do
	case $1 in
	-serial) console=${2#file:} ;;
	-virtfs) results=${2#local,path=}; results=${results%%,*} ;;
	-pidfile) echo $$ > "$2"; which=peer ;;
	-netdev | -chardev) case $2 in *server=on*) ends+=("${2##*path=}") ;; esac ;;
	esac
	shift
done
for end in "${ends[@]}"; do
	python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "${end%%,*}"
done
# a host notes that it kills its peer before it does
[ $which = host ] || while compgen -G "$GUESTS/host*/results/peer-killed" > /dev/null; do sleep 0.05; done
guest=$(ls -d "$GUESTS/$which"* | head -n 1)
[ ! -e "$guest/stays" ] || { rm -rf "$guest"; exec sleep 60; }
cp "$guest/console" "$console"
cp -r "$guest/results/." "$results/"
rm -rf "$guest"
"""

CASE = "test: {0}\ntest: {1} {0} (1.000 s)\n"


def console(*cases, end="program: it: ended, some cases failed\n"):
    """The console of a program with these cases: (name, passed)."""
    out = "program: it\n"
    for name, passed in cases:
        out += CASE.format(name, "ok" if passed else "FAILED")
        out += "" if passed else f"again: qemu/run --kernel {KERNEL} --cmd 'it \"{name}\"'\n"
    return out + end


class RunTest(unittest.TestCase):
    def setUp(self):
        self.top = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("run", "judge", "common.sh", "check-guests"):
            (self.top / "qemu").mkdir(exist_ok=True)
            shutil.copy(HARNESS / name, self.top / "qemu")
        (self.top / "guests").mkdir()
        (self.top / "cache/kernels" / KERNEL / "lib/modules" / KERNEL).mkdir(parents=True)
        self.script("bin/qemu-system-x86_64", EMULATOR)
        for name in ("mkinitramfs", "mkoverlay"):
            self.script("qemu/" + name, "#!/bin/sh\necho /dev/null\n")

    def script(self, name, text):
        path = self.top / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def guest(self, text, status=1, dmesg="<6>[    1.000000] Linux\n", which="host"):
        """Prepares the next guest; returns its results directory."""
        number = len(list((self.top / "guests").iterdir()))
        results = self.top / "guests" / f"{which}{number}" / "results"
        results.mkdir(parents=True)
        (results.parent / "console").write_text(text)
        (results / "checks").write_text("unload=ok\ncaches=\n")
        (results / "dmesg").write_text(dmesg)
        if status is not None:
            (results / "status").write_text(f"exit={status}\n")
        return results

    def peer(self, *words, **options):
        return self.guest(*words, **options, which="peer")

    def run_it(self, *words, repeat="1", deadline="", seed=""):
        environment = os.environ | {"PATH": f"{self.top}/bin:{os.environ['PATH']}", "NVMEOF_REPEAT": repeat,
                                    "GUESTS": str(self.top / "guests"), "BUILD": str(self.top / "build"),
                                    "NVMEOF_CACHE": str(self.top / "cache"),
                                    "CHECK_DEADLINE": str(deadline and int(deadline)), "NVMEOF_SEED": seed}
        return subprocess.run(words, cwd=self.top, env=environment, capture_output=True, text=True, check=False)

    def play(self, *words, **options):
        done = self.run_it("qemu/run", "--kernel", KERNEL, "--name", "group", "--cmd", "it", *words, **options)
        self.left = len(list((self.top / "guests").iterdir()))
        return done.returncode

    def flaky(self):
        return self.run_it("qemu/check-guests", "--flaky").stdout

    def test_all_is_well(self):
        self.guest(console(("one", True)), 0)
        self.assertEqual(self.play(), 0)
        self.assertEqual(self.flaky(), "flaky: no case\n")

    def test_a_case_that_passes_alone_is_flaky_by_name(self):
        self.guest(console(("one", False), ("two", True), ("three", False)))
        self.guest(console(("one", True)), 0)
        self.guest(console(("three", True)), 0)
        self.assertEqual((self.play(), self.left), (0, 0))
        told = self.flaky().splitlines()
        self.assertEqual(told[0], "flaky: 2 case(s) failed, and passed when run again:")
        self.assertRegex(told[1], r'^  guest-group "one" \(log .*/group.log; it passed in group.again1.log\)$')
        self.assertIn('"three"', told[2])

    def test_in_the_core_a_flaky_case_is_named_and_fails(self):
        self.guest(console(("one", False), ("two", True)))
        self.guest(console(("one", True)), 0)
        self.assertEqual((self.play(repeat="tell"), self.left), (1, 0))
        self.assertIn('"one"', self.flaky())

    def test_a_kernel_for_arm64_has_its_own_emulator_and_root(self):
        kernel = "6.12.1-arm64"
        (self.top / "cache/arm64/lib/modules" / kernel).mkdir(parents=True)
        self.script("bin/qemu-system-aarch64", '#!/bin/bash\necho "$@" > "$GUESTS/arguments"\n' + EMULATOR)
        self.guest(console(("one", True)), 0)
        self.assertEqual(self.run_it("qemu/run", "--kernel", kernel, "--name", "group", "--cmd", "it").returncode, 0)
        arguments = (self.top / "guests/arguments").read_text()
        self.assertIn(f"/cache/arm64/boot/vmlinuz-{kernel} ", arguments)
        self.assertIn("console=ttyAMA0", arguments)

    def test_the_seed_can_be_given(self):
        for seed in ("", "4711"):
            with self.subTest(seed):
                self.guest(console(("one", False)))
                done = self.run_it("qemu/run", "--kernel", KERNEL, "--name", "group", "--cmd", "it", repeat="",
                                   seed=seed)
                self.assertRegex(done.stdout, f"once more: .* --env NVMEOF_SEED={seed or '[0-9]+'} ")

    def test_a_case_that_fails_twice_has_failed(self):
        self.guest(console(("one", False)))
        self.guest(console(("one", False)))
        self.guest(console(("one", True)), 0)
        self.assertEqual((self.play(), self.left), (1, 1))
        self.assertEqual(self.flaky(), "flaky: no case\n")

    def test_what_is_final_is_not_repeated(self):
        self.guest(console(("one", False)), dmesg="<4>[ 1.0] BUG: KASAN: slab-use-after-free in f\n")
        self.guest(console(("one", True)), 0)
        self.assertEqual((self.play(), self.left), (1, 1))

    def test_what_load_explains_is_repeated_only_where_it_shows(self):
        for accel, left in (("mttcg", 0), ("icount", 1)):
            with self.subTest(accel):
                self.guest(console(("one", False)), dmesg="<4>[    1.000000] watchdog: BUG: soft lockup - CPU#0\n")
                self.guest(console(("one", True)), 0)
                self.assertEqual((self.play("--accel", accel), self.left), (left, left))

    def test_a_check_that_has_no_time_left_runs_nothing(self):
        self.guest(console(("one", True)), 0)
        self.assertEqual((self.play(deadline=time.time() - 1), self.left), (77, 1))
        self.assertEqual((self.play(deadline=time.time() + 100), self.left), (0, 0))

    def test_a_guest_or_a_program_that_died_is_not_repeated(self):
        for text, status in ((console(("one", False)), None), (console(("one", False), end=""), 1)):
            with self.subTest(status):
                self.guest(text, status)
                self.guest(console(("one", True)), 0)
                self.assertEqual((self.play(), self.left), (1, 1))
                shutil.rmtree(self.top / "guests")
                (self.top / "guests").mkdir()

    def test_nothing_is_repeated_unless_asked_for(self):
        self.guest(console(("one", False)))
        self.guest(console(("one", True)), 0)
        self.assertEqual((self.play(repeat=""), self.left), (1, 1))

    def verdicts(self):
        """How each guest of the last run ended."""
        lines = (self.top / "build/guest/group/verdict").read_text().splitlines()
        return [" ".join(line.split()[1:3]) for line in lines if line.startswith("guest group")]

    def test_two_guests_are_judged(self):
        self.guest(console(("one", True)), 0)
        self.peer("there\n", 0)
        self.assertEqual((self.play("--peer"), self.left), (0, 0))
        self.assertEqual(self.verdicts(), ["group: passed", "group-peer: passed"])
        self.assertEqual((self.top / "build/guest/group-peer.log").read_text(), "there\n")

    def test_a_peer_has_to_end_well(self):
        for status, dmesg in ((0, "<4>[ 1.0] WARNING: CPU: 0 PID: 1 at a.c:1 f\n"), (1, "<6>[ 1.0] Linux\n"),
                              (None, "<6>[ 1.0] Linux\n")):
            with self.subTest(status=status, dmesg=dmesg):
                self.guest(console(("one", True)), 0)
                self.peer("there\n", status, dmesg)
                self.assertEqual((self.play("--peer"), self.left), (1, 0))
                self.assertEqual(self.verdicts(), ["group: passed", "group-peer: FAILED"])

    def test_a_peer_that_was_killed_has_no_end(self):
        for dmesg, status in (("", 0), ("<4>[ 1.0] WARNING: CPU: 0 PID: 1 at a.c:1 f\n", 1)):
            with self.subTest(status):
                (self.guest(console(("one", True)), 0) / "peer-killed").touch()
                self.peer("there\n", None, dmesg)
                self.assertEqual(self.play("--peer"), status)

    def test_a_peer_that_stays_is_ended(self):
        self.guest(console(("one", True)), 0)
        (self.peer("there\n", 0).parent / "stays").touch()
        began = time.time()
        self.assertEqual((self.play("--peer", "--timeout", "2"), self.left), (1, 0))
        self.assertEqual(self.verdicts(), ["group: passed", "group-peer: FAILED"])
        self.assertLess(time.time() - began, 30)

    def test_cases_that_failed_are_repeated_with_a_peer_where_that_was_well(self):
        for dmesg, left in (("<6>[ 1.0] Linux\n", 0), ("<4>[ 1.0] BUG: KASAN: slab-use-after-free in f\n", 2)):
            with self.subTest(dmesg):
                shutil.rmtree(self.top / "guests")
                (self.top / "guests").mkdir()
                self.guest(console(("one", False)).replace("--kernel", "--peer --kernel"))
                self.peer("there\n", 0, dmesg)
                self.guest(console(("one", True)), 0)
                self.peer("there\n", 0)
                self.assertEqual((self.play("--peer"), self.left), (int(left > 0), left))

    def test_cost(self):
        self.guest(console(("one", False)))
        self.guest(console(("one", True)), 0)
        self.play()
        lines = [line.split() for line in self.run_it("qemu/check-guests", "--cost").stdout.splitlines()]
        self.assertEqual([line[0] for line in lines], ["group", "group", "sum"])
        self.assertEqual(lines[1][1], "mttcg")


if __name__ == "__main__":
    unittest.main()
