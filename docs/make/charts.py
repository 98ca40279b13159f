#!/usr/bin/env python3
"""Draws docs/charts/*.svg from the tables of docs/performance.md.

    docs/make/charts.py            writes the pictures
    docs/make/charts.py --check    says whether they are up to date

Every row of a table is drawn: a dot for each ratio (the peer's time over Gradus' time), on a logarithmic scale.
"""
import math
import os
import re
import sys
from xml.sax.saxutils import escape

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
ROW, LABEL, PLOT, GAP = 17, 250, 330, 70
COLOURS = ("#1f6fb4", "#e08a1e", "#3a9a5b")


def table(heading, number=0):
    """The rows of the number-th wide table below a heading of docs/performance.md."""
    text = open(os.path.join(ROOT, "docs/performance.md")).read().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    tables = [t for t in re.findall(r"(?:^\|.*\n)+", text, re.M) if t.count("|", 0, t.index("\n")) > 3]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in tables[number].strip().split("\n")]
    return rows[2:]


class Picture:
    def __init__(self, title, panels, low, high):
        # panels: (title, names of the dots, [(label, [ratios])])
        self.low, self.high, self.parts = low, high, []
        rows = max(len(panel[2]) for panel in panels)
        self.top = 78 if panels[0][1] else 42
        self.width = LABEL + len(panels) * (PLOT + GAP) - GAP + 60
        self.height = self.top + rows * ROW + 40
        self.text(16, 24, title, size=16, weight="bold")
        for i, panel in enumerate(panels):
            self.panel(LABEL + i * (PLOT + GAP), panel, labels=i == 0)

    def text(self, x, y, text, size=12, anchor="start", weight="normal", fill="#222"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
                          f'font-weight="{weight}" fill="{fill}">{escape(text)}</text>')

    def line(self, x1, y1, x2, y2, stroke, width=1):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}" '
                          f'stroke-width="{width}"/>')

    def at(self, left, ratio):
        share = math.log(ratio / self.low) / math.log(self.high / self.low)
        return left + PLOT * min(max(share, 0), 1)

    def panel(self, left, panel, labels):
        title, names, rows = panel
        bottom = self.top + len(rows) * ROW
        self.text(left, 46, title, weight="bold")
        for i, name in enumerate(names):
            x = left + i * 110
            self.dot(x + 5, 60, COLOURS[i])
            self.text(x + 14, 64, name)
        for i in range(len(rows)):
            y = self.top + (i + 0.5) * ROW
            self.line(left, y, left + PLOT, y, "#f0f0f0")
        for tick in (0.5, 1, 2, 5, 10, 20, 50):
            if self.low <= tick <= self.high:
                x = self.at(left, tick)
                self.line(x, self.top, x, bottom, "#555" if tick == 1 else "#ddd", 1.5 if tick == 1 else 1)
                self.text(x, bottom + 16, f"{tick:g}", anchor="middle")
        for i, (label, ratios) in enumerate(rows):
            y = self.top + (i + 0.5) * ROW
            if labels:
                self.text(LABEL - 10, y + 4, label, anchor="end")
            if len(ratios) == 1:
                self.line(self.at(left, 1), y, self.at(left, ratios[0]), y, COLOURS[0], 4)
                self.text(left + PLOT + 8, y + 4, f"{ratios[0]:.2f}")
            for ratio, colour in zip(ratios, COLOURS):
                self.dot(self.at(left, ratio), y, colour)
        self.text(left + PLOT / 2, bottom + 34, "the peer's time over Gradus' time (right of 1: Gradus is faster)", anchor="middle",
                  size=11, fill="#555")

    def dot(self, x, y, colour):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>')

    def svg(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
                f'viewBox="0 0 {self.width} {self.height}" font-family="sans-serif">\n'
                '<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(self.parts) + "\n</svg>\n")


def pictures():
    gpu = [(row[0], [float(row[3])]) for row in table("GPU: kernels")]
    sizes = ("1e3 elements", "1e5", "1e7")
    cpu = [(f"{heading.split()[-1]}, one thread", sizes, [(row[0], [float(row[c]) for c in (2, 4, 6)]) for row in table(heading)])
           for heading in ("CPU: operations, Xeon", "CPU: operations, EPYC")]
    yield "gpu.svg", Picture("Operations on an H200, beside PyTorch 2.11", [("", (), gpu)], 0.8, 20)
    yield "cpu.svg", Picture("Operations on CPUs, beside libtorch 2.11 (MKL)", cpu, 0.5, 50)


def main():
    status = 0
    for name, picture in pictures():
        path = os.path.join(ROOT, "docs/charts", name)
        if "--check" not in sys.argv:
            open(path, "w").write(picture.svg())
        elif open(path).read() != picture.svg():
            print(f"docs/charts/{name} is out of date; run docs/make/charts.py")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
