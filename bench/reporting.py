"""The figures of a task as one JSON value, and as a table."""

import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from asking import MODES, Answer, Answers
from judging import MEASURES, Estimate, Figures, estimates, judge
from tasks import Query, Task

ALL = "all"
COMPARED = ("hybrid", "lexical")

_FOREIGN, _NATIVE = "other-language", "same language"


def report(task: Task, answered: Answers) -> dict[str, Any]:
    """Return what was measured.

    ``legs`` holds, for each mode and group of queries with an answer, their number and each measure as [mean, low,
    high], the interval being of 95 %; ``each`` the figures query by query in the order of ``judging.MEASURES``.
    """
    answerable = [query for query in task.queries if query.grades]
    figures = {
        mode: {query.id: judge(answered.found[mode, query.text].paths, query.grades) for query in answerable}
        for mode in MODES
    }
    return {
        "set": task.name,
        "notes": answered.notes,
        "chunks": answered.chunks,
        "queries": len(task.queries),
        "legs": {mode: _groups(answerable, figures[mode]) for mode in MODES},
        "time": {mode: _times([answered.found[mode, query.text] for query in task.queries]) for mode in MODES},
        "bands": _bands(task.queries, answered),
        "saturated": _saturated(answerable, figures["hybrid"]),
        "each": {mode: {name: _short(row) for name, row in figures[mode].items()} for mode in COMPARED},
    }


def show(told: Mapping[str, Any], floors: Mapping[str, float]) -> Iterator[str]:
    """Yield the lines of a table of a report."""
    yield f"\n{told['set']}: {told['notes']} notes, {told['chunks']} chunks, {told['queries']} queries"
    for mode, groups in told["legs"].items():
        time = told["time"][mode]
        yield f"\n{mode:18}{'count':>7}  " + "".join(f"{measure:24}" for measure in MEASURES).rstrip()
        for name, row in groups.items():
            yield (
                f"  {name:16}{row['count']:7}  " + "".join(f"{_told(row[measure]):24}" for measure in MEASURES).rstrip()
            )
        yield f"  p50 {time['p50']:.1f} ms, p95 {time['p95']:.1f} ms"
    yield ""
    fused = told["legs"]["hybrid"][ALL]
    for measure, floor in floors.items():
        yield f"floor of {measure}: {floor:.3f}, hybrid {fused[measure][0] - floor:+.3f}"
    yield from (f"{what}: {share:.3f}" for what, share in told["bands"].items())
    if told["saturated"]:
        yield f"saturated, every query at 1: {', '.join(told['saturated'])}"


def _groups(queries: Sequence[Query], figures: Mapping[str, Figures]) -> dict[str, dict[str, Any]]:
    """Return the estimates of all queries and of each category."""
    members: dict[str, list[Figures]] = {ALL: [figures[query.id] for query in queries]}
    if any(query.category == _FOREIGN for query in queries):
        members[_NATIVE] = [figures[query.id] for query in queries if query.category != _FOREIGN]
    members |= {name: [figures[query.id] for query in some] for name, some in _categories(queries)}
    return {
        name: {"count": len(rows), **{m: _short(e) for m, e in zip(MEASURES, estimates(rows), strict=True)}}
        for name, rows in members.items()
        if rows
    }


def _saturated(queries: Sequence[Query], figures: Mapping[str, Figures]) -> list[str]:
    """Return the categories in which nothing can be gained: the right note first and none missing, for every query."""
    return [name for name, some in _categories(queries) if all(min(figures[query.id][:2]) == 1.0 for query in some)]


def _categories(queries: Sequence[Query]) -> list[tuple[str, list[Query]]]:
    found: dict[str, list[Query]] = defaultdict(list)
    for query in queries:
        if query.category:
            found[query.category].append(query)
    return sorted(found.items())


def _bands(queries: Sequence[Query], answered: Answers) -> dict[str, float]:
    """Return how far "strong" can be believed, in hybrid answers."""
    silent: list[bool] = []
    first: dict[bool, list[bool]] = {True: [], False: []}
    for query in queries:
        answer = answered.found["hybrid", query.text]
        if not query.grades:
            silent.append("strong" not in answer.bands)
        elif answer.paths:
            first[judge(answer.paths, query.grades)[0] == 1.0].append(answer.bands[0] == "strong")
    shares = {
        "no answer, and nothing strong": silent,
        "right first hit, strong": first[True],
        "wrong first hit, strong": first[False],
    }
    return {what: round(statistics.fmean(found), 4) for what, found in shares.items() if found}


def _times(answers: Sequence[Answer]) -> dict[str, float]:
    ordered = sorted(answer.ms for answer in answers)
    return {f"p{share}": round(ordered[(len(ordered) - 1) * share // 100], 1) for share in (50, 95)}


def _short(row: Sequence[float]) -> list[float]:
    return [round(value, 4) for value in row]


def _told(estimate: Estimate) -> str:
    mean, low, high = estimate
    return f"{mean:.3f} ({low:.3f} to {high:.3f})"
