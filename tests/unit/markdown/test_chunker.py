"""How notes are cut into chunks."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse_ls.markdown.chunker import MAX_TOKENS, chunks, embedder_input, estimate
from synapse_ls.markdown.parser import parse

SEEDS = 300


def cut(text: str) -> tuple[str, ...]:
    """Return the texts of the chunks of a note."""
    return tuple(chunk.text for chunk in chunks(text, parse(text, "note").note))


def paragraph(source: random.Random, low: int, high: int) -> str:
    """Return a paragraph of random words."""
    words = ("".join(source.choices("abcdefghij", k=source.randint(1, 9))) for _ in range(source.randint(low, high)))
    return " ".join(words) + ".\n\n"


def long_note(source: random.Random, headings: bool) -> list[str]:
    """Return the blocks of a note of many chunks."""
    low, high = source.choice([(2, 20), (5, 80), (15, 45)])
    blocks = [paragraph(source, low, high) for _ in range(100)]
    if headings:
        return [f"## {paragraph(source, 1, 5)}" + block if source.random() < 0.3 else block for block in blocks]
    return blocks


@pytest.mark.parametrize("headings", [True, False], ids=["headings", "one section"])
def test_inserting_a_paragraph_changes_few_chunks(headings: bool) -> None:
    """A short or long paragraph renews at most two chunks at the top or the end and three in the middle.

    One insertion in a hundred may renew one more, where two cuts fall into what was one passage.
    """
    limits = {"top": 2, "middle": 3, "end": 2}
    over = dict.fromkeys(limits, 0)
    for seed in range(SEEDS):
        source = random.Random(seed)  # noqa: S311 - data, not secrets
        blocks = long_note(source, headings)
        before = set(cut("".join(blocks)))
        new = paragraph(source, *source.choice([(1, 15), (60, 100)]))
        for place, at in (("top", 0), ("middle", source.randint(1, len(blocks) - 1)), ("end", len(blocks))):
            changed = len(set(cut("".join([*blocks[:at], new, *blocks[at:]]))) - before)
            assert changed <= limits[place] + 1
            over[place] += changed > limits[place]
    assert max(over.values()) <= SEEDS / 100


def test_a_short_note_is_one_chunk() -> None:
    """A short note is one chunk."""
    text = "---\na: b\n---\n# H\n\ntext\n\n## I\n\nmore\n"
    assert cut(text) == ("# H\n\ntext\n\n## I\n\nmore",)


@pytest.mark.parametrize("text", ["", "---\na: b\n---\n", " \n\n"])
def test_an_empty_note_is_one_empty_chunk(text: str) -> None:
    """An empty note is one empty chunk."""
    assert cut(text) == ("",)


def test_every_heading_starts_a_chunk_with_its_path() -> None:
    """Every heading starts a chunk with its path."""
    body = "word " * 100
    found = chunks(text := f"intro {body}\n# A\n{body}\n## B\n{body}\n# C\n", parse(text, "n").note)
    assert [chunk.heading_path for chunk in found] == [(), ("A",), ("A", "B"), ("C",)]


def test_a_short_fence_is_never_cut() -> None:
    """A short fence is never cut."""
    fence = "```\n" + "line of code\n\n" * 30 + "```"
    text = ("Some prose.\n\n" * 60 + fence + "\n\n") * 3
    assert sum(fence in chunk for chunk in cut(text)) == 3


def test_one_endless_line_is_cut_within_no_grapheme() -> None:
    """One endless line is cut within no grapheme."""
    family = "👩\u200d👩\u200d👧\ufe0f"
    found = cut(family * 9000)
    assert "".join(found) == family * 9000
    assert all(chunk.startswith("👩") and chunk.endswith("\ufe0f") for chunk in found)


def test_an_inlined_file_stays_whole() -> None:
    """An inlined file stays whole."""
    assert len(cut(f"![x](data:image/png;base64,{'Ab3+' * 20_000})")) == 1


def test_tiny_sections_under_long_headings_keep_their_own_heading() -> None:
    """A path of headings is not repeated more often than the note is long."""
    long = "".join(f"{'#' * level} {'long heading ' * 12}\n" for level in range(1, 6))
    few, many = (long + "###### x\n" * number for number in (30, 5000))
    assert len(chunks(few, parse(few, "n").note)[-1].heading_path) == 6
    assert chunks(many, parse(many, "n").note)[-1].heading_path == ("x",)


FRAGMENTS = st.sampled_from(
    [
        "# a\n", "## b\n", "\n", "\n\n", "\r\n", "- ", "```\n",
        "word. " * 40, "中文。" * 50, "字" * 300, "x" * 900, "e\u0301" * 300, " | ", "\f",
    ]
)  # fmt: skip


@given(st.lists(st.one_of(FRAGMENTS, st.text(max_size=6)), max_size=40).map("".join))
def test_chunks_hold_the_whole_body_once(text: str) -> None:
    """Chunks hold the whole body once."""
    note = parse(text, "note").note
    found = chunks(text, note)
    assert "".join("".join(chunk.text.split()) for chunk in found) == "".join(note.body.slice(text).split())
    assert all(a.span.end <= b.span.start for a, b in pairwise(found))
    assert all(chunk.text == chunk.span.slice(text) for chunk in found)
    assert all(chunk.text.strip() for chunk in found) or len(found) == 1
    assert found == chunks(text, note)


def test_no_chunk_is_too_long() -> None:
    """No chunk is too long."""
    text = "\n".join(["word, " * 3000, "漢字" * 3000, "x" * 20_000, "a b. " * 2000])
    assert max(estimate(chunk) for chunk in cut(text)) <= MAX_TOKENS


@pytest.mark.parametrize(
    ("title", "path", "line"),
    [
        ("T", (), "T"),
        ("T", ("T",), "T"),
        ("T", ("T", "B"), "T > B"),
        ("T", ("A", "much " * 15, "C " * 15), "T > " + ("C " * 15).strip()),
    ],
)
def test_the_embedder_reads_title_and_headings_first(title: str, path: tuple[str, ...], line: str) -> None:
    """The embedder reads title and headings first."""
    assert embedder_input(title, tuple(p.strip() for p in path), "text") == f"{line}\ntext"


def test_a_long_title_is_cut_between_words() -> None:
    """A long title is cut between words."""
    line = embedder_input("title " * 60, ("heading " * 60,), "text").split("\n")[0]
    assert estimate(line) <= 32
    assert set(line.split()) == {"title", ">", "heading"}
