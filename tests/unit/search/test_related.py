"""Related notes over small real indexes: what is found, in which order, and what is said of it."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synapse_ls.core.config import TrustSettings
from synapse_ls.indexer.record import note_record
from synapse_ls.search.related import RelatedAnswer, RelatedHit, RelatedRequest, related
from synapse_ls.search.searcher import SearchCancelledError, Semantic
from synapse_ls.search.seeds import NotThereError
from synapse_ls.search.snapshot import Snapshot
from synapse_ls.store import database
from synapse_ls.store.records import NoteRecord
from tests.support.index import embed, fill, note, reading, vector

BOILER = note("boiler.md", "The boiler hums.", "Bleed the radiator before winter.", links=["valve"], tags=["house"])
VALVE = note("valve.md", "A valve of brass.", tags=["garden"])
DAMP = note("damp.md", "Mould behind the wardrobe.", tags=["house"])
PUMP = note("pump.md", "It pushes water.", links=["valve", "boiler"])
SLUGS = note("slugs.md", "Beer traps.")
HOUSE = (BOILER, VALVE, DAMP, PUMP, SLUGS)
MEANINGS = {
    "hums": vector(1, 0), "radiator": vector(0.6, 0.8), "brass": vector(0, 0, 0, 1), "wardrobe": vector(0.7, 0.7),
    "water": vector(0, 0, 1), "Beer": vector(-1, 0),
}  # fmt: skip


def paths(answer: RelatedAnswer) -> list[str]:
    """Return the paths of related notes, best first."""
    return [found.hit.path for found in answer.hits]


def of(answer: RelatedAnswer, path: str) -> RelatedHit:
    """Return what is said of one note."""
    return next(found for found in answer.hits if found.hit.path == path)


def written(path: str, text: str) -> NoteRecord:
    """Return a note as it is parsed."""
    return note_record(path, text.encode(), 0, 1 << 20)


def asked(folder: Path, notes: Sequence[NoteRecord], path: str, **more: int | str) -> RelatedAnswer:
    """Index notes without vectors and ask for the relatives of one."""
    request = RelatedRequest(path, **more)  # type: ignore[arg-type]  # each test names what the field takes
    with reading(folder, notes) as db:
        return related(Snapshot(db), request)


def test_links_meaning_tags_and_neighbours_bring_notes_and_say_so(tmp_path: Path) -> None:
    """Every kind of evidence has its sentence; what nothing speaks for is not there, and never the note itself."""
    with reading(tmp_path, HOUSE, MEANINGS) as db:
        answer = related(Snapshot(db), RelatedRequest("boiler.md"))
    told = {found.hit.path: found.reasons for found in answer.hits}
    assert told == {
        "pump.md": ("links to this note", "both link to valve"),
        "damp.md": ("similar passage: damp", "shares tag #house"),
        "valve.md": ("this note links to it", "pump links to both"),
    }
    assert of(answer, "damp.md").hit.matched_by == ("semantic", "graph")
    assert of(answer, "valve.md").hit.matched_by == ("graph",)
    assert [answer.lexical.state, answer.semantic.state, answer.graph.state] == ["empty", "ok", "ok"]


def test_words_are_enough(tmp_path: Path) -> None:
    """Without vectors telling words are shared, shown and named; common ones are not."""
    notes = [
        note("a.md", "The quince marmalade of the orchard", "More of the quince"),
        note("b.md", "Of the marmalade we know the quince best"),
        *(note(f"x{i}.md", f"The best of the rest {i}") for i in range(9)),
    ]
    answer = asked(tmp_path, notes, "a.md")
    assert paths(answer) == ["b.md"]
    (found,) = answer.hits
    assert found.reasons == ("both speak of quince, marmalade",)
    assert [found.hit.snippet.text[span.start : span.end] for span in found.hit.snippet.highlights] == [
        "marmalade", "quince"
    ]  # fmt: skip
    assert (answer.semantic.state, answer.semantic.note) == ("unavailable", "the index holds no vectors yet")


def test_a_script_without_spaces_speaks_too(tmp_path: Path) -> None:
    """Pairs of characters that meet are told as one word."""
    others = [note(f"x{i}.md", f"別の話です{i}") for i in range(5)]
    answer = asked(tmp_path, [note("a.md", "東京都の水道料金"), note("b.md", "水道料金を払う"), *others], "a.md")
    assert paths(answer)[0] == "b.md"
    assert "both speak of 水道料金" in answer.hits[0].reasons


@pytest.mark.parametrize("english_only", [True, False])
def test_a_model_does_not_vote_on_what_it_cannot_read(tmp_path: Path, *, english_only: bool) -> None:
    """A passage in another script asks only a model that reads it."""
    notes = [note("a.md", "東京都の水道料金"), note("b.md", "A stone wall")]
    with reading(tmp_path, notes, {"水道": vector(1), "stone": vector(1)}) as db:
        answer = related(Snapshot(db), RelatedRequest("a.md"), Semantic(english_only=english_only))
    assert paths(answer) == ([] if english_only else ["b.md"])
    assert answer.semantic.note == ("the model knows English only" if english_only else None)


def test_a_name_without_a_link_is_told(tmp_path: Path) -> None:
    """The title or an alias of another note in the text; the beginning of a longer word is no name."""
    notes = [
        note("a.md", "Ask about the Heat Pump, soon"),
        note("b.md", "Nothing", title="heat pump"),
        note("c.md", "Nothing else", aliases=["soo"]),
        *(note(f"x{i}.md", f"Filler {i}") for i in range(5)),
    ]
    answer = asked(tmp_path, notes, "a.md")
    assert paths(answer) == ["b.md"]
    assert "is named here without a link" in answer.hits[0].reasons


COPY = "the old lighthouse keeper counts every ship that passes the northern cape before the winter storms begin"


def test_copies_are_told_and_leave_room(tmp_path: Path) -> None:
    """Nearly the same text is said first; two copies stand in front, the others behind everything else."""
    copies = [written(f"copy{i}.md", f"# Copy\n\n{COPY} {i}\n") for i in range(5)]
    trip = written("trip.md", "A ship passes the northern cape before winter.\n")
    notes = [written("a.md", f"# Keeper\n\n{COPY}\n"), trip, *copies]
    notes += [note(f"x{i}.md", f"Filler number {i}") for i in range(20)]
    answer = asked(tmp_path, notes, "a.md")
    assert [path[:4] for path in paths(answer)] == ["copy", "copy", "trip", "copy", "copy", "copy"]
    assert [found.reasons[0] for found in answer.hits if found.hit.path[:4] == "copy"] == ["nearly the same text"] * 5
    assert "nearly the same text" not in of(answer, "trip.md").reasons
    assert answer.hits[0].hit.band == "strong"


GARDEN = (
    written("plan.md", "# Plan\n\n## Water\n\nThe cistern. [[cistern]]\n\n## Soil\n\nSee [[compost]] of leaves.\n"),
    written("cistern.md", "# Cistern\n\nRain.\n"),
    written("compost.md", "# Compost\n\nLeaves.\n"),
)


@pytest.mark.parametrize(
    ("place", "first", "reason"),
    [
        ({"line": 4}, "cistern.md", "this section links to it"),
        ({"line": 8}, "compost.md", "this section links to it"),
        ({"heading": "Soil"}, "compost.md", "this section links to it"),
        ({"heading": "water"}, "cistern.md", "this section links to it"),
        ({"line": 0}, "compost.md", "this note links to it"),
        ({"line": 9999}, "compost.md", "this section links to it"),
        ({}, "compost.md", "this note links to it"),
    ],
)
def test_a_section_has_relatives_of_its_own(
    tmp_path: Path, place: dict[str, int | str], first: str, reason: str
) -> None:
    """By the cursor's line or a heading; on a heading that has all under it the note is meant."""
    answer = asked(tmp_path, GARDEN, "plan.md", **place)
    assert answer.hits[0].hit.path == first
    assert reason in answer.hits[0].reasons


