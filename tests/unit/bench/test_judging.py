"""Figures of answers."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judging import MEASURES, estimates, judge

SECOND = 1 / math.log2(3)  # what a gain in the second place is worth
NOTES = [f"{letter}.md" for letter in "abcdefghijklmno"]


@pytest.mark.parametrize(
    ("found", "grades", "figures"),
    [
        pytest.param(["a"], {"a": 3, "b": 1}, (1.0, 1.0, 3 / (3 + SECOND), 1.0), id="the right one first"),
        pytest.param(
            ["b", "a"],
            {"a": 3, "b": 1},
            (0.0, 1.0, (1 + 3 * SECOND) / (3 + SECOND), 0.5),
            id="one that only helps first",
        ),
        pytest.param(["a", "b"], {"a": 1, "b": 1}, (1.0, 1.0, 1.0, 1.0), id="two are right"),
        pytest.param(["x", "b"], {"a": 1, "b": 1}, (0.0, 0.5, SECOND / (1 + SECOND), 0.5), id="one of two right ones"),
        pytest.param(["x"] * 10 + ["a"], {"a": 1}, (0.0, 0.0, 0.0, 0.0), id="the eleventh does not count"),
        pytest.param([], {"a": 1}, (0.0, 0.0, 0.0, 0.0), id="nothing found"),
        pytest.param(["a"], {}, (0.0, 0.0, 0.0, 0.0), id="nothing to be found"),
    ],
)
def test_an_answer_is_judged_by_the_best_grade_and_by_all(
    found: list[str], grades: dict[str, float], figures: tuple[float, ...]
) -> None:
    """First place, share and rank tell of right notes, nDCG of all that help."""
    assert judge(found, grades) == pytest.approx(figures)


@given(st.permutations(NOTES), st.dictionaries(st.sampled_from(NOTES), st.integers(1, 3), min_size=1))
def test_no_answer_is_better_than_the_ideal_one(found: list[str], grades: dict[str, float]) -> None:
    """Every figure is 0 to 1, and the notes by falling grade have all of them at 1 as far as ten places go."""
    assert all(0 <= figure <= 1 + 1e-9 for figure in judge(found, grades))
    ideal = judge(sorted(grades, key=lambda note: -grades[note]), grades)
    assert (ideal[0], ideal[2], ideal[3]) == pytest.approx((1.0, 1.0, 1.0))


def test_an_interval_holds_the_mean_and_is_the_same_each_time() -> None:
    """The bootstrap has a fixed seed; each column has its own mean, and one that never varies no width."""
    rows = [(float(number % 2), 0.25) for number in range(100)]
    (mean, low, high), still = estimates(rows)
    assert mean == pytest.approx(0.5)
    assert low == pytest.approx(0.4, abs=0.03)
    assert high == pytest.approx(0.6, abs=0.03)
    assert still == (0.25, 0.25, 0.25)
    assert estimates(rows) == estimates(rows)


def test_measures_are_named_in_the_order_of_figures() -> None:
    """What ``judge`` gives can be zipped with the names."""
    assert dict(zip(MEASURES, judge(["x", "a"], {"a": 1}), strict=True))["mrr"] == 0.5
