"""Ranking may not fall: the tuning queries of two personas over both their vaults, each leg and all together."""

from collections.abc import Iterator, Mapping

import inprocess
import pytest
from haystacks import persona_task
from judging import MEASURES, estimates, judge

from synapse_ls.core.model import Mode, SearchRequest
from synapse_ls.inference import embedder
from synapse_ls.search import searcher
from synapse_ls.search.searcher import Semantic
from synapse_ls.store.database import Connection, Index

PEOPLE = ("engineer", "gardener")
MODES: tuple[Mode, ...] = ("lexical", "semantic", "hybrid")

# What was measured stands behind; the floor is three hundredths below. Raise them with every gain, and lower one only
# for a reason that the change states.
FLOORS: dict[str, dict[str, float]] = {
    "lexical": {
        "hit@1": 0.750,  # 0.780
        "recall@10": 0.810,  # 0.840
        "ndcg@10": 0.773,  # 0.803
    },
    "semantic": {
        "hit@1": 0.560,  # 0.590
        "recall@10": 0.830,  # 0.860
        "ndcg@10": 0.699,  # 0.729
    },
    "hybrid": {
        "hit@1": 0.790,  # 0.820
        "recall@10": 0.900,  # 0.930
        "ndcg@10": 0.830,  # 0.860
    },
}

Measured = Mapping[str, Mapping[str, float]]


@pytest.fixture(scope="module")
def model() -> embedder.Embedder:
    """The encoder that comes with the package."""
    return embedder.load("bundled")


@pytest.fixture(scope="module")
def haystack(model: embedder.Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """An index of both vaults, complete, inside a read transaction."""
    folder = tmp_path_factory.mktemp("haystack")
    notes = persona_task(PEOPLE, "tuning").notes
    assert isinstance(notes, Mapping)
    index = Index(folder / "index" / "index.db")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inprocess, "VECTORS", folder / "vectors")
        inprocess.build(index, inprocess.records(notes), model)
    with index.read() as db:
        yield db
    index.close()


@pytest.fixture(scope="module")
def measured(haystack: Connection, model: embedder.Embedder) -> Measured:
    """Each measure's mean over the queries that have an answer, by mode."""
    queries = [query for query in persona_task(PEOPLE, "tuning").queries if query.grades]
    semantic = Semantic(inprocess.embedding(model), "ok")
    figures = {
        mode: [
            judge([hit.path for hit in searcher.search(haystack, request, semantic).hits], query.grades)
            for query in queries
            for request in (SearchRequest(query.text, 10, mode),)
        ]
        for mode in MODES
    }
    return {
        mode: {measure: mean for measure, (mean, _, _) in zip(MEASURES, estimates(rows), strict=True)}
        for mode, rows in figures.items()
    }


@pytest.mark.parametrize(
    ("mode", "measure", "floor"),
    [(mode, measure, floor) for mode, floors in FLOORS.items() for measure, floor in floors.items()],
)
def test_the_measure_is_at_its_floor_or_above(measured: Measured, mode: str, measure: str, floor: float) -> None:
    """The right note comes first, is among the first ten, and stands high, as often as it did."""
    assert measured[mode][measure] >= floor


def test_all_legs_together_beat_each_alone(measured: Measured) -> None:
    """Fusion is worth its while: no leg by itself puts the right notes as high."""
    assert measured["hybrid"]["ndcg@10"] > max(measured["lexical"]["ndcg@10"], measured["semantic"]["ndcg@10"])
