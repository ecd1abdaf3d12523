"""Which language a query's common words give away."""

import pytest

from synapse_ls.search.stopwords import language


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("how do i bleed a radiator", "en"),
        ("radiator", "en"),
        ("war crimes", "en"),
        ("wie viele punkte gab die verteidigung ab", "de"),
        ("quel est le prix du pain", "fr"),
        ("cual es la capital del pais", "es"),
        ("qual e a capital do pais", "pt"),
    ],
)
def test_language(text: str, expected: str) -> None:
    """English unless at least two words say otherwise."""
    assert language(text.split()) == expected
