"""Signatures as text: what nanobind writes, taken apart."""


def parameters_of(text):
    """The texts between the first parenthesis and the one that closes it, by commas outside of brackets, and where they end.

    "f(a: tuple[int, int], *, b=(1, 2)) -> None" gives ["a: tuple[int, int]", " *", " b=(1, 2)"] and the place of ")".
    """
    depth, parts, start = 0, [""], text.index("(") + 1
    for end, letter in enumerate(text[start:], start):
        if letter == ")" and depth == 0:
            return parts, end
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    raise ValueError(f"no parenthesis closes the parameters of: {text}")
