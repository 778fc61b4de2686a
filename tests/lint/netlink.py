#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The netlink interface has three definitions: the specification in YAML, the uapi header, and the tables of the kernel
module. Check that they agree on names, values, types, and the attributes of each command's request and reply, and that
they, the library, the command and the documents state the defaults of the kernel module."""

import re
import sys
from pathlib import Path

import yaml

TOP = Path(__file__).resolve().parents[2]
SPEC = TOP / "Documentation/netlink/specs/nvmeof.yaml"
HEADER = TOP / "include/uapi/linux/nvmeof.h"
POLICY = TOP / "kmod/control/genl_policy.c"
OPS = TOP / "kmod/control/genl.c"
PUT = TOP / "kmod/control/genl_attrs.c"
OPTIONS = TOP / "kmod/core/options.h"

# Where else the default of an option is stated: NAME is the option's name, the group is the default
STATED = {
    "libctl/config/connect_settings.cpp": r'\{"NAME", &[^,]+, [^,]+, [^,]+, [^,]+, "([^"]*)"',
    "tools/nvmeofctl/setting_texts.cpp": r'\{"NAME", "[^"]*", "([^"]*)"',
    "tools/nvmeofctl/nvmeof.toml": r'^#NAME = "?([\w.-]+)',
    "Documentation/operations.md": r"^\| [^|]*`--NAME` \| [^|]* \| ([^|]*) \|",
}
OPTION = {"KATO": "keep-alive-tmo", "ACK_TMO": "ack-tmo-ms"}
NOT_IN = {  # options without an entry in that file
    "tools/nvmeofctl/setting_texts.cpp": {"queue-size", "tags", "keep-alive-tmo", "connect-tmo", "ack-tmo-ms",
                                          "retry-count"},
}
KERNEL_TYPE = {"NUL_STRING": "string", "BINARY": "binary", "FLAG": "flag"}

errors = []


def expect(what, found, wanted):
    if found != wanted:
        errors.append(f"{what}: {found} is not {wanted}")


def c_name(prefix, name):
    return (prefix + name).upper().replace("-", "_")


def without_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def header_enum(text, name):
    """Name -> value, without the end markers."""
    body = re.search(rf"enum {name} \{{(.*?)\}};", without_comments(text), re.S).group(1)
    values, value = {}, -1
    for member in filter(None, (m.strip() for m in body.split(","))):
        name, _, given = (p.strip() for p in member.partition("="))
        if "_MAX" in name:
            break
        value = int(given, 0) if given else value + 1
        values[name] = value
    return values


def spec_enum(spec, prefix_key="name-prefix"):
    values, value = {}, -1
    for entry in spec["entries"]:
        entry = entry if isinstance(entry, dict) else {"name": entry}
        value = entry.get("value", value + 1)
        values[c_name(spec[prefix_key], entry["name"])] = value
    return values


def check_enums(spec, header):
    for d in spec["definitions"]:
        if d["type"] == "enum":
            expect(f"enum {d['enum-name']}", spec_enum(d), header_enum(header, d["enum-name"]))
        else:
            found = re.search(rf"#define NVMEOF_{c_name('', d['name'])}\s+(\w+)", header)
            expect(f"constant {d['name']}", found and int(found.group(1), 0), d["value"])


def check_attributes(attrs, header):
    names = ["NVMEOF_A_UNSPEC"] + [c_name("nvmeof-a-", a["name"]) for a in attrs]
    expect("enum nvmeof_attr", list(header_enum(header, "nvmeof_attr")), names)
    # The comment behind each attribute begins with its type.
    types = dict(re.findall(r"^\t(NVMEOF_A_\w+),\s*/\* (\w+)", header, re.M))
    for a in attrs:
        if a["type"] != "pad":
            expect(f"type of {a['name']} in the header", types.get(c_name("nvmeof-a-", a["name"])), a["type"])


def check_commands(ops, header):
    names = ["NVMEOF_CMD_UNSPEC"] + [c_name("nvmeof-cmd-", o["name"]) for o in ops]
    expect("enum nvmeof_cmd", list(header_enum(header, "nvmeof_cmd")), names)


def header_name(name):
    return c_name("", name)


def policies():
    """Table -> attribute -> (type, length)"""
    tables = {}
    for table, body in re.findall(r"nla_policy (\w+)\[.*?\] = \{(.*?)\n\};", POLICY.read_text(), re.S):
        tables[table] = {}
        for attr, rule in re.findall(r"\[NVMEOF_A_(\w+)\]\s*=\s*(.*),$", body, re.M):
            kind = re.search(r"NLA_(U8|U16|U32|U64|S32|FLAG|NUL_STRING|BINARY)\b", rule)
            limit = re.search(r"(?:NOF_NAME_POLICY|EXACT_LEN)\(NVMEOF_(\w+)\)", rule)
            if "NOF_NAME_POLICY" in rule:
                kind = "string"
            elif "EXACT_LEN" in rule:
                kind = "binary"
            else:
                kind = KERNEL_TYPE.get(kind.group(1), kind.group(1).lower()) if kind else "?"
            tables[table][attr] = (kind, limit.group(1) if limit else None)
    return tables


def check_tables(ops, attrs):
    tables = policies()
    by_name = {header_name(a["name"]): a for a in attrs}
    blocks = re.findall(r"\{\s*\.cmd\s*=\s*NVMEOF_CMD_(\w+),(.*?)\n\t\}", OPS.read_text(), re.S)
    expect("commands of the kernel", [c for c, _ in blocks], [header_name(o["name"]) for o in ops if "do" in o])
    for command, block in blocks:
        op = next(o for o in ops if header_name(o["name"]) == command)
        expect(f"{command} admin-perm", "GENL_ADMIN_PERM" in block, "admin-perm" in op.get("flags", []))
        expect(f"{command} has a dump", ".dumpit" in block, "dump" in op)
        table = re.search(r"NOF_POLICY\((\w+)\)", block)
        accepted = tables[table.group(1)] if table else {}
        wanted = {header_name(a) for m in ("do", "dump")
                  for a in op.get(m, {}).get("request", {}).get("attributes", [])}
        expect(f"{command} takes", sorted(accepted), sorted(wanted))
        for attr, (kind, limit) in accepted.items():
            a = by_name[attr]
            checks = a.get("checks", {})
            named = checks.get("max-len", checks.get("exact-len"))
            expect(f"{command} policy of {attr}", (kind, limit), (a["type"], named and header_name(named)))


def put_attributes(functions, name, seen):
    """The attributes that a function of genl_attrs.c puts, its callees included"""
    if name in seen:
        return set()
    seen.add(name)
    body = functions[name]
    found = set(re.findall(r"NVMEOF_A_(\w+)", body)) - {"PAD"}
    for called in re.findall(r"(\w+)\(", body):
        if called in functions:
            found |= put_attributes(functions, called, seen)
    return found


def check_objects(ops):
    functions = dict(re.findall(r"^(?:static )?int (\w+)\([^;{]*\)\n\{\n(.*?)\n\}", PUT.read_text(), re.S | re.M))
    for name in ("subsys", "ctrl", "ns", "path"):
        op = next(o for o in ops if o["name"] == f"{name}-get")
        wanted = {header_name(a) for a in op["do"]["reply"]["attributes"]}
        expect(f"nof_put_{name}()", sorted(put_attributes(functions, f"nof_put_{name}", set())), sorted(wanted))
        ntf = next(o for o in ops if o["name"] == f"{name}-ntf")
        missing = wanted - {header_name(a) for a in ntf["event"]["attributes"]}
        expect(f"{name}-ntf leaves out", sorted(missing), [])


def check_references(ops, attrs):
    known = {a["name"] for a in attrs}
    for o in ops:
        for part in (o.get("event"), *(o.get(m, {}).get(d) for m in ("do", "dump") for d in ("request", "reply"))):
            for a in (part or {}).get("attributes", []):
                if a not in known:
                    errors.append(f"{o['name']}: no attribute {a}")


def numbers(text):
    """All numbers, times as seconds: "5 or 2", "300ms" """
    return [float(n) / (1000 if unit else 1) for n, unit in re.findall(r"(?<![\w.])(-?\d+(?:\.\d+)?)(ms)?\b", text)]


def check_defaults(attrs, header):
    docs = {header_name(a["name"]): a.get("doc", "") for a in attrs}
    comments = dict(re.findall(r"^\tNVMEOF_A_(\w+),\s*/\* (.*?) \*/", header, re.M))
    found = re.findall(r'#define NOF_DEF_(\w+?)(_MS)?\s+\(?"?(-?\d+)', OPTIONS.read_text())
    expect("defaults were found", len(found) > 8, True)
    for name, in_ms, value in found:
        for where, texts in (("specification", docs), ("header", comments)):
            told = re.search(r"default(?: fits 16 MiB, max)? (-?\d+)", texts[name])
            expect(f"default of {name} in the {where}", told and told.group(1), value)
        if name == "TRSVCID":
            continue
        option = OPTION.get(name, name.lower().replace("_", "-"))
        wanted = float(value)  # -1: off
        if in_ms and wanted > 0 and not option.endswith("-ms"):
            wanted /= 1000
        for file, pattern in STATED.items():
            if option not in NOT_IN.get(file, ()):
                told = re.search(pattern.replace("NAME", option), (TOP / file).read_text(), re.M)
                if not told or wanted not in numbers(told.group(1)):
                    errors.append(f"{file}: default of {option}: {told and told.group(1)} is not {wanted:g}")


def main():
    spec = yaml.safe_load(SPEC.read_text())
    header = HEADER.read_text()
    attrs = spec["attribute-sets"][0]["attributes"]
    ops = spec["operations"]["list"]

    expect("family", re.search(r'NVMEOF_GENL_NAME\s+"(\w+)"', header).group(1), spec["name"])
    group = re.search(r'NVMEOF_MCGRP_EVENTS\s+"(\w+)"', header).group(1)
    expect("multicast groups", [g["name"] for g in spec["mcast-groups"]["list"]], [group])
    check_enums(spec, header)
    check_attributes(attrs, header)
    check_commands(ops, header)
    check_references(ops, attrs)
    check_tables(ops, attrs)
    check_objects(ops)
    check_defaults(attrs, header)
    for e in errors:
        print(f"netlink: {e}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
