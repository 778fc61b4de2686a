# SPDX-License-Identifier: LGPL-2.1-or-later
"""Starts instances of nvmeof-cdc, etcd, storms and captures on this machine's loopback, for tests, demo and
benchmark."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

TOP = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build")).resolve()
TOOLS = BUILD / "user/tools"
CDC = TOOLS / "nvmeof-cdc/nvmeof-cdc"
STORM = TOOLS / "nvmeof-storm/nvmeof-storm"
CTL = TOOLS / "nvmeofctl/nvmeofctl"
PATIENCE = 60  # seconds for what takes one on an idle machine


class Trouble(Exception):
    """A program or service did not do what the test expects."""


RESERVATIONS = []  # sockets, see free_port()


def free_port(host="127.0.0.1"):
    """Returns a TCP port of host for this process alone, as freePort() of tests/unit/cdc/free_port.h does."""
    start = os.getpid() * 16 % 10000
    for port in (20000 + (start + i) % 10000 for i in range(1, 10000)):
        reservation = socket.socket(socket.AF_UNIX)
        try:
            reservation.bind(f"\0nvmeof-test-port-{port}".encode().ljust(108, b"\0"))
            with socket.socket() as one:
                one.bind((host, port))
        except OSError:
            reservation.close()
            continue
        RESERVATIONS.append(reservation)
        return port
    raise Trouble("there is no free port")


def until(holds, what, patience=PATIENCE):
    end = time.monotonic() + patience
    while not (value := holds()):
        if time.monotonic() > end:
            raise Trouble(f"{what}: not within {patience} s")
        time.sleep(0.02)
    return value


def pinned(processor):
    """For preexec_fn: pins the program to this processor if one is given."""
    return None if processor is None else lambda: os.sched_setaffinity(0, {processor})


class Process:
    """A program in the background, whose output is in a file."""

    def __init__(self, folder, name, command):
        self.name, self.command, self.log = name, [str(word) for word in command], folder / f"{name}.log"
        self.process = None
        self.processor = None

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log, preexec_fn=pinned(self.processor))
        return self

    @property
    def pid(self):
        return self.process.pid

    def running(self):
        return self.process is not None and self.process.poll() is None

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, patience=PATIENCE):
        try:
            return self.process.wait(patience)
        except subprocess.TimeoutExpired as late:
            raise Trouble(f"{self.name} does not end") from late

    def end(self):
        self.signal(signal.SIGTERM)
        return self.wait()

    def kill(self):
        if self.running():
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGKILL)
            self.wait()

    def words(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""


class Etcd(Process):
    def __init__(self, folder, name="etcd"):
        client, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        self.endpoint = client
        super().__init__(folder, name, [
            "etcd", "--name", name, "--data-dir", folder / f"{name}.data", "--listen-client-urls", client,
            "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
            "--initial-cluster", f"{name}={peer}", "--log-level", "error"])

    def start(self):
        super().start()
        until(self.answers, "etcd answers")
        return self

    def answers(self):
        try:
            with urllib.request.urlopen(f"{self.endpoint}/health", timeout=2) as answer:
                return json.load(answer).get("health") == "true"
        except OSError:
            return False


def etcd_store(etcd):
    return f'[store]\nengine = "etcd"\nendpoints = ["{etcd.endpoint}"]\n'


class Instance(Process):
    def __init__(self, folder, name="cdc", store=None, more="", address="127.0.0.1", tables="", processor=None):
        self.port = free_port(address)
        self.address = f"{address}:{self.port}"
        self.folder = folder / name
        self.folder.mkdir()
        self.socket = self.folder / "control"
        self.config = self.folder / "cdc.toml"
        self.more, self.tables = more, tables
        self.store = store or f'[store]\nfile = "{self.folder}/cdc.db"\n'
        self.configure()
        super().__init__(folder, name, [CDC, "serve", "--config", self.config])
        self.processor = processor

    def configure(self):
        self.config.write_text(
            f'listen = ["{self.address}"]\nadvertise = ["{self.address}"]\nstate = "{self.folder}"\n'
            f'control = "{self.socket}"\n{self.more if "web" in self.more else "web = []" + chr(10) + self.more}\n'
            f'{self.store}{self.tables}')

    def start(self):
        super().start()
        until(self.serves, f"{self.name} serves")
        return self

    def serves(self):
        if not self.running():
            raise Trouble(f"{self.name} has ended: {self.words()}")
        try:
            return self.told("status")
        except (Trouble, OSError):
            return None

    def told(self, *words):
        """The output of `nvmeofctl cdc` as a document."""
        done = self.ctl(*words, "--json")
        if done.returncode:
            raise Trouble(f"nvmeofctl cdc {' '.join(words)}: {done.stderr or done.stdout}")
        return json.loads(done.stdout)

    def ctl(self, *words):
        return subprocess.run([CTL, "cdc", *words, "--socket", self.socket], check=False, text=True,
                              capture_output=True)

    def ask(self, request):
        """Sends one line to the control socket, and returns the answer."""
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(str(self.socket))
            one.sendall(json.dumps(request).encode() + b"\n")
            with one.makefile() as answers:
                return json.loads(answers.readline())

    def set_targets(self, targets):
        answer = self.ask({"command": "set", "targets": targets})
        if "error" in answer:
            raise Trouble(answer["error"]["message"])
        return answer

    def generation(self):
        return self.told("status")["generation"]

    def memory(self):
        """Anonymous resident memory in bytes."""
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
        return 0

    def cpu(self):
        """CPU seconds so far: CLOCK_PROCESS_CPUTIME_ID of that process, encoded as by clock_getcpuclockid(3)."""
        return time.clock_gettime((~self.pid << 3) | 2)


def target(number, port=4420):
    return {"nqn": f"nqn.2024-01.com.example:flash{number // 4}",
            "traddr": f"10.{number // 62500}.{number // 250 % 250}.{number % 250 + 1}", "trsvcid": str(port)}


def zone_tables(zones, targets_each):
    """Zones with numbered hosts, and targets_each subsystem ports for each zone."""
    text = ""
    for zone in range(zones):
        nqns = ", ".join(f'"nqn.2024-01.com.example:flash{zone * targets_each // 4 + i}"'
                         for i in range(targets_each // 4))
        text += f'[[zone]]\nname = "z{zone}"\nhosts = ["nqn.2024-01.com.example:host*-z{zone}"]\ntargets = [{nqns}]\n'
    return text


def target_tables(count):
    return "".join("[[target]]\n" + "".join(f'{key} = "{value}"\n' for key, value in target(i).items())
                   for i in range(count))


def storm_command(instances, hosts, *options, hostnqn="nqn.2024-01.com.example:host{}-z0"):
    where = [word for one in instances for word in ("-a", one.address if hasattr(one, "address") else one)]
    return [str(word) for word in (STORM, *where, "-n", hosts, "--hostnqn", hostnqn, "--json", *options)]


def storm(instances, hosts, *options, processor=None, **more):
    """The storm's document, with its exit status."""
    done = subprocess.run(storm_command(instances, hosts, *options, **more), check=False, text=True,
                          capture_output=True, preexec_fn=pinned(processor))
    try:
        told = json.loads(done.stdout)
    except ValueError as error:
        raise Trouble(f"nvmeof-storm: {done.stderr or done.stdout}") from error
    told["status"] = done.returncode
    return told


@contextlib.contextmanager
def stage():
    """A temporary directory for all files. Programs that run() has started and registered end with it."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="nvmeof-cdc."))
    started = []

    def run(process):
        started.append(process)
        return process.start()

    try:
        yield folder, run
    except BaseException:
        for process in started:
            print(f"--- {process.name}:\n{process.words()[-4000:]}")
        raise
    finally:
        for process in reversed(started):
            process.kill()
        shutil.rmtree(folder, ignore_errors=True)
