"""A small canvas: boxes, grids of cells, lines, arrows and texts, as SVG. The pictures of the texts (draw/) and of the page of
./grade --web are made with it."""
import html

# Colours that can be told apart by colour-blind readers.
BLUE, ORANGE, GREEN, PURPLE, GREY, RED = "#9ecae9", "#ffbf79", "#b6dfa5", "#d6c4ea", "#e6e6e6", "#f4a6a0"
INK, PALE, PAPER = "#222222", "#888888", "#ffffff"
CELL = 34


class Canvas:
    """Coordinates are pixels from the upper left corner. Texts are escaped; numbers and colours are the caller's own."""
    ink, paper = INK, PAPER  # where no colour is named

    def __init__(self, width, height):
        self.width, self.height, self._parts = width, height, []

    def box(self, x, y, width, height, text="", fill=None, line=None, size=14, dashed=False):
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self._parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="3" fill="{fill or self.paper}" '
                           f'stroke="{line or self.ink}"{dash}/>')
        if text != "":
            lines = str(text).split("\n")
            for i, each in enumerate(lines):
                self.text(x + width / 2, y + height / 2 + 5 + (i - (len(lines) - 1) / 2) * (size + 3), each, size, "middle")

    def cells(self, x, y, rows, fill=lambda row, column: None, cell=CELL, size=13):
        """A grid of cells with a text each; fill gives a cell's colour, or None."""
        for i, row in enumerate(rows):
            for j, text in enumerate(row):
                self.box(x + j * cell, y + i * cell, cell, cell, text, fill(i, j), size=size)

    def text(self, x, y, text, size=14, anchor="start", colour=None, bold=False):
        weight = ' font-weight="bold"' if bold else ""
        self._parts.append(f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" fill="{colour or self.ink}"{weight}>'
                           f"{html.escape(str(text))}</text>")

    def line(self, x1, y1, x2, y2, colour=None, width=1.5, arrow=False, dashed=False):
        end = ' marker-end="url(#arrow)"' if arrow else ""
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self._parts.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour or self.ink}" stroke-width="{width}"{end}{dash}/>')

    def arrow(self, x1, y1, x2, y2, colour=None):
        self.line(x1, y1, x2, y2, colour, arrow=True)

    def whole(self):
        """The text of a file, with a ground of its own for light and dark pages."""
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
                f'height="{self.height}" font-family="system-ui, sans-serif">\n'
                '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
                f'<path d="M0 0 L8 4 L0 8 z" fill="{self.ink}"/></marker></defs>\n'
                f'<rect width="{self.width}" height="{self.height}" fill="{self.paper}"/>\n' + "\n".join(self._parts) + "\n</svg>\n")

    def part_of_page(self, label):
        """The text of a picture within a page, which says what it shows to those who do not see it. It has no arrows."""
        return (f'<svg viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}" role="img" '
                f'aria-label="{html.escape(label)}">' + "".join(self._parts) + "</svg>")
