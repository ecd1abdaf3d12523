"""Text sync: what the client sees is what the server has."""

import gc
import threading
import time
import weakref
from queue import SimpleQueue
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types as lsp

from synapse_ls.lsp.documents import Document, Documents

Encoding = Literal["utf-8", "utf-16", "utf-32"]
Edit = tuple[tuple[int, int], tuple[int, int], str]
URI = "file:///v/a.md"
ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")


def opened(text: str) -> Documents:
    """Return documents with one that is open."""
    documents = Documents()
    documents.open(lsp.TextDocumentItem(URI, "markdown", 1, text))
    return documents


def partial(start: tuple[int, int], end: tuple[int, int], text: str) -> lsp.TextDocumentContentChangePartial:
    """Return an edit of a range."""
    return lsp.TextDocumentContentChangePartial(lsp.Range(lsp.Position(*start), lsp.Position(*end)), text)


def edited(text: str, encoding: Encoding, *edits: Edit) -> str:
    """Return a text after edits in one notification."""
    document = opened(text).change(URI, 2, [partial(*edit) for edit in edits], encoding)
    assert document is not None
    return document.text


@pytest.mark.parametrize(
    ("text", "encoding", "edits", "after"),
    [
        ("one\ntwo", "utf-16", [((1, 0), (1, 3), "2")], "one\n2"),
        ("a🍋b", "utf-16", [((0, 3), (0, 3), "|")], "a🍋|b"),
        ("a🍋b", "utf-8", [((0, 5), (0, 5), "|")], "a🍋|b"),
        ("a🍋b", "utf-32", [((0, 2), (0, 2), "|")], "a🍋|b"),
        ("a🍋b", "utf-16", [((0, 2), (0, 2), "|")], "a|🍋b"),
        ("é", "utf-8", [((0, 1), (0, 1), "|")], "|é"),
        ("a\u2028b\x0bc\x0cd\x85e\nf", "utf-16", [((1, 0), (1, 1), "F")], "a\u2028b\x0bc\x0cd\x85e\nF"),
        ("a\rb\r\nc\nd", "utf-16", [((1, 0), (1, 1), "B"), ((2, 0), (2, 1), "C"), ((3, 0), (3, 1), "D")],
         "a\rB\r\nC\nD"),
        ("abc", "utf-16", [((0, 99), (7, 3), "d")], "abcd"),
        ("a\r\nb", "utf-16", [((0, 50), (0, 60), "x")], "ax\r\nb"),
        ("abc", "utf-16", [((0, 2), (0, 1), "-")], "a-c"),
        ("", "utf-16", [((0, 0), (0, 0), "x\n"), ((1, 0), (1, 0), "y")], "x\ny"),
        ("one", "utf-16", [((0, 0), (0, 3), ""), ((0, 0), (0, 0), "two")], "two"),
    ],
)  # fmt: skip
def test_edits(text: str, encoding: Encoding, edits: list[Edit], after: str) -> None:
    """Each edit is of the text that the one before left; places out of the text are brought into it."""
    assert edited(text, encoding, *edits) == after


def test_whole_text_may_be_replaced_among_other_edits() -> None:
    """A change without a range is all of the text."""
    whole = lsp.TextDocumentContentChangeWholeDocument("new\ntext")
    document = opened("old").change(
        URI, 7, [partial((0, 0), (0, 0), "x"), whole, partial((1, 0), (1, 4), "!")], "utf-16"
    )
    assert document == Document(URI, 7, "new\n!")


def test_documents_come_and_go() -> None:
    """Those that are open are listed in the order of their opening."""
    documents = opened("x")
    documents.open(lsp.TextDocumentItem("untitled:1", "markdown", 1, "y"))
    assert documents.uris() == [URI, "untitled:1"]
    documents.close(URI)
    documents.close(URI)
    assert documents.get(URI) is None
    assert documents.change(URI, 2, [partial((0, 0), (0, 0), "x")], "utf-16") is None
    assert documents.get("untitled:1") == Document("untitled:1", 1, "y")


def reference(text: str, encoding: Encoding, edits: list[Edit]) -> str:
    """Apply edits the slow way: character by character, counting bytes."""
    for start, end, new in edits:
        first, last = sorted((place(text, encoding, *start), place(text, encoding, *end)))
        text = text[:first] + new + text[last:]
    return text


