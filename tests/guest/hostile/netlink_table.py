#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""netlink_table.py SPEC HEADER: converts the specification of the control interface to tables for its fuzzer."""

import sys
from pathlib import Path

import yaml


def constant(prefix, name):
    return (prefix + name).replace("-", "_").upper()


class Spec:
    def __init__(self, text):
        self.spec = yaml.safe_load(text)
        self.set = self.spec["attribute-sets"][0]
        self.consts = {d["name"]: d["value"] for d in self.spec["definitions"] if d["type"] == "const"}
        self.enums = {d["name"]: d["entries"] for d in self.spec["definitions"] if d["type"] == "enum"}
        self.commands = self.spec["operations"]["list"]

    def number(self, value):
        return self.consts[value] if isinstance(value, str) else value

    def attribute(self, name):
        return constant(self.set["name-prefix"], name)

    def command(self, name):
        return constant(self.spec["operations"]["name-prefix"], name)


def attribute_line(spec, a):
    checks = a.get("checks", {})
    longest = spec.number(checks.get("max-len", 0))
    exact = spec.number(checks.get("exact-len", 0))
    values = len(spec.enums[a["enum"]]) if "enum" in a else 0
    multi = "true" if a.get("multi-attr") else "false"
    return (f'\t{{{spec.attribute(a["name"])}, "{a["name"]}", Type::{a["type"]}_, {longest}, {exact}, {values}, '
            f'{multi}}},')


def listing(spec, name, names):
    ids = ", ".join(spec.attribute(n) for n in names)
    return f"inline constexpr std::array<std::uint16_t, {len(names)}> {name} = {{{ids}}};"


def lists_of(spec, command):
    """Attributes of a command's request, reply and dump, by the names of their tables."""
    stem = command["name"].replace("-", "_")
    do, dump = command.get("do", {}), command.get("dump", {})
    answers = do.get("reply", {}).get("attributes", []) or command.get("event", {}).get("attributes", [])
    return {
        stem + "_asks": do.get("request", {}).get("attributes", []),
        stem + "_dumps": dump.get("request", {}).get("attributes", []),
        stem + "_answers": answers,
    }


def command_line(spec, command):
    lists = ", ".join(lists_of(spec, command))
    admin = "true" if "admin-perm" in command.get("flags", []) else "false"
    dump = "true" if "dump" in command else "false"
    event = "true" if "event" in command else "false"
    return f'\t{{{spec.command(command["name"])}, "{command["name"]}", {admin}, {dump}, {event}, {lists}}},'


def header(spec):
    attributes = spec.set["attributes"]
    out = ["// Made by netlink_table.py", "#pragma once", '#include "hostile/netlink_spec.h"', "", "#include <array>",
           "#include <linux/nvmeof.h>", "", "namespace guest::spec {", ""]
    out += [f'static_assert({spec.attribute(a["name"])} == {n});' for n, a in enumerate(attributes, 1)]
    out += [f'static_assert({spec.command(c["name"])} == {n});' for n, c in enumerate(spec.commands, 1)]
    out += ["", "inline constexpr Attribute attributes[] = {"]
    out += [attribute_line(spec, a) for a in attributes]
    out += ["};", ""]
    for command in spec.commands:
        out += [listing(spec, name, names) for name, names in lists_of(spec, command).items()]
    out += ["", "inline constexpr Command commands[] = {"]
    out += [command_line(spec, c) for c in spec.commands]
    out += ["};", "", "} // namespace guest::spec", ""]
    return "\n".join(out)


def main():
    text = header(Spec(Path(sys.argv[1]).read_text()))
    Path(sys.argv[2]).write_text(text)


if __name__ == "__main__":
    main()
