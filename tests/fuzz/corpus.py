#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: corpus.py unpack FILE FOLDER; corpus.py pack FOLDER FILE

The corpus of a fuzzer is one file in the tree with one input a line: its name, a blank, its bytes. Manually given names
are kept. Names by libFuzzer, the SHA-1 of the bytes, are cut to 12 digits. Printable bytes stand for themselves, others
are \\n or \\xNN, and \\xNN{K} repeats the byte K times. unpack creates a directory of files for libFuzzer; pack creates
the file from such a directory, with the manually named inputs first.
"""

import itertools
import pathlib
import re
import sys

HASH = re.compile(r"[0-9a-f]{40}")
HASH_LENGTH = 12
PIECE = re.compile(r"\\n|\\x([0-9a-f]{2})(?:\{(\d+)\})?|([^\\])")
PLAIN = set(range(0x20, 0x7F)) - set(b"\\{")


def escape(data):
    text = []
    for byte, run in itertools.groupby(data):
        count = len(list(run))
        if byte in PLAIN:
            text.append(chr(byte) * count)
        elif byte == ord("\n"):
            text.append("\\n" * count)
        else:
            text.append(f"\\x{byte:02x}" + (f"{{{count}}}" if count > 1 else ""))
    return "".join(text)


def unescape(text):
    data, at = bytearray(), 0
    while at < len(text):
        piece = PIECE.match(text, at)
        if not piece:
            raise ValueError(f"no escape at column {at}")
        if piece[3]:
            data += piece[3].encode("ascii")
        elif piece[1]:
            data += bytes([int(piece[1], 16)]) * int(piece[2] or 1)
        else:
            data += b"\n"
        at = piece.end()
    return bytes(data)


def unpack(file, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for number, line in enumerate(file.read_text("ascii").splitlines(), 1):
        name, blank, text = line.partition(" ")
        if not name or not blank or "/" in name:
            sys.exit(f"{file}:{number}: not 'NAME BYTES'")
        try:
            (folder / name).write_bytes(unescape(text))
        except (ValueError, UnicodeEncodeError) as error:
            sys.exit(f"{file}:{number}: {error}")


def pack(folder, file):
    def name(path):
        return path.name[:HASH_LENGTH] if HASH.fullmatch(path.name) else path.name

    def given(path):
        return not re.fullmatch(r"[0-9a-f]{%d}" % HASH_LENGTH, name(path))

    lines, seen = [], set()
    for path in sorted(folder.iterdir(), key=lambda path: (not given(path), path.name)):
        data = path.read_bytes()
        if data not in seen:
            lines.append(f"{name(path)} {escape(data)}\n")
        seen.add(data)
    file.write_text("".join(lines), "ascii")


def main():
    verbs = {"pack": pack, "unpack": unpack}
    if len(sys.argv) != 4 or sys.argv[1] not in verbs:
        sys.exit(__doc__)
    verbs[sys.argv[1]](pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))


if __name__ == "__main__":
    main()
