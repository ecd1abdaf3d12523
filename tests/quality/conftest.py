"""The benches are scripts beside each other, no package: their folder is where they find one another."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "bench"))
