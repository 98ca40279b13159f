"""Pictures of the page: a counterexample, the memory traffic of a kernel's line, and progress. Colours are those of style.css."""
import math
import time

from ..svg import Canvas

INK, PALE, PAPER, GRID = "var(--ink)", "var(--pale)", "var(--paper)", "var(--grid)"
RIGHT, WRONG, WRONG_INK, UNKNOWN = "var(--right)", "var(--wrong)", "var(--wrong-ink)", "var(--unknown)"
USED, MOVED, CROWDED, CLEAR = "var(--used)", "var(--moved)", "var(--crowded)", "none"
SECTOR, WORD, ROW = 32, 4, 128  # bytes
MOST_ROWS = 16  # of a picture of memory
MOST_CELLS = 64  # of a picture of a matrix, to each side


class _Picture(Canvas):
    ink, paper = INK, PAPER

    def fill(self, x, y, width, height, colour):
        self._parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{colour}"/>')

    def path(self, points, colour, width):
        self._parts.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" fill="none" stroke="{colour}" '
                           f'stroke-width="{width}" stroke-linejoin="round"/>')


# --- A counterexample
def compared(of):
    """The picture of a comparison that failed (counterexample.py): which elements differ."""
    wrong = sum(end - begin for begin, end in of["wrong"])
    if of["compared"] == 0 or of["size"] < 2:
        return ""
    label = f"{of['what']}: {wrong} of {of['compared']} elements differ"
    if len(of["texts"]) == of["size"]:
        rows = of["size"] // of["columns"] if of["columns"] else 1
        return _all_texts(of, rows, label)
    return _overview(of, label)


def _is_wrong(of, begin, end):
    """Whether one of the elements from begin to end differs."""
    return any(first < end and begin < last for first, last in of["wrong"])


