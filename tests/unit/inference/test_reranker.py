"""Numbers of any size become relevance."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse_ls.inference.reranker import relevance

LOGITS = st.floats(-1e308, 1e308)


@pytest.mark.parametrize(("logit", "expected"), [(0, 0.5), (math.log(3), 0.75), (-math.log(3), 0.25), (1e300, 1)])
def test_relevance_is_the_logistic_function(logit: float, expected: float) -> None:
    """Known values."""
    assert relevance(logit) == pytest.approx(expected)


@given(LOGITS, LOGITS)
def test_relevance_keeps_the_order_and_stays_between_0_and_1(one: float, other: float) -> None:
    """Whatever the numbers are."""
    low, high = sorted((one, other))
    assert 0 <= relevance(low) <= relevance(high) <= 1
