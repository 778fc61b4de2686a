# SPDX-License-Identifier: LGPL-2.1-or-later
"""Rows of bench.json, and how they look as a table."""
import statistics

DIGITS = {"seconds": 2, "ms": 2, "MB/s": 1}


def figure(values):
    """(median, spread); None where a driver did not run."""
    if not values:
        return None
    median = statistics.median(values)
    return median, (max(values) - min(values)) / median if median else 0


def make_case(name, unit, ours, intree):
    """One row of bench.json; ours and intree are lists of samples."""
    row = {"name": name, "unit": unit, "ours": None, "intree": None, "ratio": None, "spread": {}}
    for key, found in (("ours", figure(ours)), ("intree", figure(intree))):
        if found:
            row[key] = round(found[0], 3)
            row["spread"][key] = round(found[1], 5)
    if row["ours"] and row["intree"]:
        row["ratio"] = round(row["ours"] / row["intree"], 4)
    return row


def print_table(title, rows):
    def cell(row, key):
        if row[key] is None:
            return "-", ""
        return f"{row[key]:,.{DIGITS.get(row['unit'], 0)}f}", f"{row['spread'].get(key, 0) * 100:.2f} %"

    if not rows:
        return
    width = max(32, *(len(row["name"]) + 2 for row in rows))
    print(f"\n{title}")
    print(f"{'':{width}}{'ours':>12}{'spread':>11}{'in-tree':>12}{'spread':>11}{'ratio':>8}")
    for row in rows:
        ratio = "-" if row["ratio"] is None else f"{row['ratio']:.3f}"
        print(f"{row['name']:{width}}{cell(row, 'ours')[0]:>12}{cell(row, 'ours')[1]:>11}"
              f"{cell(row, 'intree')[0]:>12}{cell(row, 'intree')[1]:>11}{ratio:>8}")
