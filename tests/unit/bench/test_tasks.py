"""Sets, vaults and personas as tasks."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from haystacks import PERSONAS, filled, half_of, persona_task
from tasks import Query, Task, TaskError, read_queries, read_set, read_vault, spread

CORPUS = """{"id": "sub/a", "title": "A", "text": "One."}
{"id": "b", "title": "B", "text": "# Its own\\n\\nTwo."}
"""
QUERIES = """{"id": "q1", "text": "one?"}
{"id": "q2", "text": "no answer"}
"""


def retrieval_set(folder: Path, qrels: str = "q1\tsub/a\t1\n") -> Path:
    """Write a set of two notes and two queries."""
    folder.mkdir(exist_ok=True)
    (folder / "corpus.jsonl").write_text(CORPUS, encoding="utf-8")
    (folder / "queries.jsonl").write_text(QUERIES, encoding="utf-8")
    (folder / "qrels.tsv").write_text(qrels, encoding="utf-8")
    return folder


def test_a_set_becomes_files_with_titles_as_headings(tmp_path: Path) -> None:
    """A text that has a heading of its own keeps it; judgements name files."""
    assert read_set(retrieval_set(tmp_path / "tiny"), 10) == Task(
        "tiny",
        "tiny",
        {"sub/a.md": b"# A\n\nOne.", "b.md": b"# Its own\n\nTwo."},
        [Query("q1", "one?", {"sub/a.md": 1.0}), Query("q2", "no answer", {})],
    )


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("qrels.tsv", "q1 sub/a 1\n", r"qrels\.tsv:1 should be"),
        ("queries.jsonl", '{"id": "q1"}\n', r"queries\.jsonl:1 has no text"),
        ("queries.jsonl", "\nnothing\n", r"queries\.jsonl:2 is not JSON"),
        ("corpus.jsonl", "[]\n", r"corpus\.jsonl:1 has no id, text"),
    ],
)
def test_a_line_that_is_wrong_is_named(tmp_path: Path, file: str, text: str, complaint: str) -> None:
    """The message says which file, which line and what it should be."""
    folder = retrieval_set(tmp_path)
    (folder / file).write_text(text, encoding="utf-8")
    with pytest.raises(TaskError, match=complaint):
        read_set(folder, 10)


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    """A folder without judgements is no set."""
    with pytest.raises(TaskError, match=r"qrels\.tsv cannot be read"):
        read_set(tmp_path, 10)


def test_queries_on_a_vault_may_have_categories_and_grades_of_nought(tmp_path: Path) -> None:
    """A note of grade 0 does not help, so it is left out; the vault is taken where it is."""
    file = tmp_path / "asked.jsonl"
    file.write_text('{"id": 7, "query": "x", "relevant": {"a.md": 2, "b.md": 0}, "category": "typo"}\n', "utf-8")
    assert read_vault(tmp_path, file, 10) == Task(
        tmp_path.name, tmp_path.name, tmp_path, [Query("7", "x", {"a.md": 2.0}, "typo")]
    )
    assert read_queries(file, "in/")[0].grades == {"in/a.md": 2.0}


def test_of_too_many_queries_every_so_many_th_is_asked() -> None:
    """They are spread over all, not the first few."""
    queries = [Query(str(number), "", {}) for number in range(10)]
    assert [query.id for query in spread(queries, 4)] == ["0", "3", "6", "9"]
    assert spread(queries, 10) == queries
    assert spread([], 4) == []


def test_the_halves_of_the_personas_queries_share_none() -> None:
    """What is for the final figure is not asked when weights are chosen."""
    tuning, held, both = (persona_task(PERSONAS, half).queries for half in ("tuning", "held", "both"))
    assert {half_of(query) for query in tuning} == {"tuning"}
    assert {query.id for query in tuning}.isdisjoint(query.id for query in held)
    assert len(tuning) + len(held) == len(both)


def test_tiers_have_names_of_their_own_and_halves_share_a_haystack() -> None:
    """Results of two tiers do not overwrite each other, and passages are embedded once for both halves."""
    tasks = [persona_task(PERSONAS[:2], "tuning"), persona_task(PERSONAS[:2], "held"), persona_task(PERSONAS, "held")]
    assert [(task.name, task.haystack) for task in tasks] == [
        ("personas-tuning-2-people", "personas-2-people"),
        ("personas-held-2-people", "personas-2-people"),
        ("personas-held", "personas"),
    ]


def test_every_judged_note_of_a_persona_exists() -> None:
    """A grade for a note that is not there could never be earned."""
    task = persona_task(PERSONAS, "both")
    assert isinstance(task.notes, Mapping)
    assert [note for query in task.queries for note in query.grades if note not in task.notes] == []


def test_a_larger_haystack_holds_all_of_a_smaller_one(tmp_path: Path) -> None:
    """Distractors come in a fixed order, from sets and from folders of notes, each under its folder's name."""
    others = tmp_path / "others"
    others.mkdir()
    for number in range(5):
        (others / f"{number}.md").write_text(str(number), encoding="utf-8")
    sources = [others, retrieval_set(tmp_path / "tiny")]
    task = Task("own", "own", {"mine.md": b"mine"}, [Query("q", "mine", {"mine.md": 1.0})])
    few, many = (filled(task, total, sources).notes for total in (4, 8))
    assert isinstance(few, Mapping)
    assert isinstance(many, Mapping)
    assert (len(few), len(many)) == (4, 8)
    assert few.items() <= many.items()
    assert {"mine.md", "elsewhere/others/3.md", "elsewhere/tiny/sub/a.md"} <= many.keys()


def test_too_few_distractors_are_told(tmp_path: Path) -> None:
    """The message says how many there are and what to do."""
    task = Task("own", "own", {"mine.md": b"mine"}, [])
    with pytest.raises(TaskError, match=r"9 notes cannot be reached: own has 1 .* 0; name more"):
        filled(task, 9, [tmp_path])
