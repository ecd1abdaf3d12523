"""Heading anchors."""

import pytest

from synapse_ls.markdown.slug import Slugger, slug


@pytest.mark.parametrize(
    ("text", "anchor"),
    [
        ("Hello World", "hello-world"),
        ("What's new?", "whats-new"),
        ("snake_case & more", "snake_case--more"),
        ("Über 中文", "über-中文"),
        ("", ""),
    ],
)
def test_slug_is_githubs(text: str, anchor: str) -> None:
    """Slug is githubs."""
    assert slug(text) == anchor


def test_equal_anchors_are_numbered() -> None:
    """Equal anchors are numbered."""
    slugger = Slugger()
    assert [slugger.slug(text) for text in ("X", "X^", "X.", "x-1")] == ["x", "x-1", "x-2", "x-1-1"]
