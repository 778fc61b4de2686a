# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: pack.py FILE PACKED: compresses a file with xz as kernel modules are compressed."""
import lzma
import sys

with open(sys.argv[1], "rb") as file, open(sys.argv[2], "wb") as packed:
    packed.write(lzma.compress(file.read(), check=lzma.CHECK_CRC32))
