"""URIs, positions and the parameters of a search."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from synapse_ls.core.model import SearchFilter, SearchRequest
from synapse_ls.core.text import LineIndex, Span
from synapse_ls.lsp import convert

AWKWARD = ["a b.md", "Żurek.md", "味噌汁.md", "🍋.md", "c#.md", "what?.md", "100%.md", "%41.md", "a&b=c;d,e@f:g.md",
           "[x](y).md", "it's \"so\".md", "a\\b.md", "~.md", "é.md", "e\u0301.md"]  # fmt: skip


@pytest.mark.parametrize("name", AWKWARD)
def test_any_name_survives_its_uri(name: str) -> None:
    """A note's URI leads back to the note and to nothing else."""
    uri = convert.uri_of(Path("/vault"), f"sub/{name}")
    assert uri.startswith("file:///vault/sub/")
    assert uri.isascii()
    assert not set(uri) & set(' #?"<>[]')
    assert convert.path_of(uri) == Path("/vault/sub") / name


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1).filter(lambda n: n not in ("..", "."))
)
def test_every_name_survives_its_uri(name: str) -> None:
    """Whatever a file system allows."""
    assert convert.path_of(convert.uri_of(Path("/vault"), name)) == Path("/vault") / name


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///home/me/a%20b.md", "/home/me/a b.md"),
        ("file:///home/me/a b.md", "/home/me/a b.md"),
        ("file:///home/me/%C5%BBurek.md", "/home/me/Żurek.md"),
        ("file:///home/me/%c5%bburek.md", "/home/me/Żurek.md"),
        ("file:///home/me/c%23.md", "/home/me/c#.md"),
        ("file://localhost/home/me/a.md", "/home/me/a.md"),
        ("FILE://LOCALHOST/home/me/a.md", "/home/me/a.md"),
        ("file://[x", None),
        ("file:///home/me/a%00.md", None),
        ("untitled:Untitled-1", None),
        ("git:/home/me/a.md?%7B%7D", None),
        ("term://~/1", None),
        ("https://example.org/a.md", None),
        ("vscode-notebook-cell:/home/me/a.md", None),
        ("", None),
        ("nonsense", None),
        ("file:", None),
    ],
)
def test_paths_of_uris(uri: str, path: str | None) -> None:
    """However a client writes it; documents that are no files have none."""
    assert convert.path_of(uri) == (None if path is None else Path(path))


@pytest.mark.parametrize("uri", ["file:///c%3A/Notes/a.md", "file:///C:/Notes/a.md", "file:///c:/Notes/a.md"])
def test_drive_letters(uri: str) -> None:
    """All spellings of one file are one path."""
    found = convert.path_of(uri)
    assert found is not None
    assert found.as_posix().lstrip("/").lower() == "c:/notes/a.md"
    assert found == convert.path_of("file:///c:/Notes/a.md")


@pytest.mark.parametrize(
    ("encoding", "column"), [("utf-8", 10), ("utf-16", 5), ("utf-32", 4)]
)  # the widths of an e with an accent, a lemon and a sign of three bytes, and one letter
def test_columns_in_every_encoding(encoding: convert.Encoding, column: int) -> None:
    """Positions and lengths agree with each other."""
    text = "é🍋味a[[x]]"
    assert convert.units("é🍋味a", encoding) == column
    made = convert.span_range(text, Span(4, 9), encoding)
    assert made == lsp.Range(lsp.Position(0, column), lsp.Position(0, column + 5))
    assert convert.offset(text, LineIndex(text), made.start, encoding) == 4


