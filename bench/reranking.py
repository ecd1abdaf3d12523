"""What reranking costs those who wait for the first answer: ``python bench/reranking.py VAULT``.

On a complete index, each query asked once and in turns: the time to the fused answer without reranking, with a rerank
pending for that very answer, and while the rerank of another session's answer is at work; then the time from the answer
to its outcome, late interaction of twenty passages. Last, queries are typed key by key in one session with reranking
on, and every outcome that belongs to a superseded answer is counted: there must be none. ``--out`` writes JSON.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from client import Client
from queries import queries_of
from serving import is_complete, machine, save, scratch, serve_command, vault_status, wait_for_status

_RERANKED = "synapse/searchReranked"
_PATIENCE = 60.0
_INDEXING_SECONDS = 1800.0
_KEY_SECONDS = 0.12
_ALLOWED = 1.2


def main() -> None:
    """Measure, print, write JSON if asked; exits 1 if an outcome of a superseded answer comes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vault", type=Path, help="a folder of notes; it is only read")
    parser.add_argument("--runs", type=int, default=60, help="searches of each kind (%(default)s)")
    parser.add_argument("--out", type=Path, help="write the figures as JSON to this file")
    options = parser.parse_args()
    with scratch() as (_, environment), Client(serve_command(), environment) as client:
        client.settings = {"rerank": {"enabled": True, "topK": 20, "deadlineMs": 10_000}}
        client.initialize(options.vault, client.settings)
        client.initialized()
        wait_for_status(client, is_complete, _INDEXING_SECONDS)
        supply = iter(queries_of(options.vault))
        report: dict[str, Any] = {
            "machine": machine(),
            "vault": options.vault.name,
            "notes": vault_status(client)["notes"],
            **_answers(client, supply, options.runs),
            **_typed(client, [next(supply) for _ in range(8)]),
        }
    save(report, options.out)
    raise SystemExit(1 if report["supersededOutcomes"] else 0)


def _answers(client: Client, supply: Iterator[str], runs: int) -> dict[str, Any]:
    """Time fused answers of three kinds in turns, and the outcomes."""
    outcomes: list[float] = []
    kinds: dict[str, Callable[[str], float]] = {
        "none": lambda query: _fused(client, query, rerank=False)[0],
        "its own": lambda query: _reranked(client, query, outcomes),
        "another's": lambda query: _beside(client, query, next(supply)),
    }
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    _reranked(client, next(supply), [])  # the first one loads what is needed
    for _ in range(runs):
        for kind, timed in kinds.items():
            times[kind].append(timed(next(supply)))
    print(f"{'rerank pending':18}{'p50 ms':>9}{'p95 ms':>9}{'ratio of p50':>14}{'of p95':>9}")
    told = {kind: _percentiles(found) for kind, found in times.items()}
    for kind, row in told.items():
        row |= {f"{share}Ratio": round(row[share] / told["none"][share], 3) for share in ("p50", "p95")}
        print(f"{kind:18}{row['p50']:9.1f}{row['p95']:9.1f}{row['p50Ratio']:14.2f}{row['p95Ratio']:9.2f}")
    outcome = _percentiles(outcomes)
    print(f"outcome after the answer: p50 {outcome['p50']:.0f} ms, p95 {outcome['p95']:.0f} ms, of {len(outcomes)}")
    return {"fused": told, "outcomeMs": outcome, "allowedRatio": _ALLOWED}


def _fused(client: Client, query: str, *, rerank: bool, session: str | None = None) -> tuple[float, dict[str, Any]]:
    params = {"query": query, "rerank": rerank, **({} if session is None else {"session": session})}
    sent = time.perf_counter()
    answer = client.ask("synapse/search", params)
    return (answer.at - sent) * 1000, answer.value


def _reranked(client: Client, query: str, outcomes: list[float]) -> float:
    took, answer = _fused(client, query, rerank=True)
    told = _outcome(client, answer)
    if told["outcome"] == "reranked" and len(answer["hits"]) > 1:
        outcomes.append(told["elapsedMs"])
    return took


def _beside(client: Client, query: str, other: str) -> float:
    """Time a search that comes while another's shortlist is judged."""
    _, before = _fused(client, other, rerank=True)
    took, _ = _fused(client, query, rerank=False)
    _outcome(client, before)
    return took


def _outcome(client: Client, answer: dict[str, Any]) -> dict[str, Any]:
    if answer["rerank"] != "pending":
        raise SystemExit(f"a rerank that was asked for is {answer['rerank']}")
    wished = answer["searchId"]
    found: dict[str, Any] = client.wait_for(_RERANKED, lambda told: told["searchId"] == wished, _PATIENCE).value
    return found


def _typed(client: Client, queries: Sequence[str]) -> dict[str, Any]:
    """Type queries key by key; count what came for answers that were superseded, and for the last ones."""
    superseded: set[str] = set()
    last: set[str] = set()
    for number, query in enumerate(queries):
        ids: list[int] = []
        for length in range(2, len(query) + 1):
            params = {"query": query[:length], "session": f"typed {number}", "rerank": True}
            ids.append(client.send("synapse/search", params))
            time.sleep(_KEY_SECONDS)
        answers = [client.answer(one) for one in ids]
        pending = [one.value["searchId"] for one in answers if not one.failed and one.value["rerank"] == "pending"]
        client.wait_for(_RERANKED, lambda told, mine=pending[-1]: told["searchId"] == mine, _PATIENCE)
        last.add(pending[-1])
        # An outcome may come before the next key; only one that comes after it is of a superseded answer.
        superseded |= _too_late(client, pending, [one.at for one in answers if not one.failed])
    print(f"typed {len(queries)} queries: outcomes for {len(last)} last keys, {len(superseded)} for superseded answers")
    return {"lastOutcomes": len(last), "supersededOutcomes": len(superseded)}


def _too_late(client: Client, pending: Sequence[str], at: Sequence[float]) -> set[str]:
    """Return the answers whose outcome came after the answer to a later key."""
    came = {told.value["searchId"]: told.at for told in client.notified(_RERANKED)}
    return {one for one, later in zip(pending, at[1:], strict=False) if one in came and came[one] > later}


def _percentiles(values: Sequence[float]) -> dict[str, float]:
    ordered = statistics.quantiles(values, n=100, method="inclusive")
    return {f"p{share}": round(ordered[share - 1], 2) for share in (50, 95)}


if __name__ == "__main__":
    main()
