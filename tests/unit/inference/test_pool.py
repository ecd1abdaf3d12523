"""Background embedding: order, priority of searches, cancelling, closing."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING

import numpy as np  # noqa: TID253 - the rule is for start-up, which a test has not
import pytest

from synapse_ls.core.errors import ModelError
from synapse_ls.inference.pool import EmbeddingPool
from synapse_ls.inference.registry import BUNDLED, ModelSpec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from synapse_ls.inference.embedder import Embedder

PATIENCE = 10  # seconds until a test that hangs is a test that failed


class Stage:
    """An embedder whose texts tell it what to do; it keeps a journal of what it began."""

    def __init__(self) -> None:
        self.journal: list[str] = []
        self.began = {name: threading.Event() for name in ("hold", "next", "search")}
        self.go_on = {name: threading.Event() for name in ("hold", "search")}
        self.priorities: set[int] = set()
        self.lock = threading.Lock()

    @property
    def spec(self) -> ModelSpec:
        """Any model."""
        return BUNDLED

    def embed_passage(self, text: str) -> "NDArray[np.float32]":
        """Return the text's length as a vector, after what the text asks for."""
        self._play(text)
        if sys.platform == "linux":
            self.priorities.add(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        if text == "model error":
            raise ModelError("refused")
        if text == "other error":
            raise KeyError(text)
        return np.array([len(text)], dtype=np.float32)

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """As a passage, but an error is always the model's."""
        self._play(text)
        if text == "model error":
            raise ModelError("refused")
        return np.array([len(text)], dtype=np.float32)

    def _play(self, text: str) -> None:
        with self.lock:
            self.journal.append(text)
        if text in self.began:
            self.began[text].set()
        if text in self.go_on:
            assert self.go_on[text].wait(PATIENCE)


def never() -> bool:
    """Cancel nothing."""
    return False


@contextmanager
def pool_of(embedder: "Embedder", workers: int) -> Iterator[EmbeddingPool]:
    """Give a pool that is closed at the end."""
    pool = EmbeddingPool(embedder, workers)
    yield pool
    pool.close()


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_every_text_comes_back_once_with_its_position(workers: int) -> None:
    """Results come in any order, none is lost, none is doubled."""
    with pool_of(Stage(), workers) as pool:
        results = [(index, vector) for index, vector in pool.embed_many(("x" * n for n in range(40)), never)]
    assert sorted((index, float(vector[0])) for index, vector in results if not isinstance(vector, ModelError)) == [
        (n, float(n)) for n in range(40)
    ]


def test_one_worker_keeps_the_order() -> None:
    """What is asked for first is embedded first."""
    with pool_of(Stage(), 1) as pool:
        assert [index for index, _ in pool.embed_many("abcdefgh", never)] == list(range(8))


def test_no_texts_are_no_results() -> None:
    """An empty vault waits for nothing."""
    with pool_of(Stage(), 2) as pool:
        assert list(pool.embed_many([], never)) == []


def test_failed_text_gives_its_error_and_the_others_their_vectors() -> None:
    """One text the model cannot read does not stop the rest, whatever was raised."""
    with pool_of(Stage(), 2) as pool:
        results = dict(pool.embed_many(["fine", "model error", "other error", "fine too"], never))
    assert {index: str(result) for index, result in results.items() if isinstance(result, ModelError)} == {
        1: "refused",
        2: "The model failed on a text of 11 characters (KeyError('other error')).",
    }
    assert len(results) == 4


def test_texts_are_read_only_a_little_ahead() -> None:
    """A vault's texts are never in memory together."""
    read = count()
    with pool_of(Stage(), 2) as pool:
        results = pool.embed_many((str(next(read)) for _ in range(1000)), never)
        next(results)
        assert next(read) <= 5
        results.close()


def test_cancelled_work_ends_and_its_texts_are_dropped() -> None:
    """Nothing more is begun for a reader that is gone; the pool serves the next one."""
    stage = Stage()
    with pool_of(stage, 1) as pool:
        seen = list[int]()
        for index, _ in pool.embed_many((f"old {n}" for n in range(100)), lambda: len(seen) == 3):
            seen.append(index)
        assert seen == [0, 1, 2]
        assert [index for index, _ in pool.embed_many(["new"], never)] == [0]
    assert len(stage.journal) <= 3 + 2 + 1


def test_no_text_is_begun_while_a_search_runs() -> None:
    """A search waits for no queue: the worker finishes its text and stands still until the search is answered."""
    stage = Stage()
    with pool_of(stage, 1) as pool:
        results = pool.embed_many(["hold", "next"], never)
        first = threading.Thread(target=lambda: next(results))
        first.start()
        assert stage.began["hold"].wait(PATIENCE)
        search = threading.Thread(target=pool.query, args=("search",))
        search.start()
        assert stage.began["search"].wait(PATIENCE)
        stage.go_on["hold"].set()
        first.join(PATIENCE)
        begun_during_search = stage.began["next"].wait(0.05)
        stage.go_on["search"].set()
        search.join(PATIENCE)
        assert [index for index, _ in results] == [1]
    assert (begun_during_search, stage.journal) == (False, ["hold", "search", "next"])


def test_failed_search_raises_and_lets_the_workers_go_on() -> None:
    """The queue does not stand still after a search that failed."""
    with pool_of(Stage(), 1) as pool:
        with pytest.raises(ModelError, match="refused"):
            pool.query("model error")
        assert [index for index, _ in pool.embed_many(["a"], never)] == [0]


def test_repeated_search_is_answered_from_memory() -> None:
    """The 256 searches used last are not computed again."""
    stage = Stage()
    with pool_of(stage, 1) as pool:
        for text in ["first", *(f"later {n}" for n in range(255)), "first", "one more", "first", "later 0"]:
            pool.query(text)
    assert stage.journal[256:] == ["one more", "later 0"]


def test_remembered_vector_cannot_be_changed() -> None:
    """Nobody can spoil the next answer."""
    with pool_of(Stage(), 1) as pool, pytest.raises(ValueError, match="read-only"):
        pool.query("words")[0] = 5


@pytest.mark.parametrize(("at_first", "then"), [(3, 1), (1, 3)])
def test_number_of_workers_changes_while_they_work(at_first: int, then: int) -> None:
    """The texts in flight are finished and the rest is done by the new number."""
    stage = Stage()
    with pool_of(stage, at_first) as pool:
        results = pool.embed_many((str(n) for n in range(60)), never)
        indexes = [next(results)[0]]
        pool.set_workers(then)
        indexes += [index for index, _ in results]
    assert sorted(indexes) == list(range(60))


def test_no_more_texts_at_once_than_allowed() -> None:
    """After the number was lowered the thread left over stands still."""
    stage = Stage()
    with pool_of(stage, 2) as pool:
        pool.set_workers(1)
        reader = threading.Thread(target=lambda: list(pool.embed_many(["hold", "next"], never)))
        reader.start()
        assert stage.began["hold"].wait(PATIENCE)
        begun_beside = stage.began["next"].wait(0.05)
        stage.go_on["hold"].set()
        reader.join(PATIENCE)
    assert (begun_beside, stage.journal) == (False, ["hold", "next"])


def test_closing_ends_threads_and_waiting_readers() -> None:
    """A text that runs is finished, those that wait are dropped, the reader's loop ends."""
    others = set(threading.enumerate())
    stage = Stage()
    pool = EmbeddingPool(stage, 2)
    read = list[int]()
    reader = threading.Thread(target=lambda: read.extend(index for index, _ in pool.embed_many(["hold"] * 50, never)))
    reader.start()
    assert stage.began["hold"].wait(PATIENCE)
    closing = threading.Thread(target=pool.close)
    closing.start()
    stage.go_on["hold"].set()
    closing.join(PATIENCE)
    reader.join(PATIENCE)
    assert not closing.is_alive()
    assert not reader.is_alive()
    assert not [thread for thread in {*threading.enumerate()} - others if thread.name.startswith("embed-")]


def test_closed_pool_embeds_nothing_and_still_answers_searches() -> None:
    """Work that comes too late ends at once; a search needs no worker."""
    pool = EmbeddingPool(Stage(), 1)
    pool.close()
    pool.close()
    assert list(pool.embed_many(["late"], never)) == []
    assert float(pool.query("late")[0]) == 4


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a priority for each thread")
def test_workers_step_back_for_others_and_the_caller_does_not() -> None:
    """Passages are embedded at low priority; the thread that asks keeps its own."""
    stage = Stage()
    mine = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    with pool_of(stage, 2) as pool:
        list(pool.embed_many("abcdef", never))
    assert stage.priorities == {max(mine, 10)}
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == mine


def test_real_encoder_gives_the_same_vectors_in_the_pool(embedder: "Embedder") -> None:
    """Workers and searches share one session without disturbing each other."""
    texts = ["a short note", "another one " * 100, "", "third"] * 3
    with pool_of(embedder, 2) as pool:
        results = dict(pool.embed_many(texts, never))
        query = pool.query("third")
    assert [np.asarray(results[n]).tobytes() for n in range(12)] == [embedder.embed_passage(t).tobytes() for t in texts]
    assert query.tobytes() == np.asarray(results[3]).tobytes()
