"""The bundled encoder: meaning, determinism, inputs of any shape."""

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np  # noqa: TID253 - the rule is for start-up, which a test has not
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synapse_ls.core.errors import ModelError
from synapse_ls.inference.embedder import MAX_TOKENS, Embedder, _OnnxEmbedder, load
from synapse_ls.inference.registry import BUNDLED

if TYPE_CHECKING:
    from numpy.typing import NDArray

NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


class BrokenSession:
    """A model whose last layer is one number everywhere."""

    def __init__(self, number: float) -> None:
        self.number = number

    def run(self, _outputs: list[str], inputs: "dict[str, NDArray[np.int64]]") -> "list[NDArray[np.float32]]":
        """Answer in the shape of the real model."""
        return [np.full((*inputs["input_ids"].shape, 384), self.number, dtype=np.float32)]


@pytest.mark.parametrize(
    ("text", "similarity"), [("A kitten is resting outdoors", 0.699), ("Quarterly revenue grew by 5%", 0.023)]
)
def test_nearness_is_nearness_of_meaning(embedder: Embedder, text: str, similarity: float) -> None:
    """The published model's own figures, to a hundredth for other processors."""
    query = embedder.embed_query("The cat sits outside")
    assert float(query[0] @ embedder.embed_passage(text)[0]) == pytest.approx(similarity, abs=0.01)


@pytest.mark.parametrize(
    "text",
    ["", " \n\t", "x", "\x00", "\ud800 half a pair", "[CLS] [PAD] [MASK]", "日本語", "a" * 70_000, "é́́ " * 300],
    ids=["empty", "blank", "letter", "zero", "surrogate", "special", "japanese", "one long word", "accents"],
)
def test_every_text_has_a_vector_of_length_one(embedder: Embedder, text: str) -> None:
    """Nothing a note contains is without a vector."""
    vectors = embedder.embed_passage(text)
    assert (vectors.shape[1], vectors.dtype.name) == (384, "float32")
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0), ("- … !", 0), ("Cats sleep.", 2), ("kubectl rollout", 6), ("[SEP] x", 2), ("one " * 700, MAX_TOKENS),
    ],
)  # fmt: skip
def test_words_have_vectors_of_their_own(embedder: Embedder, text: str, tokens: int) -> None:
    """Each part of a word has one; punctuation and the model's own marks have none."""
    assert len(embedder.embed_passage(text)) == 1 + tokens


def test_word_is_nearest_to_its_like(embedder: Embedder) -> None:
    """The rows follow the text."""
    query, passage = embedder.embed_query("kitten"), embedder.embed_passage("the bank sent a cat")
    assert int((passage[1:] @ query[-1]).argmax()) == 4


@settings(max_examples=25, deadline=None)
@given(text=st.text(max_size=300))
def test_any_text_is_embedded_the_same_twice(embedder: Embedder, text: str) -> None:
    """Same text, same bits, as a passage and as a query."""
    assert embedder.embed_passage(text).tobytes() == embedder.embed_query(text).tobytes()


def test_vectors_are_the_same_in_every_thread_and_order(embedder: Embedder) -> None:
    """What runs before or beside a text leaves no trace in its vector."""
    texts = [" ".join(NUMBERS[i % 10 :] * (i + 1)) for i in range(12)]
    alone = [embedder.embed_passage(text).tobytes() for text in texts]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda text: embedder.embed_passage(text).tobytes(), reversed(texts * 2)))
    assert together == list(reversed(alone * 2))


def test_long_text_is_the_weighted_mean_of_its_windows(embedder: Embedder) -> None:
    """254 words fill a window; the rest is a window too, with the weight of its tokens."""
    words = [NUMBERS[i % 10] for i in range(300)]
    full, rest = (embedder.embed_passage(" ".join(part))[0].astype(np.float64) for part in (words[:254], words[254:]))
    mean = 256 * full + 48 * rest
    np.testing.assert_allclose(
        embedder.embed_passage(" ".join(words))[0], mean / np.linalg.norm(mean), rtol=0, atol=1e-6
    )


def test_end_of_a_long_text_counts(embedder: Embedder) -> None:
    """What stands beyond the model's limit moves the vector towards it."""
    cut = "The garden needs water. " * 60
    whole = cut + "The invoice is overdue. " * 60
    query = embedder.embed_query("unpaid bill")[0]
    assert float(query @ embedder.embed_passage(whole)[0]) > float(query @ embedder.embed_passage(cut)[0]) + 0.1


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 0.0])
def test_output_that_is_no_vector_is_refused(embedder: Embedder, number: float) -> None:
    """NaN, infinity and nothing never reach the index."""
    real: Any = embedder
    broken = _OnnxEmbedder(BUNDLED, BrokenSession(number), real._tokenizer)
    with pytest.raises(ModelError, match=r"failed on a text of 5 characters .*not a finite vector.*words and links"):
        broken.embed_passage("words")


def test_unknown_model_is_not_loaded() -> None:
    """The message names the models there are."""
    with pytest.raises(ModelError, match="bundled"):
        load("gpt")
