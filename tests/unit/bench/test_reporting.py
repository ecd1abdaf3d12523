"""Reports of answers, their comparison and their picture."""

from typing import Any
from xml.etree import ElementTree as ET

from asking import MODES, Answer, Answers
from comparing import differences, losses
from drawing import picture
from reporting import report, show
from tasks import Query, Task

QUERIES = [
    Query("q1", "first", {"a.md": 3.0}, "keyword"),
    Query("q2", "second", {"b.md": 3.0}, "paraphrase"),
    Query("q3", "third", {"c.md": 3.0}, "other-language"),
    Query("q4", "nothing", {}, "no-answer"),
]
TASK = Task("own", "own", {}, QUERIES)


def answers(**hybrid: str) -> Answers:
    """Return answers, given by query text as notes with the first letter of their band: "a.s b.w"."""
    told = {"first": "a.s", "second": "a.w b.w", "third": "x.s", "nothing": "a.g", **hybrid}
    found = {}
    for text, hits in told.items():
        names = [hit.split(".") for hit in hits.split()]
        bands = [{"s": "strong", "g": "good", "w": "weak"}[band] for _, band in names]
        ranks = [{"lexical": 2, "fused": place} for place in range(1, len(names) + 1)]
        for mode in MODES:
            found[mode, text] = Answer([f"{name}.md" for name, _ in names], bands, ranks, 5.0)
    return Answers(3, 4, found)


def told(answered: Answers) -> dict[str, Any]:
    """Return the report of the task."""
    return report(TASK, answered)


def test_means_are_over_queries_with_an_answer_and_by_category() -> None:
    """Those in the model's language are told apart from all; those without an answer are in no mean."""
    groups = told(answers())["legs"]["hybrid"]
    assert {name: (row["count"], row["hit@1"][0]) for name, row in groups.items()} == {
        "all": (3, 0.3333),
        "same language": (2, 0.5),
        "keyword": (1, 1.0),
        "paraphrase": (1, 0.0),
        "other-language": (1, 0.0),
    }


def test_bands_say_how_far_strong_can_be_believed() -> None:
    """Of queries without an answer those count that have no strong hit, wherever it stands."""
    shares = {"no answer, and nothing strong": 1.0, "right first hit, strong": 1.0, "wrong first hit, strong": 0.5}
    assert told(answers())["bands"] == shares
    assert told(answers(nothing="a.w b.s"))["bands"]["no answer, and nothing strong"] == 0.0


def test_a_category_without_room_for_gains_is_named() -> None:
    """Its every query has the right note first."""
    assert told(answers())["saturated"] == ["keyword"]


def test_each_query_keeps_its_figures_for_a_later_comparison() -> None:
    """In the order hit@1, recall@10, nDCG@10, MRR, fused and by words."""
    assert told(answers())["each"]["hybrid"] == {
        "q1": [1.0, 1.0, 1.0, 1.0],
        "q2": [0.0, 1.0, 0.6309, 0.5],
        "q3": [0.0, 0.0, 0.0, 0.0],
    }


def test_the_table_has_the_floor_beside_the_fused_figure() -> None:
    """Above it with a plus, below it with a minus."""
    lines = list(show(told(answers()), {"hit@1": 0.5}))
    assert "floor of hit@1: 0.500, hybrid -0.167" in lines
    assert "saturated, every query at 1: keyword" in lines
    assert any(line.startswith("  all                   3  0.333 (") for line in lines)


def test_two_runs_are_compared_query_by_query() -> None:
    """A gain and a loss cancel out in the mean, not in the count."""
    before, after = told(answers()), told(answers(first="x.w a.w", second="b.s"))
    line = next(line for line in differences(before, after) if line.startswith("  hit@1"))
    assert line.startswith("  hit@1     +0.0000 (")
    assert line.endswith("1 won, 1 lost, 1 alike")


def test_the_worst_losses_are_told_with_the_ranks_of_each_leg() -> None:
    """Most nDCG lost first; the right note, and what stands before it."""
    answered = answers(first="x.w a.w", second="x.w")
    before, after = told(answers()), told(answered)
    assert list(losses(TASK, answered, before, after, 2)) == [
        "\nq2 paraphrase: second",
        "  nDCG@10 0.631, now 0.000",
        "  b.md: not among the first ten",
        "  found x.md: lexical 2, fused 1",
        "\nq1 keyword: first",
        "  nDCG@10 1.000, now 0.631",
        "  a.md: lexical 2, fused 2",
        "  found x.md: lexical 2, fused 1",
    ]


def test_the_picture_has_a_dot_for_each_leg_and_a_mark_for_the_floor() -> None:
    """Two panels, a row for each report; a name is text, whatever it holds."""
    drawn = ET.fromstring(picture([{**told(answers()), "set": "<a&b>"}], {"<a&b>": {"hit@1": 0.5}}))  # noqa: S314 - ours
    space = "{http://www.w3.org/2000/svg}"
    assert len([dot for dot in drawn.iter(f"{space}circle") if dot.get("r") == "3.5"]) == 2 * 3
    assert len([mark for mark in drawn.iter(f"{space}path") if mark.get("stroke") == "#dc2626"]) == 1
    assert "<a&b>" in [text.text for text in drawn.iter(f"{space}text")]
