"""What a person reads on the terminal."""

from typing import Any

import pytest

from synapse_ls.cli import show
from synapse_ls.core.model import Hit, LegState, Snippet
from synapse_ls.core.text import Position, Range, Span
from synapse_ls.search.related import RelatedAnswer, RelatedHit

READY: dict[str, Any] = {
    "root": "/home/me/notes",
    "state": "ready",
    "generation": 7,
    "notes": 12,
    "chunks": 40,
    "embedded": 38,
    "pending": 2,
    "skipped": [],
    "model": {"name": "bundled", "dimensions": 384, "languages": "English", "state": "ready"},
    "reranker": {"name": None, "state": "off"},
    "counters": {"filesRead": 0, "chunksEmbedded": 0, "chunksReused": 0, "searches": 0},
    "cacheBytes": 2_500_000,
}


def test_status_tells_state_counts_coverage_model_and_size(capsys: pytest.CaptureFixture[str]) -> None:
    """In plain words."""
    show.status(READY)
    assert capsys.readouterr().out == (
        "/home/me/notes: up to date as of the last look at the notes\n"
        "  12 notes in 40 passages, searchable by words and links\n"
        "  38 passages (95 %) searchable by meaning, 2 waiting\n"
        "  model bundled (English, 384 dimensions) is ready\n"
        "  2.4 MiB in the cache\n"
    )


def test_status_tells_what_went_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    """The last error first, why there is no model, and each note with its reason."""
    show.status(
        {
            **READY,
            "state": "failed",
            "notes": 1,
            "chunks": 0,
            "embedded": 0,
            "pending": 0,
            "lastError": "the disk is full",
            "model": {"name": "none", "dimensions": 0, "languages": "", "state": "missing", "note": "no model"},
            "skipped": [{"path": "a.md", "reason": "cannot be read (Permission denied)"}],
        }
    )
    assert capsys.readouterr().out == (
        "/home/me/notes: not usable\n"
        "  last error: the disk is full\n"
        "  1 note in 0 passages, searchable by words and links\n"
        "  0 passages searchable by meaning, 0 waiting\n"
        "  model none is missing: no model\n"
        "  2.4 MiB in the cache\n"
        "  1 note not or not wholly indexed:\n"
        "    a.md: cannot be read (Permission denied)\n"
    )


@pytest.mark.parametrize("state", ["starting", "indexing", "ready", "readOnly", "failed"])
def test_every_state_has_words(state: str, capsys: pytest.CaptureFixture[str]) -> None:
    """None is shown by its name in the protocol."""
    show.status({**READY, "state": state})
    assert state not in capsys.readouterr().out.split("\n")[0]


def test_related_notes_are_told_with_their_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    """Title, place, snippet, and why; none is said in words."""
    start = Position(4, 0, 0, 0)
    hit = Hit("a/b.md", Range(start, start), "B", ("B", "Top"), Snippet("a word", (Span(2, 6),)), 1.0, "good", ())
    legs = (LegState("ok"), LegState("ok"), LegState("ok"))
    show.related(RelatedAnswer(1, (RelatedHit(hit, ("links to this note", "shares tag #x")),), *legs, 1.0))
    show.related(RelatedAnswer(1, (), *legs, 1.0))
    assert capsys.readouterr().out == (
        "1. B  a/b.md:5  (B › Top)\n   a **word**\n   links to this note; shares tag #x\nno note is related\n"
    )
