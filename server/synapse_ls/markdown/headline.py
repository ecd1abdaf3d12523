"""Headings and titles short enough to be shown, and to be repeated in every passage below them."""

from synapse_ls.markdown.units import separable

MOST = 200
"""The most characters of a headline; nobody reads on in a longer one, though a paragraph above a rule can be one."""


def headline(text: str) -> str:
    """Return a text of at most ``MOST`` characters: itself, or its beginning with ``…``, no grapheme cut in two."""
    if len(text) <= MOST:
        return text
    end = MOST - 1
    while end and not separable(text, end):
        end -= 1
    return text[: end or MOST - 1].rstrip() + "…"
