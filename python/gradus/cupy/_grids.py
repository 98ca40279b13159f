"""Arrays by indexing, under the names of NumPy."""

from .._numpy_functions import Functions
from .._numpy_objects import Grid, Joined

_functions = Functions("cuda")
mgrid, ogrid = Grid(_functions, False), Grid(_functions, True)
r_, c_ = Joined(_functions, False), Joined(_functions, True)
