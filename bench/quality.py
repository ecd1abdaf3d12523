"""Quality of ranking, measured on the running server, leg by leg and fused.

``python bench/quality.py SET...`` asks the queries of retrieval sets (folders with corpus.jsonl, queries.jsonl and
qrels.tsv); ``VAULT --queries FILE`` those of a file on a vault, which is only read; ``personas`` those of the personas
in this folder. Prints hit@1, recall@10, nDCG@10 and MRR with bootstrap intervals of 95 %, and the time of a request.
An interrupted run goes on where it was; answers are asked again when the product or the notes are others.
``--in-process`` searches without a server and is much faster, for choosing weights; its times are not a server's.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import inprocess
from asking import answers
from client import ServerError
from comparing import differences, losses
from drawing import picture
from haystacks import HALVES, PERSONAS, filled, persona_task
from product import identity
from reporting import report, show
from serving import machine
from tasks import Task, TaskError, read_set, read_vault

_HERE = Path(__file__).parent
_PERSONAS = "personas"


def main() -> None:
    """Measure what the command line names; a failure is one line and exit code 1."""
    options = _options()
    try:
        for task in _tasks(options):
            _measure(task, options)
        _draw(options.out)
    except (TaskError, ServerError, OSError) as error:
        sys.exit(f"quality: {error}")
    except KeyboardInterrupt:
        sys.exit("quality: interrupted; the same command goes on from here")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="+", metavar="SET_OR_VAULT", help='folders, or "personas"')
    parser.add_argument("--queries", type=Path, metavar="FILE", help="for a vault: {id, query, relevant} on each line")
    parser.add_argument("--most", type=int, default=1000, help="at most so many queries, evenly spread (%(default)s)")
    parser.add_argument("--in-process", action="store_true", help="without a server; results are quick-NAME.json")
    parser.add_argument("--model", default="bundled", help="with --in-process: an encoder of `synapse-ls models list`")
    parser.add_argument("--fresh", action="store_true", help="forget the answers of earlier runs")
    parser.add_argument("--against", type=Path, metavar="RESULT", help="compare with a result, or those of a folder")
    parser.add_argument("--changed", type=int, default=0, metavar="N", help="with --against: list the N worst losses")
    parser.add_argument("--out", type=Path, default=_HERE / "results", help="folder for results (%(default)s)")
    personas = parser.add_argument_group("personas")
    personas.add_argument("--half", choices=HALVES, default="tuning", help="of the queries (%(default)s)")
    personas.add_argument("--tiers", action="store_true", help="one to six personas, not only all six")
    personas.add_argument("--distractors", type=int, nargs="+", default=(), metavar="N", help="and in N notes in all")
    personas.add_argument("--distractors-from", type=Path, nargs="+", default=(), metavar="DIR", help="sets or vaults")
    options = parser.parse_args()
    if options.most < 1:
        parser.error("--most must be at least 1")
    if options.distractors and not options.distractors_from:
        parser.error("--distractors needs --distractors-from")
    if options.model != "bundled" and not options.in_process:
        parser.error("--model needs --in-process")
    if options.changed and options.against is None:
        parser.error("--changed needs --against")
    return options


def _tasks(options: argparse.Namespace) -> Iterator[Task]:
    for target in options.targets:
        folder = Path(target)
        if target == _PERSONAS:
            for count in range(1 if options.tiers else len(PERSONAS), len(PERSONAS) + 1):
                yield persona_task(PERSONAS[:count], options.half)
            for total in sorted(options.distractors):
                yield filled(persona_task(PERSONAS, options.half), total, options.distractors_from)
        elif (folder / "corpus.jsonl").exists():
            yield read_set(folder, options.most)
        elif options.queries is not None and folder.is_dir():
            yield read_vault(folder, options.queries, options.most)
        else:
            raise TaskError(f"{folder} is no retrieval set (it has no corpus.jsonl); a vault needs --queries FILE")


def _measure(task: Task, options: argparse.Namespace) -> None:
    if not any(query.grades for query in task.queries):
        raise TaskError(f"{task.name} has no query with an answer")
    product = identity()
    other = "" if options.model == "bundled" else f"-{options.model.rpartition('/')[2]}"
    file = options.out / f"{'quick' if options.in_process else 'quality'}-{task.name}{other}.json"
    # Read before it is written: what is compared with may be the same file.
    before = _before(options.against, file.name) if options.against is not None else None
    if options.in_process:
        answered = inprocess.answers(task, options.model)
    else:
        answered = answers(task, product["sources"], fresh=options.fresh)
    result = report(task, answered)
    print("\n".join(show(result, _floors().get(task.name, {}))))
    if before is not None:
        print("\n".join([*differences(before, result), *losses(task, answered, before, result, options.changed)]))
    options.out.mkdir(parents=True, exist_ok=True)
    file.write_text(_json({**result, "product": product, "machine": machine()}), encoding="utf-8")
    print(f"\nwritten to {file}", flush=True)


def _before(against: Path, name: str) -> dict[str, Any] | None:
    """Return the result to compare with; None where a folder has none of that name.

    Raises:
        TaskError: it is no result of this command.
    """
    file = against / name if against.is_dir() else against
    if against.is_dir() and not file.exists():
        return None
    try:
        result: dict[str, Any] = json.loads(file.read_text("utf-8"))
    except ValueError as error:
        raise TaskError(f"{file} is not JSON: {error}") from error
    if not isinstance(result, dict) or "each" not in result:
        raise TaskError(f"{file} is no result of this command")
    return result


def _draw(folder: Path) -> None:
    """Draw all results of a folder."""
    found = [json.loads(file.read_text("utf-8")) for file in sorted(folder.glob("quality-*.json"))]
    (folder / "quality.svg").write_text(
        picture([told for told in found if "each" in told], _floors()), encoding="utf-8"
    )


def _floors() -> dict[str, dict[str, float]]:
    floors: dict[str, dict[str, float]] = json.loads((_HERE / "floors.json").read_text("utf-8"))
    return floors


def _json(result: dict[str, Any]) -> str:
    """Return a result with each list of numbers on one line."""
    text = json.dumps(result, indent=1, ensure_ascii=False)
    return re.sub(r"\[[^\[\]{}]*\]", lambda numbers: re.sub(r"\n\s*", "", numbers[0]), text) + "\n"


if __name__ == "__main__":
    main()
