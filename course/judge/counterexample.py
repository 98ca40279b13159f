"""What a picture of a failed comparison is drawn of: which elements differ, and the first of them as text. It stands in the
result, so it is bounded, and all of it is JSON."""
import itertools
import math

MOST_PRODUCTS = 300_000  # that are computed anew for a picture
MOST_TEXTS = 64  # elements: with no more, each is shown
MOST_RUNS = 1000  # of elements that differ
FIRST = 6  # elements that differ and are told where not all are shown


def compared(found, expected, what, alike, inputs, known=None):
    """{"what", "size", "compared": how many elements, "columns": of a row, or 0, "wrong": [[begin, end], ...],
    "texts": [[index, found, expected], ...]}; None where these are no lists of numbers. `inputs` may tell the sizes of a matrix; known:
    so many elements of `expected` are known, where they are not all."""
    found, expected = ([each] if not isinstance(each, (list, tuple)) else each for each in (found, expected))
    if any(isinstance(each, (list, tuple, bytes)) for each in (*found, *expected)):
        return None
    size = max(len(found), len(expected))
    known = size if known is None else known
    wrong, texts = [], []
    for i, (a, b) in enumerate(itertools.islice(itertools.zip_longest(found, expected, fillvalue=_NOTHING), known)):
        right = _NOTHING not in (a, b) and alike(a, b)
        if not right:
            if wrong and wrong[-1][1] == i:
                wrong[-1][1] += 1
            elif len(wrong) == MOST_RUNS:
                known = i
                break
            else:
                wrong.append([i, i + 1])
        if size <= MOST_TEXTS or (not right and len(texts) < FIRST):
            digits = next((each for each in (4, 6, 9) if right or number(a, each) != number(b, each)), 17)
            texts.append([i, number(a, digits), number(b, digits)])
    return {"what": what, "size": size, "compared": known, "columns": _columns(size, inputs), "wrong": wrong, "texts": texts}


_NOTHING = object()


def number(value, digits):
    """The number as a text; "none" where there is none."""
    if value is _NOTHING:
        return "none"
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def _columns(size, inputs):
    """How long a row is where the elements are those of a matrix: of m x n, or of a tensor of these sizes. 0 where it is none."""
    m, n, sizes = (inputs.get(each) for each in ("m", "n", "sizes"))
    if isinstance(m, int) and isinstance(n, int) and m * n == size:
        return n
    if isinstance(sizes, (list, tuple)) and len(sizes) > 1 and math.prod(sizes) == size:
        return sizes[-1]
    return 0
