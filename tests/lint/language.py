# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds clauses as subjects, and unidiomatic phrases, in documents, manual pages, comments and messages."""

import fnmatch
import re
from pathlib import Path

# Files that are not read: their text is not ours, or its words are data of a test.
SKIPPED = ("tests/lint/language.py", "tests/fuzz/corpus/*", "tests/unit/*/golden/*", "LICENSES/*", "debian/copyright")
# Files whose string literals are read, too. Patterns of fnmatch.
STRINGS = (
    "kmod/*", "libctl/*", "qemu/*", "tests/kmod/*", "tests/fuzz/*", "tests/guest/*", "tests/lint/*",
    "tests/target/*", "tests/unit/*", "tools/*",
)
# Lines that the rule would refuse although they are right: path, and the text as the rule reports it.
EXCEPTIONS = ()

YAML = {".yaml", ".yml"}
HASH = {".py", ".sh", ".toml", ".cmake", ".conf", ".rules", ".service", ".timer", ".in"}
NAMED = {"Kbuild", "Makefile", "CMakeLists.txt", "areas"}
SLASH = {".c", ".h", ".cpp", ".cocci"}
MANUAL = re.compile(r"\.[1-9](\.in)?$")

# A sentence that begins with one of these has a clause where its subject should be.
BEGIN = re.compile(
    r"(What|Who|Whoever|Nobody|One that|One which|Of which|Of what|That which) (?!(if|else|about|to)\b)"
)
PHRASES = (
    (re.compile(r"\b(is|are|was|were|be|been) told\b(?! apart)"), "say who reports what to whom"),
    (re.compile(r"\b(go|goes) again\b"), "is retried, is sent again"),
    (re.compile(r"\bwhat (it|they|he|\w+) (is|are|was|were) at\b"), "what it is doing"),
    (re.compile(r"\bas of now\b"), "now, currently"),
    (re.compile(r"\b(tell|tells|told|telling) of\b"), "report, list, describe"),
    (re.compile(r"\basked for to\b"), "requested to"),
    (re.compile(r"\bof no use\b"), "useless, unusable"),
)
TITLE = re.compile(r"#+ ")
SENTENCE = re.compile(r"(?:(?<=[.!?:;])|(?<=[.!?]\)))\s+(?=[A-Z])")
EXAMPLES = (
    ("What is lost goes again.", 2),
    ("What is lost?", 0),
    ("It is sent. Whoever reads it is told of it.", 3),
    ("Nobody waits.", 1),
    ("What if a path fails", 0),
    ("The daemon shows what it is at.", 1),
    ("The two are told apart by name. Whatever the input is, the host retries.", 0),
)
FILES = (
    ("kmod/x.c", 'int a; // What is lost\nlog("nobody waits for the " "path"); /* A path.\n * One that waits. */\n', 3),
    ("other/x.c", 'log("nobody waits for the path");\nconst char quote = \'"\'; // Nobody\n', 0),
    ("x.md", "# What is new\n\n    What is code\n\n- A list\n  is told\n- What is this\n\n| a | Nobody reads |\n", 3),
    ("x.8.in", ".SH NAME\nWhat is \\fBlost\\fR\n.PP\n.nf\nWhat is code\n.fi\nThe path\n.B is\ntold.\n", 2),
    ("x.py", '"""What is this."""\nx = "Nobody knows"  # Nobody knows it\n', 2),
    ("x.yaml", "doc: What is lost\nname: x\nother: 'the host is told'\n", 2),
)


def sentences(text):
    """The sentences of a paragraph."""
    for sentence in SENTENCE.split(text):
        yield sentence.strip(" *-(\"'`_")


def faults(text):
    """What is wrong in a paragraph: pairs of an excerpt and advice."""
    for sentence in sentences(text):
        begin = BEGIN.match(sentence)
        if begin and not sentence.rstrip("\"')*").endswith("?"):
            yield sentence[:60], f"a sentence that begins with {begin[1]}: begin with its subject"
        for pattern, advice in PHRASES:
            for found in pattern.finditer(sentence):
                yield found[0], advice


def paragraphs(lines):
    """Joins lines, given as (number, text), between empty ones."""
    first, text = 0, ""
    for n, line in lines:
        if line is None or not line.strip():
            if text:
                yield first, text
            text = ""
            continue
        if not text:
            first = n
        text = f"{text} {line.strip()}".strip()
    if text:
        yield first, text


