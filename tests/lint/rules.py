#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks project rules that single lines of the sources can violate."""

import configparser
import fnmatch
import re
import subprocess
import sys
from pathlib import Path

import language
import layers

TOP = Path(__file__).resolve().parents[2]
WIDTH = 120
TAB = 8
KERNEL_FILE_LINES = 900
SKIPPED = ("build/", "LICENSES/", ".git/", ".cache/")
SOURCES = {".c", ".cocci", ".h", ".cpp", ".py", ".sh", ".yaml", ".toml", ".cmake", ".map", ".in"}
NAMED = {"Kbuild", "Makefile", "CMakeLists.txt", ".clang-format", ".editorconfig"}
VERSIONS = re.compile(r"\b(LINUX_VERSION_CODE|KERNEL_VERSION|RHEL_RELEASE_CODE)\b")
FOUR_KIB = re.compile(r"\b(4096|4095|0x1000|0xfff|SZ_4K)[UuLl]*\b|(<<|>>)=?\s*12\b")
NAMED_NUMBER = re.compile(r"^(#\s*define\s+|\s*)([A-Z][A-Z0-9_]*)(\s*=\s*|\s+)")
NO_CODE = re.compile(r'"(\\.|[^"\\])*"|/\*.*?\*/|/\*.*$|^\s\*.*$|//.*$')
INCLUDED = re.compile(r'\s*#\s*include\s+"(\w+)/')
LOCAL = re.compile(r"^namespace \{$(.*?)^\} // namespace$", re.MULTILINE | re.DOTALL)
FUNCTION = re.compile(r"^[A-Za-z][^\n(;=]*(?<![:\w])(\w+)\(([^;{}]*?)\)\n\{$", re.MULTILINE)
CONDITIONAL = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b")

problems = []


def complain(path, line, what):
    problems.append(f"{path}:{line}: {what}")


def files():
    """All files that git tracks or would track; all files if there is no work tree."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=TOP, capture_output=True, text=True)
    if listed.returncode == 0:
        names = listed.stdout.split("\n")
    else:
        names = (str(p.relative_to(TOP)) for p in TOP.rglob("*"))
    for name in sorted(filter(None, names)):
        if not name.startswith(SKIPPED) and (TOP / name).is_file() and not (TOP / name).is_symlink():
            yield name


def is_script(text):
    return text.startswith("#!")


def is_source(name, text):
    path = Path(name)
    return path.suffix in SOURCES or path.name in NAMED or is_script(text)


def check_lines(name, lines):
    for n, line in enumerate(lines, 1):
        if len(line.expandtabs(TAB)) > WIDTH:
            complain(name, n, f"longer than {WIDTH} columns")
        if line != line.rstrip():
            complain(name, n, "blanks at the end of the line")


def check_text(name, text):
    if text and not text.endswith("\n"):
        complain(name, text.count("\n") + 1, "no newline at the end of the file")
    if text.endswith("\n\n"):
        complain(name, text.count("\n"), "empty lines at the end of the file")
    if "\r" in text:
        complain(name, 1, "carriage returns")


def check_licence(name, lines):
    found = next((ln for ln in lines[:3] if "SPDX-License-Identifier:" in ln), None)
    if not found:
        complain(name, 1, "no SPDX line in the first three")
        return
    uapi = name.startswith("include/uapi/")
    kernel = name.startswith(("kmod/", "tests/kmod/")) or name == "Kbuild"
    wanted = "GPL-2.0-only" if kernel else "LGPL-2.1-or-later"
    identifier = found.split("SPDX-License-Identifier:")[1].replace("*/", "").strip()
    if identifier != wanted and not (uapi or name.startswith("Documentation/")):
        complain(name, 1, f"licence {identifier}, not {wanted}")


def check_function_bodies(name, lines):
    """No conditional compilation within a function, whose body is between a line "{" and a line "}"."""
    inside = False
    for n, line in enumerate(lines, 1):
        if line == "{":
            inside = True
        elif line == "}":
            inside = False
        elif inside and CONDITIONAL.match(line):
            complain(name, n, "conditional compilation in a function body")


def check_pages(name, lines):
    """Pages are not always 4 KiB: a literal of that size needs a name, which must not be that of the page size."""
    for n, line in enumerate(lines, 1):
        code = NO_CODE.sub("", line)
        if not FOUR_KIB.search(code):
            continue
        named = NAMED_NUMBER.match(code)
        if not named:
            complain(name, n, "4 KiB without a name: a page is PAGE_SIZE, and what is none is called what it is")
        elif "PAGE" in named[2] and not named[2].startswith("NVME_"):
            complain(name, n, f"{named[2]}: pages are PAGE_SIZE, which may be 64 KiB")


def check_layers(name, lines):
    """A layer includes headers of layers below it only. layers.py, which checks the objects, has the order."""
    own = Path(name).parts[1].removesuffix(".c")
    for n, line in enumerate(lines, 1):
        included = INCLUDED.match(line)
        if included and included[1] != own and layers.RANK.get(included[1], -1) >= layers.RANK[own]:
            complain(name, n, f"includes {included[1]}/, a layer above: see kmod/core/upcalls.h")


def check_kernel(name, lines):
    check_pages(name, lines)
    check_layers(name, lines)
    if len(lines) > KERNEL_FILE_LINES:
        complain(name, len(lines), f"more than {KERNEL_FILE_LINES} lines: this is two files")
    if name.startswith("kmod/compat/"):
        return
    for n, line in enumerate(lines, 1):
        if VERSIONS.search(line):
            complain(name, n, "a kernel version outside kmod/compat: write a probe")
        if re.match(r"\s*#\s*if.*\bNOF_HAVE_", line):
            complain(name, n, "a probe's result outside kmod/compat")
        if re.match(r" +\S", line) and not re.match(r" \*", line):
            complain(name, n, "indented with blanks")
    if name.endswith(".c"):
        check_function_bodies(name, lines)


def check_language(name, text):
    for line, what in language.check(name, text):
        complain(name, line, what)


def check_file(name):
    try:
        text = (TOP / name).read_text()
    except UnicodeDecodeError:
        return
    check_language(name, text)
    lines = text.split("\n")
    if not is_source(name, text):
        return
    check_lines(name, lines)
    check_text(name, text)
    check_licence(name, lines)
    if name.startswith("kmod/") and name.endswith((".c", ".h")):
        check_kernel(name, lines)
    cpp_header = name.endswith(".h") and name.startswith(("include/nvmeof/", "libctl/", "tools/"))
    if cpp_header and "#pragma once" not in lines:
        complain(name, 1, "no #pragma once")


def check_versions():
    version = (TOP / "VERSION").read_text().strip()
    cmake = re.search(r"project\(\w+ VERSION ([\d.]+)", (TOP / "CMakeLists.txt").read_text())
    if cmake and cmake.group(1) != version:
        complain("CMakeLists.txt", 1, f"version {cmake.group(1)}, but VERSION says {version}")


def check_kbuild():
    """Kbuild lists objects instead of globbing: an omitted source would be noticed at run time at best."""
    kbuild = (TOP / "Kbuild").read_text()
    for name in files():
        if name.startswith("kmod/") and name.endswith(".c") and "/probes/" not in name:
            if not re.search(rf"[ \t/]{re.escape(Path(name).stem)}\.o\b", kbuild):
                complain(name, 1, "not in Kbuild")


def check_cocci():
    """The lists of files in Coccinelle's rules name files that exist: a renamed one would no longer be checked."""
    listed = re.compile(r'^(core|mpath|tcp) = r?"(?:\w+/\()?([\w|]+)\)?"$')
    for path in sorted((TOP / "tests/lint/cocci").glob("*.cocci")):
        for n, line in enumerate(path.read_text().splitlines(), 1):
            if found := listed.match(line):
                for name in found[2].split("|"):
                    if not (TOP / "kmod" / found[1] / f"{name}.c").is_file():
                        complain(path.relative_to(TOP), n, f"kmod/{found[1]}/{name}.c does not exist")


