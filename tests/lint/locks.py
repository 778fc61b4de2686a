#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compare the order of the mutexes in the sources with Documentation/locking.md.

Coccinelle finds which function takes which mutex, and which functions are called with a mutex held
(cocci/facts/locks.cocci). Calls are followed transitively, also through the constant tables and the static calls of
core/upcalls.h, but not through other function pointers and works: lockdep covers those in the guest tests. Each lock
that is taken while another one is held has to follow it in a chain of the document. cocci/bad/locks.c, with known
violations, is checked first.
"""

import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
COCCI = TOP / "tests/lint/cocci"
DOCUMENT = TOP / "Documentation/locking.md"
TABLE = re.compile(r"^const struct nof_\w+_ops (nof_(?:mpath|paths|control)) = \{$(.*?)^\};$", re.S | re.M)
ENTRY = re.compile(r"\.(\w+)\s*= (\w+),")
STATIC_CALL = re.compile(r"static_call_update\((\w+), (\w+)\);")
FACT = re.compile(r"^(?P<file>[^:]+):(?P<line>\d+):[\d-]+: (?P<kind>take|call|under|nested) (?P<rest>.*)$")
# Names in the document for locks as the sources name them. An unambiguous member is found by its name.
NAMES = {
    "s -> lock": "subsys->lock",
    "subsys -> lock": "subsys->lock",
    "queue -> lock": "queue->lock",
    "rdev -> lock": "rdev->lock",
    "scan . lock": "ctrl->scan.lock",
    "ana . lock": "ctrl->ana.lock",
    "ctrl -> auth . lock": "ctrl->auth.lock",
    "ctrl -> tls . lock": "ctrl->tls.lock",
    "queues . lock": "ctrl->queues.lock",
    "queues . stop_lock": "ctrl->queues.stop_lock",
    "show . lock": "head->show.lock",
    "change . lock": "head->change.lock",
    "reserve . lock": "head->reserve.lock",
    "tx -> lock": "tx.lock",
    "tx . lock": "tx.lock",
    "sk": "socket lock",
    "sock -> sk": "socket lock",
}
# Locks of the kernel, or of objects that are not shared yet
FOREIGN = ("open_mutex",)


class Order:
    """The chains of the document: which lock may be taken inside which."""

    def __init__(self, text):
        block = re.search(r"^## Order$.*?^```$(.*?)^```$", text, re.S | re.M)
        if not block:
            sys.exit(f"locks: no block of chains under \"Order\" in {DOCUMENT.name}")
        self.inside = {}
        for line in block[1].split("\n"):
            chain = [name.strip() for name in line.split(" -> ")]
            if len(chain) > 1 and not line.startswith("any of"):
                for i, outer in enumerate(chain):
                    self.inside.setdefault(outer, set()).update(chain[i + 1 :])
        chained = set(self.inside) | {n for names in self.inside.values() for n in names}
        self.names = chained | set(re.findall(r"^\| `([^`]+)`", text, re.M))

    def allows(self, outer, inner):
        seen, todo = set(), [outer]
        while todo:
            for name in self.inside.get(todo.pop(), ()):
                if name not in seen:
                    seen.add(name)
                    todo.append(name)
        return inner in seen

    def name(self, expression):
        """Returns the document's name of a lock, or None for a foreign one. Exits if the document does not have the
        lock."""
        bare = expression.lstrip("& ").strip()
        for ending, name in NAMES.items():
            if bare == ending or bare.endswith(" " + ending):
                return name
        member = re.split(r" -> | \. ", bare)[-1]
        if member in FOREIGN:
            return None
        found = [n for n in self.names if re.split(r"->|\.", n)[-1] == member]
        if len(found) != 1:
            sys.exit(f"locks: \"{bare}\" is not in {DOCUMENT.name}")
        return found[0]


class Facts:
    def __init__(self, files, order):
        self.takes, self.calls, self.under, self.nested, self.defined, self.tables = {}, {}, [], [], {}, {}
        for file in files:
            text = (TOP / file).read_text()
            for table, entries in TABLE.findall(text):
                self.tables.update({f"{table}.{m}": (file, f) for m, f in ENTRY.findall(entries)})
            self.tables.update({called: (file, f) for called, f in STATIC_CALL.findall(text)})
        for kind, file, line, words in read(files):
            here = (file, words[0])
            self.defined.setdefault(words[0], set()).add(file)
            if kind == "take":
                self.takes.setdefault(here, set()).add(order.name(" ".join(words[1:])))
            elif kind == "call":
                self.calls.setdefault(here, set()).add(words[1])
            elif kind == "under":
                self.under.append((here, words[1], order.name(" ".join(words[2:])), line))
            else:
                inner, outer = " ".join(words[1:]).split(" | ")
                self.nested.append((here, order.name(inner), order.name(outer), line))

    def resolve(self, caller, name):
        """Static functions belong to the caller's file; others have one definition."""
        if name in self.tables:
            return self.resolve(self.tables[name], self.tables[name][1])
        files = self.defined.get(name, set())
        if caller[0] in files:
            return (caller[0], name)
        return (next(iter(files)), name) if len(files) == 1 and name.startswith("nof_") else None

    def taken_by(self, function, seen):
        if function is None or function in seen:
            return set()
        seen.add(function)
        locks = set(self.takes.get(function, ()))
        for callee in self.calls.get(function, ()):
            locks |= self.taken_by(self.resolve(function, callee), seen)
        return locks

    def edges(self):
        """(outer, inner): where"""
        found = {}
        for here, inner, outer, line in self.nested:
            found.setdefault((outer, inner), f"{here[0]}:{line}: in {here[1]}()")
        for here, callee, outer, line in self.under:
            for inner in self.taken_by(self.resolve(here, callee), set()):
                found.setdefault((outer, inner), f"{here[0]}:{line}: {here[1]}() calls {callee}()")
        return {edge: where for edge, where in found.items() if None not in edge}