def place(text: str, encoding: Encoding, line: int, column: int) -> int:
    """Return an offset by walking over all characters before it."""
    at = 0
    while line:
        if at == len(text):
            return at
        if text[at] == "\n" or (text[at] == "\r" and text[at + 1 : at + 2] != "\n"):
            line -= 1
        at += 1
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    while at < len(text) and text[at] not in "\r\n":
        column -= len(text[at].encode(encoding + ("" if width == 1 else "-le"), "surrogatepass")) // width
        if column < 0:
            return at
        at += 1
    return at


TEXTS = st.text(st.sampled_from("ab é味🍋\u0301\u2028\u2029\x0b\x0c\x1c\x85\r\n\ud800"), max_size=25)
PLACES = st.tuples(st.integers(0, 6), st.integers(0, 12))


@settings(max_examples=400, deadline=None)
@given(TEXTS, st.sampled_from(ENCODINGS), st.lists(st.tuples(PLACES, PLACES, TEXTS), max_size=4))
def test_edits_as_the_slow_way_does_them(text: str, encoding: Encoding, edits: list[Edit]) -> None:
    """Any text, any places, in all three encodings."""
    assert edited(text, encoding, *edits) == reference(text, encoding, edits)


@settings(max_examples=200, deadline=None)
@given(
    TEXTS,
    st.sampled_from(ENCODINGS),
    st.lists(
        st.tuples(st.lists(st.tuples(PLACES, PLACES, TEXTS), max_size=3), st.none() | TEXTS, st.booleans()), max_size=8
    ),
)
def test_a_text_is_the_same_whenever_it_is_read(
    text: str, encoding: Encoding, notifications: list[tuple[list[Edit], str | None, bool]]
) -> None:
    """Read between the edits or not, and each version once more in the end, the oldest last."""
    documents = opened(text)
    versions: list[tuple[Document, str]] = []
    for version, (edits, whole, read) in enumerate(notifications, 2):
        changes: list[lsp.TextDocumentContentChangeEvent] = [partial(*edit) for edit in edits]
        if whole is not None:
            changes.insert(len(changes) // 2, lsp.TextDocumentContentChangeWholeDocument(whole))
            text = reference(whole, encoding, edits[len(edits) // 2 :])
        else:
            text = reference(text, encoding, edits)
        document = documents.change(URI, version, changes, encoding)
        assert document is not None
        assert document.version == version
        if read:
            assert document.text == text
        versions.append((document, text))
    assert [document.text for document, _ in reversed(versions)] == [text for _, text in reversed(versions)]


def test_two_threads_read_the_same_text() -> None:
    """Whichever of the versions each of them reads, while more come."""
    documents = opened("")
    made: SimpleQueue[Document | None] = SimpleQueue()
    wrong: list[tuple[int, str]] = []

    def read() -> None:
        while (document := made.get()) is not None:
            expected = "".join(f"{version}\n" for version in range(2, document.version + 1))
            if document.text != expected:
                wrong.append((document.version, document.text))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for version in range(2, 600):
        document = documents.change(URI, version, [partial((9999, 0), (9999, 0), f"{version}\n")], "utf-16")
        if version % 3 == 0:
            made.put(document)
            made.put(document)
    for _ in readers:
        made.put(None)
    for reader in readers:
        reader.join(30)
    assert wrong == []


def test_taking_over_edits_of_a_long_text_does_not_look_at_it() -> None:
    """A hundred take less time than reading the result once."""
    documents = opened("0123456789 ab cd ef\n" * 250_000)
    begun = time.perf_counter()
    for version in range(2, 102):
        documents.change(URI, version, [partial((version * 1000, 3), (version * 1000, 4), "x\n")], "utf-16")
    noted = time.perf_counter()
    document = documents.get(URI)
    assert document is not None
    assert document.text.count("x\n") == 100
    assert noted - begun < time.perf_counter() - noted


def test_edits_that_nobody_reads_do_not_pile_up() -> None:
    """A thread reads the text after some hundreds, and what came before is let go."""
    documents = opened("")
    first = weakref.ref(documents.get(URI))
    for version in range(2, 2000):
        documents.change(URI, version, [partial((0, 0), (0, 0), "x")], "utf-16")
    for thread in threading.enumerate():
        if thread.name == "synapse-edits":
            thread.join(30)
    gc.collect()
    assert first() is None