def check_areas():
    """Each file belongs to an area of tests/areas, and each pattern there matches a file."""
    config = configparser.ConfigParser(interpolation=None)
    config.read_string((TOP / "tests/areas").read_text())
    patterns = {pattern for area in config.sections() for pattern in config[area]["paths"].split()}
    names, used = list(files()), set()
    for name in names:
        found = {pattern for pattern in patterns if fnmatch.fnmatchcase(name, pattern)}
        used |= found
        if not found:
            complain(name, 1, "not covered by any area in tests/areas")
    for pattern in sorted(patterns - used):
        complain("tests/areas", 1, f"no file matches {pattern}")


def types_of(parameters):
    """The types of "const T &one, int other": what is left without names and default values"""
    return re.sub(r"\s*\b\w+(\[\])?\s*(=[^,]*)?(?=,|$)", "", re.sub(r"\s+", " ", parameters))


def check_local_functions():
    """Local functions of one folder differ in name or types: a Quick build compiles all files of a program as one."""
    seen = {}
    for name in files():
        if not name.endswith(".cpp") or not name.startswith(("tools/", "libctl/")):
            continue
        text = (TOP / name).read_text()
        for local in LOCAL.finditer(text):
            for found in FUNCTION.finditer(text, *local.span(1)):
                key = Path(name).parent, found[1], types_of(found[2])
                other = seen.setdefault(key, name)
                if other != name:
                    complain(name, text.count("\n", 0, found.start()) + 1,
                             f"{other} has a local function {found[1]}() with these parameters, too")


def check_security():
    """The tests that SECURITY.md names exist: files, directories, or programs of tests/guest and tests/fuzz."""
    names = list(files())
    known = set(names) | {Path(n).name for n in names} | {str(parent) for n in names for parent in Path(n).parents}
    known |= {Path(n).stem for n in names if n.startswith("tests/fuzz/")}
    known |= set(re.findall(r"^guest_program\((\w+)", (TOP / "tests/guest/CMakeLists.txt").read_text(), re.MULTILINE))
    for n, line in enumerate((TOP / "SECURITY.md").read_text().split("\n"), 1):
        cells = line.strip("|").split(" | ")
        if line.startswith("|") and len(cells) == 3:
            for name in re.findall(r"`([^`]+)`", cells[2]):
                if name not in known:
                    complain("SECURITY.md", n, f"tested by {name}, which is not there")


def main():
    for what in language.check_examples():
        complain("tests/lint/language.py", 1, what)
    for name in files():
        check_file(name)
    check_versions()
    check_kbuild()
    check_cocci()
    check_areas()
    check_local_functions()
    check_security()
    print("\n".join(problems), file=sys.stderr, end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