def read(files):
    command = ["spatch", "--very-quiet", "--no-show-diff", "--no-includes", "--sp-file"]
    ran = subprocess.run(
        [*command, str(COCCI / "facts/locks.cocci"), *files], capture_output=True, text=True, cwd=TOP
    )
    if ran.returncode:
        sys.exit(f"locks: spatch failed:\n{ran.stderr[-1000:]}")
    for line in ran.stdout.splitlines():
        match = FACT.match(line)
        if match:
            yield match["kind"], match["file"], int(match["line"]), match["rest"].split(" ")


def wrong(files, order):
    edges = Facts(files, order).edges()
    bad = {e: where for e, where in edges.items() if not order.allows(*e)}
    return len(edges), [f"{where}: {inner} is taken with {outer} held" for (outer, inner), where in sorted(bad.items())]


def main():
    order = Order(DOCUMENT.read_text())
    _, found = wrong(["tests/lint/cocci/bad/locks.c"], order)
    wanted = ["subsys->lock is taken with ctrl->queues.lock held", "queue->lock is taken with subsys->lock held",
              "memory is taken with subsys->lock held", "events is taken with subsys->lock held",
              "ctrl->scan.lock is taken with subsys->lock held"]
    missing = [w for w in wanted if not any(f.endswith(w) for f in found)]
    if missing or len(found) != len(wanted):
        print("locks: the bad example:", *(missing or found), sep="\n", file=sys.stderr)
        return 1
    sources = [str(p.relative_to(TOP)) for p in sorted((TOP / "kmod").rglob("*.[ch]")) if "/probes/" not in str(p)]
    count, problems = wrong(sources, order)
    print("\n".join(problems), file=sys.stderr, end="\n" if problems else "")
    print(f"locks: {count} pairs of mutexes held together")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
