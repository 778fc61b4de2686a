# SPDX-License-Identifier: LGPL-2.1-or-later
"""A test of a node as a sequence of steps; each script of this folder has one."""
import os
import signal
import subprocess
import sys

from node import BUILD, TOP, Failure

STEP = 150  # seconds that a step may take, on a machine that has other things to do


def check(good, what):
    if not good:
        raise Failure(what)


def packages(name, kver, *options):
    """Builds a repository of the packages, with the modules for @kver, in a directory of that name; @options: of
    tools/packaging/deb."""
    subprocess.run([TOP / "qemu/deps", TOP / "tests/system/install/host.packages"], check=True)
    folder = BUILD / "guest/deb" / name
    subprocess.run([TOP / "tools/packaging/deb", "--staged", "--fast", "--out", folder, "--modules", kver, *options],
                   check=True, stdout=subprocess.DEVNULL)
    return folder


class Story:
    """Its steps are methods that raise Failure. Subclasses create the node and its targets."""
    name = ""
    node = None
    targets = ()
    report = "systemctl --no-pager --failed; nvmeofctl list; lsblk -f; dmesg | tail -20"  # of a node that has failed

    def steps(self):
        raise NotImplementedError

    def tell(self, what):
        print(f"{self.name}: {self.node.seconds():6.1f} s: {what}", flush=True)

    def power_off(self, timeout=STEP):
        """Powers off and checks the kernel's messages since the start; returns the seconds that the power-off took."""
        took = self.node.poweroff(timeout)
        complaints = self.node.complaints()
        check(not complaints, "the kernel: " + "; ".join(complaints[:5]))
        return took

    def play(self):
        """Returns the exit code. If the emulator was at fault, the script restarts with a slower emulator instead."""
        try:
            for step in self.steps():
                step()
        except Failure as failure:
            if self.node.emulator_fault():
                print(f"{self.name}: the emulator kept a stale translation of patched code; once more")
                self.end()
                self.node.scratch.cleanup()
                os.execve(sys.argv[0], sys.argv, os.environ | {"NVMEOF_EMULATOR_THREAD": "single"})
            if self.node.qemu and self.node.qemu.poll() is None:
                print(self.node.run(self.report)[1])
            print(f"{self.name}: FAILED: {failure}\nits console: {self.node.log}")
            return 1
        finally:
            self.end()
        return 0

    def end(self):
        self.node.end()
        for target in self.targets:
            target.signal(signal.SIGCONT)
            target.end()
