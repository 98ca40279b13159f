"""What holds for all tests: grids are small here, and the library would warn of them."""

import os

os.environ["GRADUS_WARN_OCCUPANCY"] = "0"