def _all_texts(of, rows, label):
    """Two grids, of what was found and what was expected; elements that differ have another ground and a thick edge."""
    columns = math.ceil(of["size"] / rows)
    longest = max(len(text) for each in of["texts"] for text in each[1:])
    per_row = columns if rows > 1 else min(columns, 16)
    cell, high, left = max(34, 8 * longest + 10), 28, 74
    lines = rows if rows > 1 else math.ceil(columns / per_row)
    grid = lines * high
    picture = _Picture(left + per_row * cell + 4, 2 * grid + 46)
    for which, name in enumerate(("found", "expected")):
        top = 20 + which * (grid + 12)
        picture.text(0, top + 18, name, 13, colour=INK, bold=True)
        for index, *texts in of["texts"]:
            x, y = left + index % per_row * cell, top + index // per_row * high
            differs = _is_wrong(of, index, index + 1)
            picture.box(x, y, cell, high, "", (WRONG if which == 0 else RIGHT) if differs else PAPER, GRID)
            picture.text(x + cell / 2, y + 19, texts[which], 13, "middle", WRONG_INK if differs and which == 0 else INK, differs)
    for index, *_ in of["texts"]:
        if _is_wrong(of, index, index + 1):
            for which in (0, 1):
                picture.box(left + index % per_row * cell + 1, 21 + which * (grid + 12) + index // per_row * high, cell - 2, high - 2, "", CLEAR)
    for column in range(per_row):
        picture.text(left + column * cell + cell / 2, 13, column, 11, "middle", PALE)
    return picture.part_of_page(label)


def _overview(of, label):
    """One grid, a cell for each element, or for several of a large matrix."""
    columns = of["columns"] or min(32, of["size"])
    rows = math.ceil(of["size"] / columns)
    wide, high = math.ceil(columns / MOST_CELLS), math.ceil(rows / MOST_CELLS)  # elements of a cell
    across, down = math.ceil(columns / wide), math.ceil(rows / high)
    cell = max(4, min(18, 360 // max(across, down)))
    left, top = 46, 22
    picture = _Picture(left + max(across * cell, 250) + 8, top + down * cell + 30)
    picture.fill(left, top, across * cell, down * cell, RIGHT)
    for i in range(down):
        for j in range(across):
            cells = [(row * columns + j * wide, min(row * columns + j * wide + wide, (row + 1) * columns, of["size"]))
                     for row in range(i * high, min((i + 1) * high, rows))]
            if any(_is_wrong(of, *each) for each in cells if each[0] < each[1]):
                picture.fill(left + j * cell, top + i * cell, cell, cell, WRONG)
                if cell >= 8:  # so that no colour is needed
                    picture.line(left + j * cell + 2, top + i * cell + 2, left + (j + 1) * cell - 2, top + (i + 1) * cell - 2, WRONG_INK, 1.2)
                    picture.line(left + j * cell + 2, top + (i + 1) * cell - 2, left + (j + 1) * cell - 2, top + i * cell + 2, WRONG_INK, 1.2)
            elif cells[0][0] >= of["compared"]:
                picture.fill(left + j * cell, top + i * cell, cell, cell, UNKNOWN)
    if cell >= 6:
        for i in range(down + 1):
            picture.line(left, top + i * cell, left + across * cell, top + i * cell, GRID, 0.5)
        for j in range(across + 1):
            picture.line(left + j * cell, top, left + j * cell, top + down * cell, GRID, 0.5)
    picture.text(left, 14, "0", 11, colour=PALE)
    picture.text(left + across * cell, 14, columns - 1, 11, "end", PALE)
    picture.text(left - 5, top + 10, "0", 11, "end", PALE)
    picture.text(left - 5, top + down * cell, (rows - 1) * (1 if of["columns"] else columns), 11, "end", PALE)
    x, y = left, top + down * cell + 10
    for colour, text, used in ((WRONG, "differs", True), (RIGHT, "right", True), (UNKNOWN, "not compared", of["compared"] < of["size"])):
        if used:
            picture.box(x, y, 12, 12, "", colour, GRID)
            picture.text(x + 17, y + 11, text, 12)
            x += 32 + 7 * len(text)
    return picture.part_of_page(label)


# --- Memory traffic
def traffic(line):
    """(the picture of what the first warp accessed first in a line of a kernel (traffic.py), a sentence that says it)."""
    by_word, sectors = {}, set()
    for lane, offset, size in line["lanes"]:
        for word in range(offset // WORD, (offset + max(size, 1) - 1) // WORD + 1):
            by_word.setdefault(word, []).append(lane)
            sectors.add(word * WORD // SECTOR)
    banks = {}
    for word in by_word:
        banks[word % 32] = banks.get(word % 32, 0) + 1
    most = max(banks.values())
    threads = f"{len(line['lanes'])} thread{'s' * (len(line['lanes']) > 1)} of the first warp"
    what = f"{len(by_word)} word{'s' * (len(by_word) > 1)} of 4 bytes"
    if line["shared"]:
        said = f"{threads}: {what}" + (f", up to {most} in one bank" if most > 1 else ", each in a bank of its own")
    else:
        said = f"{threads}: {what} in {len(sectors)} sector{'s' * (len(sectors) > 1)} of 32 bytes"
    rows = sorted({word * WORD // ROW for word in by_word})
    shown = rows[:MOST_ROWS]
    cell, high, left, top = 19, 18, 78, 20
    places, y = {}, top
    for before, row in zip([None, *shown], shown):
        y += 0 if before in (None, row - 1) else 8  # other rows lie between
        places[row] = y
        y += high
    picture = _Picture(left + 32 * cell + 4, y + (20 if len(rows) > len(shown) else 4))
    for word in range(0, 32, 8):
        picture.text(left + word * cell + 2, 13, f"bank {word}" if line["shared"] else f"sector {word // 8}", 11, colour=PALE)
    for row in shown:
        picture.text(left - 6, places[row] + 13, f"byte {_short(row * ROW)}", 11, "end", PALE)
        for column in range(32):
            word, x = row * 32 + column, left + column * cell
            lanes = by_word.get(word, [])
            outside = line["allocated"] and word * WORD >= line["allocated"]
            moved = not line["shared"] and word * WORD // SECTOR in sectors
            crowded = line["shared"] and lanes and banks[column] == most > 1
            colour = WRONG if lanes and outside else CROWDED if crowded else USED if lanes else MOVED if moved else PAPER
            picture.box(x, places[row], cell, high, "", colour, GRID)
            if lanes:
                text = str(lanes[0]) if len(lanes) == 1 else f"×{len(lanes)}"
                picture.text(x + cell / 2, places[row] + 13, text, 10, "middle", WRONG_INK if outside else INK)
        if not line["shared"]:
            for number in range(4):
                if row * 4 + number in sectors:
                    picture.box(left + number * 8 * cell, places[row], 8 * cell, high, "", CLEAR, INK)
    if len(rows) > len(shown):
        picture.text(left, y + 14, f"and {len(rows) - len(shown)} more rows", 12, colour=PALE)
    return picture.part_of_page(said), said


def _short(number):
    return f"{number:,}" if number < 10 ** 7 else f"{number:.3g}"


# --- Progress
def progress(totals, most):
    """The points after each run, [(seconds since 1970, points), ...], as a line; "" where there are fewer than two."""
    if len(totals) < 2 or most <= 0:
        return ""
    width, height, left, right, top, bottom = 520, 150, 44, 12, 12, 30
    begin, end = totals[0][0], totals[-1][0]
    picture = _Picture(width, height)

    def at(seconds, points):
        share = (seconds - begin) / (end - begin) if end > begin else 1
        return left + share * (width - left - right), height - bottom - min(points, most) / most * (height - top - bottom)
    for points in sorted({0, most // 2, most}):
        y = at(begin, points)[1]
        picture.line(left, y, width - right, y, GRID, 1)
        picture.text(left - 6, y + 5, points, 13, "end", PALE)
    corners = [at(*totals[0])]
    for (_, before), (seconds, points) in zip(totals, totals[1:]):
        corners += [at(seconds, before), at(seconds, points)]
    picture.path(corners, "var(--line)", 2.5)
    x, y = corners[-1]
    picture.box(x - 4, y - 4, 8, 8, "", "var(--line)", "var(--line)")
    days = time.localtime(begin)[:3] != time.localtime(end)[:3]
    for seconds, x, anchor in ((begin, left, "start"), (end, width - right, "end")):
        picture.text(x, height - 8, time.strftime("%Y-%m-%d %H:%M" if days else "%H:%M", time.localtime(seconds)), 13, anchor, PALE)
    return picture.part_of_page(f"progress: {totals[0][1]} points at first, {totals[-1][1]} of {most} points now, in {len(totals)} runs")
