# SPDX-License-Identifier: LGPL-2.1-or-later
"""Rows of bench.json, and their format in tables."""
import statistics

DIGITS = {"seconds": 2, "ms": 2, "MB/s": 1, "us": 1}


def median_and_spread(values):
    """(median, spread), or None for a driver that did not run."""
    if not values:
        return None
    median = statistics.median(values)
    return median, (max(values) - min(values)) / median if median else 0


def make_case(name, unit, ours, intree, tuned=()):
    """One row of bench.json; ours, intree and tuned are lists of samples. The ratio compares with the lower of the
    two."""
    row = {"name": name, "unit": unit, "ours": None, "intree": None, "ratio": None, "spread": {}}
    for key, samples in (("ours", ours), ("intree", intree), ("tuned", tuned)):
        found = median_and_spread(samples)
        if found:
            row[key] = round(found[0], 3)
            row["spread"][key] = round(found[1], 5)
    if row["ours"] and row["intree"]:
        row["ratio"] = round(row["ours"] / min(row["intree"], row.get("tuned", row["intree"])), 4)
    return row


def print_table(title, rows):
    def cell(row, key):
        if row.get(key) is None:
            return "-", ""
        return f"{row[key]:,.{DIGITS.get(row['unit'], 0)}f}", f"{row['spread'].get(key, 0) * 100:.2f} %"

    if not rows:
        return
    width = max(32, *(len(row["name"]) + 2 for row in rows))
    print(f"\n{title}")
    columns = [("ours", "ours"), ("intree", "in-tree")]
    if any("tuned" in row for row in rows):
        columns.append(("tuned", "tuned"))
    print(f"{'':{width}}" + "".join(f"{title:>12}{'spread':>11}" for _, title in columns) + f"{'ratio':>8}")
    for row in rows:
        ratio = "-" if row["ratio"] is None else f"{row['ratio']:.3f}"
        cells = "".join("{:>12}{:>11}".format(*cell(row, key)) for key, _ in columns)
        print(f"{row['name']:{width}}{cells}{ratio:>8}")
