"""A small canvas for the course's pictures: boxes, grids of cells, arrows and texts, saved as SVG.

A picture's script, draw/NUMBER_NAME.py, makes text/img/NUMBER.svg (or NUMBER_MORE.svg):

    from svg import Canvas, BLUE

    picture = Canvas(560, 120)
    picture.cells(20, 40, [[0, 1, 2], [3, 4, 5]], fill=lambda row, column: BLUE if row == 1 else None)
    picture.text(20, 24, "strides (3, 1)")
    picture.save("0.1")
"""
import html
import os

# Colours that can be told apart by colour-blind readers, on light and dark pages (each picture has its own ground).
BLUE, ORANGE, GREEN, PURPLE, GREY, RED = "#9ecae9", "#ffbf79", "#b6dfa5", "#d6c4ea", "#e6e6e6", "#f4a6a0"
INK, PALE, PAPER = "#222222", "#888888", "#ffffff"
CELL = 34
FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "text", "img")  # where pictures go


class Canvas:
    """Coordinates are pixels from the upper left corner."""

    def __init__(self, width, height):
        self.width, self.height, self._parts = width, height, []

    def box(self, x, y, width, height, text="", fill=PAPER, line=INK, size=14, dashed=False):
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self._parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="3" fill="{fill}" stroke="{line}"{dash}/>')
        if text != "":
            lines = str(text).split("\n")
            for i, each in enumerate(lines):
                self.text(x + width / 2, y + height / 2 + 5 + (i - (len(lines) - 1) / 2) * (size + 3), each, size, "middle")

    def cells(self, x, y, rows, fill=lambda row, column: None, cell=CELL, size=13):
        """A grid of cells with a text each; fill gives a cell's colour, or None."""
        for i, row in enumerate(rows):
            for j, text in enumerate(row):
                self.box(x + j * cell, y + i * cell, cell, cell, text, fill(i, j) or PAPER, size=size)

    def text(self, x, y, text, size=14, anchor="start", colour=INK, bold=False):
        weight = ' font-weight="bold"' if bold else ""
        self._parts.append(f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" fill="{colour}"{weight}>'
                           f"{html.escape(str(text))}</text>")

    def line(self, x1, y1, x2, y2, colour=INK, width=1.5, arrow=False, dashed=False):
        end = ' marker-end="url(#arrow)"' if arrow else ""
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self._parts.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}" stroke-width="{width}"{end}{dash}/>')

    def arrow(self, x1, y1, x2, y2, colour=INK):
        self.line(x1, y1, x2, y2, colour, arrow=True)

    def save(self, name):
        """Writes text/img/NAME.svg."""
        path = os.path.join(FOLDER, name + ".svg")
        os.makedirs(FOLDER, exist_ok=True)
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
                f'height="{self.height}" font-family="system-ui, sans-serif">\n'
                '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
                f'<path d="M0 0 L8 4 L0 8 z" fill="{INK}"/></marker></defs>\n'
                f'<rect width="{self.width}" height="{self.height}" fill="{PAPER}"/>\n')
        with open(path, "w") as file:
            file.write(head + "\n".join(self._parts) + "\n</svg>\n")
