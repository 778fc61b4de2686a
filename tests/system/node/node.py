# SPDX-License-Identifier: LGPL-2.1-or-later
"""A node: Debian 12 with systemd in a virtual machine, which executes commands from a serial line, and reboots. It
reaches services on this machine's 127.0.0.1 at 10.0.2.2."""
import atexit
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import select
import shutil
import socket
import subprocess
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build")).resolve()
HERE = "10.0.2.2"
ROOT_MIB = 512  # of a node with a disk
EMULATOR_THREAD = os.environ.get("NVMEOF_EMULATOR_THREAD", "multi")  # "single": all CPUs in one, see emulator_fault()

KERNEL = ("console=ttyS0,115200 panic=-1 oops=panic softlockup_panic=1 mitigations=off no_timer_check quiet loglevel=4 "
          "cryptomgr.notests=1 initcall_blacklist=jent_mod_init "
          "systemd.show_status=1 systemd.log_target=console")


class Failure(Exception):
    pass


def judge():
    """qemu/judge as a module, for its list of kernel complaints"""
    loader = importlib.machinery.SourceFileLoader("judge", str(TOP / "qemu/judge"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("judge", loader))
    loader.exec_module(module)
    return module


def full_version(kernel):
    """6.12.117+deb12-amd64 for 6.12"""
    return subprocess.run([TOP / "qemu/kernel", kernel], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


class Target:
    """nvmeof-target on this machine"""

    def __init__(self, *options):
        self.process = subprocess.Popen(
            [BUILD / "user/tests/target/nvmeof-target", "-a", "127.0.0.1", "-p", "0", "--advertise", HERE, *options],
            stdout=subprocess.PIPE, text=True)
        atexit.register(self.end)  # ctest waits for it: it has the output of the test
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])

    def signal(self, which):
        self.process.send_signal(which)

    def end(self):
        self.process.kill()
        self.process.wait()