def test_a_hit_is_the_passage_that_fits(tmp_path: Path) -> None:
    """Its range and snippet are those of the nearest passage."""
    long = note("long.md", "Something else.", "The radiator again.")
    with reading(tmp_path, [BOILER, long], {**MEANINGS, "again": vector(0.6, 0.8), "else": vector(0, 0, 0, 1)}) as db:
        (found,) = related(Snapshot(db), RelatedRequest("boiler.md")).hits
    assert (found.hit.range.start.line, found.hit.snippet.text) == (2, "The radiator again.")


def test_trust_counts_as_in_a_search(tmp_path: Path) -> None:
    """A note that is hardly trusted comes after its equal."""
    notes = [note("a.md", "x", links=["old/b", "c"]), note("old/b.md", "y"), note("c.md", "z")]
    with reading(tmp_path, notes) as db:
        trusting = TrustSettings(folders={"old": 0.2})
        answer = related(Snapshot(db), RelatedRequest("a.md"), trusting=trusting)
    assert [(found.hit.path, found.hit.trust) for found in answer.hits] == [("c.md", 1.0), ("old/b.md", 0.2)]


def test_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    """A note or a heading that nobody has; the message names some that are there."""
    with pytest.raises(NotThereError, match=r"no note gone\.md"):
        asked(tmp_path / "a", GARDEN, "gone.md")
    with pytest.raises(NotThereError, match="no heading Fire; its first headings are Plan, Water, Soil"):
        asked(tmp_path / "b", GARDEN, "plan.md", heading="Fire")


