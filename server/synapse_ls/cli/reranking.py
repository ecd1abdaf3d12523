"""Reranking on the command line: nobody reads meanwhile, so that it is waited for."""

from dataclasses import dataclass, replace
from typing import Literal

from synapse_ls.cli.terminal import say
from synapse_ls.core.errors import ModelError
from synapse_ls.core.model import SearchAnswer
from synapse_ls.search.reranking import is_certain
from synapse_ls.vault.reranking import Reranking
from synapse_ls.vault.vault import Vault

Outcome = Literal["off", "skipped", "unavailable", "reranked", "deadline", "failed"]

# A large model needs about a second a passage.
_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Refined:
    """An answer in the order that counts, what became of reranking, and the model that did it."""

    answer: SearchAnswer
    outcome: Outcome = "off"
    model: str | None = None


def refined(vault: Vault, query: str, answer: SearchAnswer, limit: int, wanted: bool | None) -> Refined:
    """Return an answer reranked, if the command line asks for it or the settings do; says why it is not."""
    settings = vault.settings.rerank
    if not (settings.enabled if wanted is None else wanted):
        return Refined(answer)
    if not wanted and is_certain(answer.shortlist):
        return Refined(answer, "skipped")
    reranking = Reranking(settings, lambda: vault.encoder)
    try:
        if (trouble := reranking.trouble()) is not None:
            say(f"not reranked: {trouble}")
            return Refined(answer, "unavailable")
        found = reranking.rerank(query, answer.shortlist, settings.top_k, _SECONDS)
    except ModelError as error:
        say(f"not reranked: {error}")
        return Refined(answer, "failed", reranking.name)
    finally:
        reranking.close()
    if found is None:
        say(f"not reranked: {reranking.name} took longer than {_SECONDS:.0f} s")
        return Refined(answer, "deadline", reranking.name)
    if (trouble := reranking.status().note) is not None:
        say(f"{trouble}; {found.model} has reranked")
    hits = tuple(candidate.shown() for _, candidate in found.order[:limit]) or answer.hits
    return Refined(replace(answer, hits=hits), "reranked", found.model)
