"""How long a text is for an embedder."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse_ls.markdown.tokens import estimate


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("one two", 2),
        ("boilers", 2),
        ("2024-05-01", 6),
        ("梅雨", 2),
        ("data:image/png;base64,iVBORw0KGgo=", 1),
    ],
)
def test_estimate(text: str, tokens: int) -> None:
    """Words by their length, unspaced scripts by the character, an inlined file as one."""
    assert estimate(text) == tokens


@given(st.text(max_size=200), st.integers(0, 50))
def test_a_bound_ends_the_count_one_above_it(text: str, most: int) -> None:
    """Whether it is more is all that is then known."""
    assert estimate(text, most) == min(estimate(text), most + 1)
