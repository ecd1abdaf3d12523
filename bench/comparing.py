"""Two runs over the same queries, pair by pair."""

from collections.abc import Iterator, Mapping
from typing import Any

from asking import Answers
from judging import MEASURES, estimates
from reporting import COMPARED
from tasks import Task

_NDCG = MEASURES.index("ndcg@10")


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each leg and measure: the mean difference, its interval of 95 %, and who gained and lost."""
    for mode in COMPARED:
        former, found = before["each"][mode], after["each"][mode]
        both = [name for name in found if name in former]
        yield f"\n{after['set']}, {mode}, {len(both)} queries against the earlier run"
        if not both:
            continue
        rows = [[new - old for new, old in zip(found[name], former[name], strict=True)] for name in both]
        for column, (measure, (mean, low, high)) in enumerate(zip(MEASURES, estimates(rows), strict=True)):
            won, lost = sum(row[column] > 0 for row in rows), sum(row[column] < 0 for row in rows)
            yield (
                f"  {measure:10}{mean:+.4f} ({low:+.4f} to {high:+.4f})"
                f"  {won} won, {lost} lost, {len(rows) - won - lost} alike"
            )


def losses(
    task: Task, answered: Answers, before: Mapping[str, Any], after: Mapping[str, Any], most: int
) -> Iterator[str]:
    """Yield the queries that lost most nDCG in hybrid search, worst first, with what the legs say of the right note."""
    former, found = before["each"]["hybrid"], after["each"]["hybrid"]
    lost = {name: found[name][_NDCG] - former[name][_NDCG] for name in found if name in former}
    by_id = {query.id: query for query in task.queries}
    for name in sorted((name for name in lost if lost[name] < 0), key=lost.__getitem__)[:most]:
        query = by_id[name]
        answer = answered.found["hybrid", query.text]
        yield f"\n{name} {query.category}: {query.text}"
        yield f"  nDCG@10 {former[name][_NDCG]:.3f}, now {found[name][_NDCG]:.3f}"
        right = max(query.grades, key=query.grades.__getitem__)
        ranked = dict(zip(answer.paths, answer.ranks, strict=True))
        yield f"  {right}: {_told(ranked[right]) if right in ranked else 'not among the first ten'}"
        yield from (f"  found {path}: {_told(ranked[path])}" for path in answer.paths[:2] if path != right)


def _told(ranks: Mapping[str, int] | None) -> str:
    return ", ".join(f"{leg} {rank}" for leg, rank in (ranks or {}).items() if rank)
