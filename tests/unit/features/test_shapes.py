"""Answers as JSON."""

import json

from synapse_ls.core.model import Hit, LegState, Ranks, SearchAnswer, Snippet
from synapse_ls.core.text import Position, Range, Span
from synapse_ls.features import shapes
from synapse_ls.search.related import RelatedAnswer, RelatedHit
from synapse_ls.vault.status import ModelStatus, RerankerStatus, VaultStatus

PLACE = Range(Position(1, 2, 3, 4), Position(5, 6, 7, 8))
HIT = Hit("a.md", PLACE, "A", ("H",), Snippet("🍋 x", (Span(2, 3),)), 0.5, "good", ("lexical",), 0.25,
          Ranks(1, lexical=2))  # fmt: skip


def test_hit_in_the_units_of_the_receiver() -> None:
    """Columns and highlights are both counted by it."""
    made = shapes.hit(HIT, {"path": "a.md"}, lambda place: place.utf16, lambda text: len(text.encode("utf-16-le")) // 2)
    assert made == {
        "path": "a.md",
        "range": {"start": {"line": 1, "character": 3}, "end": {"line": 5, "character": 7}},
        "title": "A",
        "headingPath": ["H"],
        "snippet": {"text": "🍋 x", "highlights": [[3, 4]]},
        "score": 0.5,
        "band": "good",
        "matchedBy": ["lexical"],
        "trust": 0.25,
        "ranks": {"lexical": 2, "fused": 1},
    }


def test_answer_tells_each_leg() -> None:
    """What is not known is left out."""
    legs = (LegState("ok", 0.123456), LegState("unavailable", None, "loading"), LegState("off"))
    made = shapes.answer(SearchAnswer(3, (HIT,), *legs, 1.2345), lambda hit: {"path": hit.path})
    assert made["hits"] == [{"path": "a.md"}]
    assert made["legs"] == {
        "lexical": {"state": "ok", "coverage": 0.1235},
        "semantic": {"state": "unavailable", "note": "loading"},
        "graph": {"state": "off"},
    }
    assert (made["generation"], made["elapsedMs"]) == (3, 1.23)
    json.dumps(made)


def test_related_notes_have_reasons() -> None:
    """Beside what a hit has."""
    legs = (LegState("ok"), LegState("unavailable", None, "loading"), LegState("empty"))
    answered = RelatedAnswer(3, (RelatedHit(HIT, ("links to this note",)),), *legs, 1.2345)
    made = shapes.related(answered, lambda hit: {"path": hit.path})
    assert made["hits"] == [{"path": "a.md", "reasons": ["links to this note"]}]
    assert made["legs"]["semantic"] == {"state": "unavailable", "note": "loading"}
    assert (made["generation"], made["elapsedMs"]) == (3, 1.23)


def test_status_says_what_there_is_to_say() -> None:
    """A note of the model and an error are there only when there is one."""
    model = ModelStatus("bundled", 384, "English", "ready", None)
    status = VaultStatus("/v", "ready", 1, 2, 3, 4, 5, (("b.md", "why"),), model, 6, 7, 8, 9, None, 10)
    made = shapes.vault_status(status, "file:///v", RerankerStatus(None, "off"))
    assert (made["root"], made["pending"], made["cacheBytes"]) == ("file:///v", 5, 10)
    assert made["skipped"] == [{"path": "b.md", "reason": "why"}]
    assert made["counters"] == {"filesRead": 6, "chunksEmbedded": 7, "chunksReused": 8, "searches": 9}
    assert "lastError" not in made
    assert "note" not in made["model"]
    assert made["reranker"] == {"name": None, "state": "off"}
    failing = VaultStatus(
        "/v", "failed", 1, 2, 3, 4, 5, (), ModelStatus("x", 0, "", "missing", "why"), 0, 0, 0, 0, "e", 0
    )
    made = shapes.vault_status(failing, "/v", RerankerStatus("y", "missing", "pull it"))
    assert (made["lastError"], made["model"]["note"]) == ("e", "why")
    assert made["reranker"] == {"name": "y", "state": "missing", "note": "pull it"}