@given(
    st.text(st.sampled_from("aé味🍋\r\n\u2028\x0c"), max_size=30),
    st.sampled_from(("utf-8", "utf-16", "utf-32")),
    st.integers(0, 30),
)
def test_offset_and_position_are_inverse(text: str, encoding: convert.Encoding, at: int) -> None:
    """But between the two halves of a line end, which is no place."""
    lines = LineIndex(text)
    at = min(at, len(text))
    if text[at - 1 : at + 1] == "\r\n":
        at -= 1
    place = convert.span_range(text, Span(at, at), encoding).start
    assert convert.offset(text, lines, place, encoding) == at


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (None, "the parameters must be an object with a query"),
        ([], "the parameters must be an object with a query"),
        ({}, "query must be a text"),
        ({"query": 3}, "query must be a text"),
        ({"query": "x", "limit": 0}, "limit must be a whole number from 1 to 100"),
        ({"query": "x", "limit": 101}, "limit must be a whole number from 1 to 100"),
        ({"query": "x", "limit": True}, "limit must be a whole number from 1 to 100"),
        ({"query": "x", "limit": 2.5}, "limit must be a whole number from 1 to 100"),
        ({"query": "x", "limit": None}, "limit must be a whole number from 1 to 100"),
        ({"query": "x", "mode": "fuzzy"}, 'mode must be "hybrid", "lexical" or "semantic"'),
        ({"query": "x", "mode": ["hybrid"]}, 'mode must be "hybrid", "lexical" or "semantic"'),
        ({"query": "x", "near": 1}, "near must be the URI of a note"),
        ({"query": "x", "filter": "work"}, "filter must be an object"),
        ({"query": "x", "filter": {"folder": ["work"]}},
         "filter has no 'folder'; it has folders, excludeFolders, tags, properties, modifiedAfter"),
        ({"query": "x", "filter": {"folders": "work"}}, "filter.folders must be a list of texts"),
        ({"query": "x", "filter": {"excludeFolders": [1]}}, "filter.excludeFolders must be a list of texts"),
        ({"query": "x", "filter": {"tags": {"a": 1}}}, "filter.tags must be a list of texts"),
        ({"query": "x", "filter": {"tags": ""}}, "filter.tags must be a list of texts"),
        ({"query": "x", "filter": {"properties": ["a"]}}, "filter.properties must be an object"),
        ({"query": "x", "filter": {"properties": []}}, "filter.properties must be an object"),
        ({"query": "x", "filter": {"modifiedAfter": "yesterday"}},
         'filter.modifiedAfter must be a date such as "2026-01-31"'),
        ({"query": "x", "filter": {"modifiedAfter": 12}}, 'filter.modifiedAfter must be a date such as "2026-01-31"'),
    ],
)  # fmt: skip
def test_wrong_parameters_are_named(params: object, message: str) -> None:
    """One sentence that says what is expected."""
    with pytest.raises(JsonRpcInvalidParams) as raised:
        convert.search_request(params, 10, None)
    assert raised.value.message == message


def test_search_with_everything() -> None:
    """What is not said has its default."""
    assert convert.search_request({"query": ""}, 7, None) == SearchRequest("", limit=7)
    params = {
        "query": "x",
        "limit": 100,
        "mode": "lexical",
        "near": "file:///v/a.md",
        "explain": True,
        "unknown": 1,
        "filter": {
            "folders": ["a"],
            "excludeFolders": ["b"],
            "tags": ["#t"],
            "properties": {"status": "done", "n": 1},
            "modifiedAfter": "1970-01-02",
        },
    }
    wanted = SearchFilter(("a",), ("b",), ("#t",), (("status", "done"), ("n", "1")), 86400.0)
    assert convert.search_request(params, 7, "a.md") == SearchRequest("x", 100, "lexical", "a.md", wanted, explain=True)


@pytest.mark.parametrize(
    ("params", "named"),
    [
        (None, "uri"),
        ({}, "uri"),
        ({"uri": 3}, "uri"),
        ({"uri": "file:///a.md", "position": 3}, "position"),
        ({"uri": "file:///a.md", "position": {}}, "position"),
        ({"uri": "file:///a.md", "position": {"line": True}}, "position"),
        ({"uri": "file:///a.md", "position": {"line": -1}}, "position"),
        ({"uri": "file:///a.md", "limit": 101}, "limit"),
    ],
)
def test_wrong_parameters_of_related_are_named(params: object, named: str) -> None:
    """The message says which one it is."""
    with pytest.raises(JsonRpcInvalidParams, match=named):
        convert.related_params(params, 10)


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"uri": "file:///a.md"}, ("file:///a.md", None, 7)),
        ({"uri": "x", "position": None}, ("x", None, 7)),
        ({"uri": "x", "position": {"line": 3, "character": 9}, "limit": 100}, ("x", 3, 100)),
    ],
)
def test_parameters_of_related(params: object, expected: tuple[str, int | None, int]) -> None:
    """Without a position the note is meant, and the limit is that of the settings."""
    assert convert.related_params(params, 7) == expected
