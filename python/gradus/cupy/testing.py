"""Comparisons for tests, under the names of numpy.testing."""

from ..numpy.testing import assert_allclose as assert_allclose, assert_almost_equal as assert_almost_equal
from ..numpy.testing import assert_array_almost_equal as assert_array_almost_equal
from ..numpy.testing import assert_array_equal as assert_array_equal, assert_equal as assert_equal
