"""What is under the cursor, and what it costs to know."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse_ls.core.model import Heading, Link
from synapse_ls.features import cursor
from synapse_ls.features.cursor import NOWHERE, Place, heading_above, indexed, thing_at
from synapse_ls.markdown import parser
from synapse_ls.markdown.parser import Parsed

TEXT = "---\nsee: '[[Front]]'\n---\n# Top\n\n[[One]] and\n```\n[[Two]]\n```\n## Low\n\n[x](y.md)\n"


@pytest.mark.parametrize(
    ("before", "found"),
    [
        ("[[Front", "Front"),
        ("[[One", "One"),
        ("[[Two", None),
        ("# To", "Top"),
        ("## ", "Low"),
        ("[x", "y.md"),
        ("an", None),
    ],
)
def test_thing_under_the_cursor(before: str, found: str | None) -> None:
    """A link, else a heading; code holds neither."""
    assert thing_at(Place("a/b.md", TEXT, NOWHERE)) is None
    thing = thing_at(Place("a/b.md", TEXT, TEXT.index(before) + len(before)))
    assert (thing.target if isinstance(thing, Link) else thing.text if isinstance(thing, Heading) else None) == found


@pytest.mark.parametrize(("place", "text"), [("[[Front", None), ("[[One", "Top"), ("[x", "Low")])
def test_heading_above(place: str, text: str | None) -> None:
    """The nearest one before."""
    heading = heading_above(Place("a/b.md", TEXT, 0), TEXT.index(place))
    assert (None if heading is None else heading.text) == text


def test_a_note_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the cursor is, as long as the text is the same; an edited one is parsed anew."""
    parsed: list[str] = []

    def parse(text: str, stem: str) -> Parsed:
        parsed.append(text)
        return parser.parse(text, stem)

    monkeypatch.setattr(cursor, "parse", parse)
    text = f"{TEXT}\nparsed once"
    for offset in range(0, 80, 8):
        thing_at(Place("a/b.md", text[:-1] + "e", offset))
    thing_at(Place("a/b.md", f"{text}!", 3))
    assert parsed == [text, f"{text}!"]


@pytest.mark.parametrize(
    ("text", "most", "kept"),
    [
        ("one\ntwo\n", 8, "one\ntwo\n"),
        ("one\ntwo\n", 7, "one\ntwo"),
        ("żółw\nb", 9, "żółw\nb"),
        ("żółw\nb", 7, "żółw"),
        ("żółw\nb", 4, "żó"),
        ("żółw\nb", 3, "ż"),
        ("\ud800b", 2, "?b"),
        ("", 4, ""),
    ],
)
def test_part_of_a_text_that_is_indexed(text: str, most: int, kept: str) -> None:
    """So many bytes, whole characters, as the indexer reads it."""
    assert indexed(text, most) == kept


@given(st.text(max_size=60), st.integers(1, 80))
def test_no_more_bytes_are_looked_at_than_indexed(text: str, most: int) -> None:
    """Whatever the text: a beginning of it."""
    part = indexed(text, most)
    assert text.startswith(part)
    assert len(part.encode("utf-8", "replace")) <= most
    assert part == text or len(text.encode("utf-8", "replace")) > most
