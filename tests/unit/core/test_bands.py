"""Cosines of one model on the scale of another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse_ls.core.model import COMMON_BANDS, Bands

NARROW = Bands(related=0.78, good=0.84, strong=0.89)


@pytest.mark.parametrize(
    ("own", "common"), [(0.78, 0.2), (0.84, 0.45), (0.89, 0.65), (1.0, 1.0), (0.81, 0.325), (0.945, 0.825)]
)
def test_bands_meet(own: float, common: float) -> None:
    """What is related, good and strong is so on both scales, and in between in proportion."""
    assert NARROW.common(own) == pytest.approx(common)
    assert NARROW.own(common) == pytest.approx(own)


@given(cosine=st.floats(-1, 1))
def test_the_bundled_model_has_the_scale_itself(cosine: float) -> None:
    """Bit for bit."""
    assert COMMON_BANDS.common(cosine) == cosine


@given(pair=st.tuples(st.floats(-1, 1), st.floats(-1, 1)))
def test_order_is_kept(pair: tuple[float, float]) -> None:
    """A nearer passage stays nearer."""
    low, high = sorted(pair)
    assert NARROW.common(low) <= NARROW.common(high) + 1e-9
