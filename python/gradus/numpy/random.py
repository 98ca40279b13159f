"""Random numbers under the names of numpy.random."""

from .._numpy_objects import Random as _Random
from . import _functions

for _name in dir(_Random):
    if not _name.startswith("_"):
        globals()[_name] = getattr(_Random(_functions), _name)
