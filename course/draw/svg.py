"""A small canvas for the course's pictures: boxes, grids of cells, arrows and texts, saved as SVG.

A picture's script, draw/NUMBER_NAME.py, makes text/img/NUMBER.svg (or NUMBER_MORE.svg):

    from svg import Canvas, BLUE

    picture = Canvas(560, 120)
    picture.cells(20, 40, [[0, 1, 2], [3, 4, 5]], fill=lambda row, column: BLUE if row == 1 else None)
    picture.text(20, 24, "strides (3, 1)")
    picture.save("0.1")
"""
import os
import sys

COURSE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, COURSE)
from judge import svg  # noqa: E402
from judge.svg import BLUE, CELL, GREEN, GREY, INK, ORANGE, PALE, PAPER, PURPLE, RED  # noqa: E402, F401

FOLDER = os.path.join(COURSE, "text", "img")  # where pictures go


class Canvas(svg.Canvas):
    def save(self, name):
        """Writes text/img/NAME.svg."""
        path = os.path.join(FOLDER, name + ".svg")
        os.makedirs(FOLDER, exist_ok=True)
        with open(path, "w") as file:
            file.write(self.whole())