def of_markdown(lines):
    """Paragraphs, list items and table cells; no code."""
    kept, fenced, was_empty, code = [], False, True, False
    for n, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            kept.append((n, None))
            continue
        code = not fenced and line.startswith(("    ", "\t")) and (was_empty or code)
        was_empty = not line.strip()
        if fenced or code or TITLE.match(line):
            kept.append((n, None))
        elif line.startswith("|"):
            for cell in line.strip().strip("|").split(" | "):
                kept += [(n, None), (n, cell), (n, None)]
        else:
            item = re.match(r"\s*([-*]|\d+\.) +", line)
            if item:
                kept.append((n, None))
            kept.append((n, line[item.end():] if item else line))
    return paragraphs(kept)


def of_manual(lines):
    """Paragraphs of a manual page without its requests."""
    kept, literal = [], False
    for n, line in enumerate(lines, 1):
        if line.startswith((".nf", ".fi")):
            literal = line.startswith(".nf")
        request = re.match(r"\.([A-Za-z\\\"]+) ?(.*)", line)
        if literal or request and request[1] not in ("B", "I", "BR", "RB", "IR", "RI"):
            kept.append((n, None))
        else:
            text = request[2].replace('"', "") if request else line
            kept.append((n, re.sub(r"\\f.|\\(?=-)", "", text)))
    return paragraphs(kept)


def of_code(text, strings):
    """Comments of C and C++; string literals, too."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
    kept, end, was_string = [], 0, False
    for found in token.finditer(text):
        n = text.count("\n", 0, found.start()) + 1
        literal = found[0].startswith(('"', 'R"'))
        if text[end:found.start()].strip() or literal != was_string:
            kept.append((n, None))
        end, was_string = found.end(), literal
        if literal and strings:
            for i, part in enumerate(re.split(r"\\n|\n", found[0].strip('R"()'))):
                sentence = kept and kept[-1][1] is None and len(part.split()) > 3  # messages begin with a small letter
                kept.append((n + i, part[:1].upper() + part[1:] if sentence else part or None))
        elif found[0].startswith("//"):
            kept.append((n, found[0].lstrip("/")))
        elif found[0].startswith("/*"):
            for i, line in enumerate(found[0][2:-2].split("\n")):
                kept.append((n + i, re.sub(r"^\s*\*( @[\w.]+:| \w+\(\) -)?", "", line)))
            kept.append((n, None))
    return paragraphs(kept)


def of_script(lines):
    """Comments that begin with #, and docstrings."""
    kept, quoted = [], False
    for n, line in enumerate(lines, 1):
        comment = re.match(r"\s*#+(?!!)(.*)", line) or re.search(r"\s# (.*)", line)
        if quoted or re.match(r'\s*"""', line):
            kept.append((n, line.replace('"""', "")))
            if line.count('"""') == 1:
                quoted = not quoted
        else:
            kept.append((n, comment[1] if comment else None))
    return paragraphs(kept)


def of_yaml(lines):
    """Comments and values: each key begins a paragraph."""
    kept = []
    for n, line in enumerate(lines, 1):
        key = re.match(r"\s*(- )*[\w.-]+:( [|>]-?$| |$)|\s*- ", line)
        if key:
            kept.append((n, None))
        kept.append((n, line[key.end():].strip("'\"") if key else line.lstrip(" #")))
    return paragraphs(kept)


def prose(name, text):
    """Pairs of line number and paragraph."""
    lines, suffix = text.split("\n"), Path(name).suffix
    if suffix == ".md":
        return of_markdown(lines)
    if MANUAL.search(name):
        return of_manual(lines)
    if suffix in SLASH:
        return of_code(text, any(fnmatch.fnmatchcase(name, pattern) for pattern in STRINGS))
    if suffix in YAML:
        return of_yaml(lines)
    if suffix in HASH or Path(name).name in NAMED or text.startswith("#!"):
        return of_script(lines)
    return ()


def check(name, text):
    """The findings in a file: pairs of line number and complaint."""
    if any(fnmatch.fnmatchcase(name, pattern) for pattern in SKIPPED):
        return
    for n, paragraph in prose(name, text):
        for excerpt, advice in faults(paragraph):
            if (name, excerpt) not in EXCEPTIONS:
                yield n, f"'{excerpt}': {advice}"


def check_examples():
    """The rule has the right number of findings in its examples."""
    for text, number in EXAMPLES:
        if len(list(faults(text))) != number:
            yield f"not {number} findings in the example '{text}'"
    for name, text, number in FILES:
        if len(list(check(name, text))) != number:
            yield f"not {number} findings in the example of {name}"