class Machine:
    """A machine that boots, executes commands, and powers off; its disks are files."""

    def __init__(self, name, kernel):
        self.results = BUILD / "guest" / name
        self.results.mkdir(parents=True, exist_ok=True)
        self.log = BUILD / "guest" / f"{name}.log"
        self.log.write_text("")
        self.scratch = tempfile.TemporaryDirectory()
        self.kver = full_version(kernel)
        self.kernel = pathlib.Path(f"/boot/vmlinuz-{self.kver}")
        self.firmware = []  # arguments of the emulator for firmware other than its own
        self.initrd, self.disks, self.arguments = None, [], ""
        self.number = 0
        self.text = ""
        self.qemu = None
        self.began = time.monotonic()

    def make_disk(self, name, content, label, size):
        """An ext4 image with the content of a directory"""
        disk = pathlib.Path(self.scratch.name) / name
        subprocess.run(["/usr/sbin/mke2fs", "-q", "-t", "ext4", "-L", label, "-d", content, disk, size],
                       stdout=subprocess.DEVNULL, check=True)
        return disk

    def start(self):
        line = pathlib.Path(self.scratch.name) / "line"
        line.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(line))
        listener.listen()
        drives = []
        for number, disk in enumerate(self.disks):
            drives += ["-drive", f"if=none,id=disk{number},file={disk},format=raw,cache=unsafe",
                       "-device", f"virtio-blk-pci,drive=disk{number}"]
        # accelerator, processor and machine type as in qemu/run
        self.qemu = subprocess.Popen(
            ["qemu-system-x86_64", "-machine", "pc-q35-7.1", "-accel", f"tcg,thread={EMULATOR_THREAD}",
             "-cpu", "max,-la57,-smap,-smep,-umip,-pku,-erms", "-smp", "2", "-m", "2G",
             "-nodefaults", "-uuid", "6ba7b810-9dad-41d1-80b4-00c04fd430c8",
             "-display", "none", "-monitor", "none", *self.firmware, "-kernel", self.kernel, "-initrd", self.initrd,
             "-append", f"{KERNEL} {self.arguments}", "-serial", f"file:{self.log}", "-serial", f"unix:{line}",
             "-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net", *drives])
        listener.settimeout(10)
        self.line, _ = listener.accept()
        listener.close()

    def seconds(self):
        return time.monotonic() - self.began

    def _read_until(self, pattern, timeout, what):
        end = time.monotonic() + timeout
        while True:
            found = re.search(pattern, self.text, re.M)
            if found:
                before, self.text = self.text[:found.start()], self.text[found.end():]
                return found, before
            left = end - time.monotonic()
            if left <= 0 or self.qemu.poll() is not None:
                raise Failure(f"{what}: no answer in {timeout} s; so far: {self.text[-2000:]}")
            if select.select([self.line], [], [], min(left, 1))[0]:
                self.text += self.line.recv(65536).decode(errors="replace").replace("\r", "")

    def await_shell(self, timeout=300):
        """Waits for the shell after a start or reboot."""
        self._read_until(r"node-shell: ready\n", timeout, "boot")

    def await_network(self, timeout=120):
        """Waits for a route to the targets; services wait for it, the shell does not."""
        self.eventually(f"ip route get {HERE}", timeout)

    def run(self, command, timeout=120):
        """(status, output)"""
        self.number += 1
        self.line.sendall(f"{self.number} {command}\n".encode())
        found, before = self._read_until(rf"^{self.number}: (\d+)\n", timeout, command)
        return int(found[1]), before.strip()

    def must(self, command, timeout=120):
        status, text = self.run(command, timeout)
        if status:
            raise Failure(f"{command}: {status}: {text}")
        return text

    def eventually(self, command, timeout):
        """Repeats the command until it succeeds; returns the seconds that this took."""
        begin = time.monotonic()
        while True:
            status, text = self.run(command)
            if status == 0:
                return time.monotonic() - begin
            if time.monotonic() - begin > timeout:
                raise Failure(f"{command}: not within {timeout} s: {text}")
            time.sleep(0.3)

    def reboot(self, timeout):
        """Reboots and waits for the shell; returns the seconds until the kernel restarted."""
        begin = time.monotonic()
        size = len(self.console())
        self.line.sendall(b"0 systemctl --no-block reboot\n")
        while not re.search(r"reboot: Restarting system", self.console()[size:]):
            if time.monotonic() - begin > timeout:
                raise Failure(f"reboot: not within {timeout} s")
            time.sleep(0.2)
        took = time.monotonic() - begin
        self.text = ""
        self.await_shell()
        return took

    def poweroff(self, timeout):
        begin = time.monotonic()
        self.line.sendall(b"0 systemctl --no-block poweroff\n")
        try:
            self.qemu.wait(timeout)
        except subprocess.TimeoutExpired:
            raise Failure(f"power-off: not within {timeout} s") from None
        return time.monotonic() - begin

    def console(self):
        return self.log.read_text(errors="replace")

    def complaints(self):
        bad = judge().BAD
        return [line for line in self.console().splitlines() if bad.search(line)]

    def emulator_fault(self):
        """Whether it died of a fault of QEMU that occurs only with several threads."""
        return EMULATOR_THREAD == "multi" and judge().emulator_fault(self.console())

    def end(self):
        if self.qemu and self.qemu.poll() is None:
            self.qemu.kill()
            self.qemu.wait()


class Node(Machine):
    """Runs from memory except /var/lib/nvmeof; installed as by `make install`."""

    def __init__(self, name, kernel="6.12", config=""):
        """@config: content of /etc/nvmeof/nvmeof.toml, which is stored with the state"""
        super().__init__(name, kernel)
        image = subprocess.run([TOP / "tests/system/node/image/mkimage", kernel], check=True, stdout=subprocess.PIPE,
                               text=True)
        self.initrd = image.stdout.split()[-1]
        content = pathlib.Path(self.scratch.name) / "content"
        (content / "config").mkdir(parents=True)
        (content / "config/nvmeof.toml").write_text(config)
        self.disks = [self.make_disk("state", content, "state", "64M")]


class InstalledNode(Machine):
    """Runs from its own disk with installed packages; the disk's file is self.root."""

    def __init__(self, name, kernel, repositories, packages=(), options=()):
        """@options: options of mkroot"""
        super().__init__(name, kernel)
        root = pathlib.Path(self.scratch.name) / "root"
        subprocess.run([TOP / "tests/system/node/image/mkroot", *options, self.kver, root, *repositories, "--",
                        *packages],
                       check=True)
        self.initrd = pathlib.Path(self.scratch.name) / "initrd"
        shutil.copy(root / f"boot/initrd.img-{self.kver}", self.initrd)
        self.root = self.make_disk("disk", root, "node", f"{ROOT_MIB}M")
        shutil.rmtree(root)
        self.disks, self.arguments = [self.root], "root=LABEL=node rw"
