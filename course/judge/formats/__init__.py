"""The formats in which other programs read a result: a table of name -> (usual file name, function that renders)."""

from . import classroom50, gradescope, junit

FORMATS = {
    "gradescope": ("results.json", gradescope.render),
    "classroom50": ("result.json", classroom50.render),
    "junit": ("junit.xml", junit.render),
}
