"""Vectors of length 1."""

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def unit(vector: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """Return ``vector`` scaled to length 1; raises ValueError where that cannot be done."""
    norm = math.sqrt((vector * vector).sum())
    if not 0 < norm < math.inf:
        raise ValueError("its output is not a finite vector")
    return vector / norm
