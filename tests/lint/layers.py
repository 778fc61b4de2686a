#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: layers.py FOLDER

Check the order of the modules' files: layers call down only, and no files call each other in a circle. FOLDER is a
directory in which kmod/build has built the modules. A file uses another one if its object has an undefined symbol that
the other one defines: called functions, variables, and functions in tables. Calls up go through the tables of
core/upcalls.h and are not checked; nor are trace points, which are defined in one file for all layers.
"""

import subprocess
import sys
from pathlib import Path

# From bottom to top. A layer uses those of earlier lines; layers of one line do not use each other.
LAYERS = [
    ("compat",),
    ("wire",),
    ("core ground",),
    ("core",),
    ("mpath", "tcp", "rdma", "nvfs"),
    ("control",),
    ("module",),
]
# Files of core that the other files of core use
GROUND = {"addr", "backoff", "cmd", "ctrl", "direct", "numbers", "probation", "queue", "state", "subsys", "work"}
UPWARDS = {"nof_mpath", "nof_paths", "nof_control"}
TRACE_POINTS = ("__tracepoint_", "__traceiter_", "__probestub_", "__SCT__tp_func_", "__SCK__tp_func_", "__bpf_trace_")
ENTRY_POINTS = {"init_module", "cleanup_module", "__this_module"}
RANK = {layer: rank for rank, line in enumerate(LAYERS) for layer in line}


def layer(name):
    folder, _, file = name.rpartition("/")
    if not folder:
        return "module"
    if folder not in RANK:
        sys.exit(f"layers: {folder} has no place in LAYERS")
    return "core ground" if folder == "core" and file in GROUND else folder


def symbols(built):
    """For each file the symbols that it defines and those that it uses."""
    for source in sorted((built / "kmod").rglob("*.c")):
        ran = subprocess.run(["nm", source.with_suffix(".o")], capture_output=True, text=True, check=True)
        words = [line.split() for line in ran.stdout.splitlines()]
        wanted = {w[1] for w in words if w[0] == "U" and not w[1].startswith(TRACE_POINTS)} - UPWARDS
        defined = {w[2] for w in words if len(w) == 3 and w[1] in "TDBR" and not w[2].startswith(TRACE_POINTS)}
        defined -= ENTRY_POINTS
        yield str(source.relative_to(built / "kmod").with_suffix("")), defined, wanted


def uses(files):
    """{file: {used file: one of the used symbols}}"""
    home = {symbol: name for name, defined, _ in files for symbol in defined}
    found = {}
    for name, _, wanted in files:
        found[name] = {home[s]: s for s in sorted(wanted) if home.get(s, name) != name}
    return found


def circle(arrows):
    """Returns a circle of files, or nothing."""
    done, way = set(), []

    def walk(name):
        if name in way:
            return way[way.index(name) :]
        if name in done:
            return None
        way.append(name)
        found = next(filter(None, (walk(other) for other in sorted(arrows[name]))), None)
        way.pop()
        done.add(name)
        return found

    return next(filter(None, map(walk, sorted(arrows))), None)


def problems(arrows):
    for name, others in sorted(arrows.items()):
        for other, symbol in sorted(others.items()):
            lower, upper = layer(other), layer(name)
            if lower != upper and RANK[lower] >= RANK[upper]:
                yield f"kmod/{name}.c: uses {symbol} of kmod/{other}.c: {upper} is not above {lower}"
    found = circle(arrows)
    if found:
        steps = [f"{a} -> {b} ({arrows[a][b]})" for a, b in zip(found, found[1:] + found[:1])]
        yield "a circle: " + ", ".join(steps)


def check_itself():
    """Self-test: a circle and a call up are detected."""
    bad = {"core/ctrl": {"core/scan": "a"}, "core/scan": {"mpath/head": "b"}, "mpath/head": {"core/ctrl": "c"}}
    if len(list(problems(bad))) != 3 or list(problems({"mpath/head": {"core/ctrl": "c"}, "core/ctrl": {}})):
        sys.exit("layers: what is wrong was not found")


def main():
    if len(sys.argv) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    check_itself()
    files = list(symbols(Path(sys.argv[1])))
    found = list(problems(uses(files)))
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    public = sum(len(defined) for _, defined, _ in files)
    print(f"layers: {len(files)} files, {public} functions and variables that others may use")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