@pytest.mark.parametrize("text", ["", "\n\n", "---\ntags: []\n---\n", "# \n", "![[x]]\n"])
def test_an_empty_note_has_no_relatives_but_those_linked_with_it(tmp_path: Path, text: str) -> None:
    """And that is no error."""
    answer = asked(
        tmp_path, [written("void.md", text), note("b.md", "y", links=["void"]), note("c.md", "z")], "void.md"
    )
    assert [(found.hit.path, found.reasons) for found in answer.hits] == [("b.md", ("links to this note",))]


def test_what_is_on_the_screen_counts(tmp_path: Path) -> None:
    """Links, words, tags and names of open notes in place of those of their files, also of one without a file."""
    over = database.memory()
    fill(over, [note("damp.md", "A radiator leaks.", links=["pump"]), note("new.md", "A radiator. Slugs sit on it.")])
    embed(over, {})
    with reading(tmp_path, HOUSE, MEANINGS) as db:
        now = Snapshot(db, over)
        boiler, damp, new = (related(now, RelatedRequest(path)) for path in ("boiler.md", "damp.md", "new.md"))
    over.close()
    assert "damp.md" not in paths(boiler)[:2]
    assert "shares tag #house" not in [reason for found in boiler.hits for reason in found.reasons]
    assert "this note links to it" in of(damp, "pump.md").reasons
    assert "both speak of radiator" in of(damp, "new.md").reasons
    assert "is named here without a link" in of(new, "slugs.md").reasons
    assert new.semantic.note == "the note has no vectors yet"


def test_a_cancelled_question_ends(tmp_path: Path) -> None:
    """Soon, and with its own error."""
    with reading(tmp_path, HOUSE, MEANINGS) as db, pytest.raises(SearchCancelledError):
        related(Snapshot(db), RelatedRequest("boiler.md"), cancelled=lambda: True)


WORDS = st.sampled_from(
    ["stone", "wall", "[[1]]", "[[0|wall]]", "#house", "# Head\n", "水道料金", "```", "\ud800", "\n\n"]
)


@settings(max_examples=40)
@given(st.lists(st.lists(WORDS, max_size=12).map(" ".join), min_size=1, max_size=5), st.integers(0, 12))
def test_any_notes_have_an_answer(texts: list[str], line: int) -> None:
    """Nobody is their own relative, nobody comes twice, everybody has a reason, and best comes first but for copies."""
    db = database.memory()
    fill(db, [note_record(f"{i}.md", text.encode("utf-8", "replace"), 0, 1 << 20) for i, text in enumerate(texts)])
    answer = related(Snapshot(db), RelatedRequest("0.md", line, limit=3))
    found = paths(answer)
    assert "0.md" not in found
    assert len(set(found)) == len(found) <= 3
    assert all(one.reasons and one.hit.matched_by for one in answer.hits)
    assert answer.hits == related(Snapshot(db), RelatedRequest("0.md", line, limit=3)).hits
    db.close()
