"""Answers and progress on a terminal."""

import sys
from typing import Any

from synapse_ls.core.model import Hit, SearchAnswer
from synapse_ls.search.related import RelatedAnswer
from synapse_ls.vault.vault import Vault

_TICK = 0.2
_STATES = {
    "starting": "being opened",
    "indexing": "being indexed",
    "ready": "up to date as of the last look at the notes",
    "readOnly": "kept up to date by another Synapse",
    "failed": "not usable",
}


def wait_with_progress(vault: Vault) -> None:
    """Wait until the vault is current; on a terminal with a progress bar on standard error."""
    if not sys.stderr.isatty():
        vault.wait()
        return
    from tqdm import tqdm

    bar: tqdm[Any] | None = None
    while not vault.wait(_TICK):
        state = vault.status()
        done = max(0, state.chunks - state.pending)
        if bar is None:
            bar = tqdm(total=max(1, state.chunks), unit=" passages", leave=False, file=sys.stderr)
        total, left = vault.progress()
        bar.set_description(f"reading {total - left} of {total} notes" if left else "embedding")
        bar.total = max(1, state.chunks)
        bar.n = done
        bar.refresh()
    if bar is not None:
        bar.close()


def answer(value: SearchAnswer) -> None:
    """Print the hits of a search, best first."""
    if not value.hits:
        print("no note fits")
        return
    bold = sys.stdout.isatty()
    for number, hit in enumerate(value.hits, 1):
        _show_hit(number, hit, bold=bold)
        print(f"   {hit.band}, by {' + '.join(hit.matched_by) or 'recency'}{_ranks(hit)}")


def related(value: RelatedAnswer) -> None:
    """Print related notes, best first, each with its reasons."""
    if not value.hits:
        print("no note is related")
        return
    bold = sys.stdout.isatty()
    for number, found in enumerate(value.hits, 1):
        _show_hit(number, found.hit, bold=bold)
        print(f"   {'; '.join(found.reasons)}")


def status(shape: dict[str, Any]) -> None:
    """Print a vault's status, in the shape of the protocol, in plain words."""
    notes, chunks, embedded, pending = (shape[name] for name in ("notes", "chunks", "embedded", "pending"))
    print(f"{shape['root']}: {_STATES[shape['state']]}")
    if "lastError" in shape:
        print(f"  last error: {shape['lastError']}")
    print(f"  {_number(notes, 'note')} in {_number(chunks, 'passage')}, searchable by words and links")
    share = "" if not chunks else f" ({100 * embedded // chunks} %)"
    print(f"  {_number(embedded, 'passage')}{share} searchable by meaning, {pending} waiting")
    model = shape["model"]
    about = f" ({model['languages']}, {model['dimensions']} dimensions)" if model["dimensions"] else ""
    note = f": {model['note']}" if "note" in model else ""
    print(f"  model {model['name']}{about} is {model['state']}{note}")
    print(f"  {shape['cacheBytes'] / 2**20:.1f} MiB in the cache")
    if shape["skipped"]:
        print(f"  {_number(len(shape['skipped']), 'note')} not or not wholly indexed:")
    for skipped in shape["skipped"]:
        print(f"    {skipped['path']}: {skipped['reason']}")


def _show_hit(number: int, hit: Hit, *, bold: bool) -> None:
    place = f"{hit.path}:{hit.range.start.line + 1}"
    above = " › ".join(hit.heading_path)
    print(f"{number}. {_strong(hit.title, on=bold)}  {place}" + (f"  ({above})" if above else ""))
    print(f"   {_marked(hit, bold=bold)}")


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _marked(hit: Hit, *, bold: bool) -> str:
    """Return the snippet with the matched words bold on a terminal and in ``**`` elsewhere."""
    text = hit.snippet.text
    parts: list[str] = []
    end = 0
    for span in hit.snippet.highlights:
        parts += [text[end : span.start], _strong(span.slice(text), on=bold) if bold else f"**{span.slice(text)}**"]
        end = span.end
    return "".join([*parts, text[end:]])


def _strong(text: str, *, on: bool) -> str:
    return f"\x1b[1m{text}\x1b[0m" if on else text


def _ranks(hit: Hit) -> str:
    if hit.ranks is None:
        return ""
    ranks = {"lexical": hit.ranks.lexical, "semantic": hit.ranks.semantic, "graph": hit.ranks.graph}
    found = ", ".join(f"{leg} {rank}" for leg, rank in ranks.items() if rank is not None)
    judged = "" if hit.ranks.rerank is None else f"; fused {hit.ranks.fused}, reranked {hit.ranks.rerank}"
    return f"  [rank: {found or 'none'}{judged}; score {hit.score:.5f}]"
