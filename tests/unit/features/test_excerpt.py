"""A few lines of a note that still read as what they are."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synapse_ls.core.text import LineIndex
from synapse_ls.features.excerpt import excerpt, lines_of, opening
from synapse_ls.markdown.chunker import chunks
from synapse_ls.markdown.parser import parse
from synapse_ls.store.chunks import ChunkRow


def rows_of(text: str) -> list[ChunkRow]:
    """Return the chunks of a note as the index holds them."""
    lines = LineIndex(text)
    return [
        ChunkRow(c.ordinal, 1, c.ordinal, c.span, lines.range(c.span), c.heading_path, c.text, None)
        for c in chunks(text, parse(text, "note").note)
    ]


@pytest.mark.parametrize(
    ("text", "most", "shown"),
    [
        ("one\ntwo", 2, "one\ntwo"),
        ("one\ntwo\nthree", 2, "one\n…"),
        ("one\n\ntwo\nthree", 3, "one\n…"),
        ("```py\na\nb\nc\n```", 4, "```py\na\n…\n```"),
        ("text\n```py\na\nb\nc\n```", 3, "text\n…"),
        ("- item\n  ```py\n  a\n  ```\nend\nmore", 5, "- item\n```py\n  a\n```\n…"),
        ("- ```py\n  a\n  b\n  ```", 4, "…"),
        ("> ```\n> a\n> b\n> ```\n> c\n> d", 6, "> \n```\na\nb\n```\n…"),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", 3, "| a | b |\n|---|---|\n…"),
        ("text\n\n| a | b |\n|---|---|\n| 1 | 2 |", 4, "text\n…"),
        ("> [!note] Title\n> one\n> two\n> three", 3, "> [!note] Title\n> one\n…"),
        ("- a\n  - b\n    - c\n- d", 3, "- a\n  - b\n…"),
        ("  - b\n    - c\n- d", 3, "- b\n  - c\n- d"),
        ("    1. b\n       more\n\n    2. c", 4, "1. b\n   more\n\n2. c"),
        ("see [a\nlabel](x.md) here\nend\nmore", 2, "see a label here\n…"),
        ("see `code\nhere` and\nend\nmore", 2, "see `code here` and\n…"),
        ("see ![a\ncat](x.png)\nend", 2, "see a cat\nend"),
        ("see [[Note|its label]], ![[Other]]\nend\nmore", 2, "see [[Note|its label]], [[Other]]\n…"),
        ("see [this][r] and [r]\n\n[r]: x.md", 3, "see this and [r]\n"),
        ("%% hidden %%\n<!-- so -->\n<b>x</b>", 3, "%% hidden %%\n&lt;!-- so -->\n&lt;b>x&lt;/b>"),
        ("", 3, ""),
    ],
)
def test_markdown(text: str, most: int, shown: str) -> None:
    """Cut between lines, where nothing is broken by it."""
    assert excerpt(text.split("\n"), most, markdown=True) == shown


@pytest.mark.parametrize(
    ("text", "most", "shown"),
    [
        ("# One\n\n*two*\n\nthree", 3, "One\ntwo\nthree"),
        ("# One\n\n*two*\n\nthree", 2, "One\n…"),
        ("```\ncode\n```", 1, "code"),
        ("a\n" * 100, 2, "a\n…"),
    ],
)
def test_plain(text: str, most: int, shown: str) -> None:
    """The lines that a person reads count."""
    assert excerpt(text.split("\n"), most, markdown=False) == shown


@pytest.mark.parametrize(
    ("before", "lines", "above"),
    [
        ("text\n\n```python\na", "b\n```", ["```python"]),
        ("```\na\n```", "b", []),
        ("> ```js\n> a", "> b", ["> ```js"]),
        ("x\n\n| a |\n|---|\n| 1 |", "| 2 |", ["| a |", "|---|"]),
        ("| a |", "|---|\n| 1 |", ["| a |"]),
        ("| a |\n|---|\n| 1 |\n", "| b |\n|---|", []),
        ("> [!tip]- Title\n> one", "> two", ["> [!tip]- Title"]),
        ("> a quotation", "> two", []),
        ("> [!tip] Title\n> one\n", "> two", []),
        ("- a\n- b", "- c", []),
        ("", "a", []),
    ],
)
def test_what_lines_need_above_them(before: str, lines: str, above: list[str]) -> None:
    """What began before them and is not over: a fence, a table, a callout."""
    assert opening(before.split("\n"), lines.split("\n")) == above


PIECES = st.sampled_from(
    ["word ", "`", "``", "[[x]]", "![[y]]", "[a", "](b)", "![i](j)", "|", " | ", "\n", "\n", "\n\n", "```", "\n```py\n",
     "\n~~~\n", "\n````\n", "\n- ", "\n  - ", "\n> ", "\n> ```\n> ", "\n| a | b |\n|---|---|\n", "\n# H\n", "\n    ",
     "%%", "<!--", "-->", "<b>", "\n[r]: z\n", "\n> [!note]\n", "\t", "\r\n", "…"]
)  # fmt: skip


def open_at_the_end(shown: str) -> bool:
    """Return whether a fence is open at the end of a text, as CommonMark has it."""
    fence = ""
    for line in shown.split("\n"):
        match = re.match(r" {0,3}(`{3,}|~{3,})(.*)$", line)
        if match and fence:
            fence = "" if match[1].startswith(fence) and not match[2].strip() else fence
        elif match and not (match[1][0] == "`" and "`" in match[2]):
            fence = match[1]
    return bool(fence)


@settings(max_examples=500, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join), st.integers(1, 12))
def test_any_excerpt_closes_its_fences_within_its_lines(text: str, most: int) -> None:
    """Whatever a note holds and however few lines there are."""
    shown = excerpt(re.split(r"\r\n|\n|\r", text), most, markdown=True)
    assert len(shown.split("\n")) <= most
    assert not open_at_the_end(shown)
    assert len(excerpt(re.split(r"\r\n|\n|\r", text), most, markdown=False).split("\n")) <= most


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join), st.integers(1, 8))
def test_what_is_shown_whole_is_not_cut(text: str, more: int) -> None:
    """The mark of a cut is there if and only if something is missing."""
    lines = re.split(r"\r\n|\n|\r", text.replace("…", ""))
    whole = excerpt(lines, 1000, markdown=True)
    assert "…" not in whole
    assert excerpt(lines, len(whole.split("\n")) + more, markdown=True) == whole


WORDS = "Of all that the pump does, this is what is told most often. " * 3
ITEMS = "\n".join(f"- item {i} {WORDS}" for i in range(9))
CODE = "\n".join(f"call({i})  # {WORDS}" for i in range(9))
TABLE = "\n".join(f"| {i} | {WORDS} |" for i in range(9))
LONG = f"# Long\n\n{ITEMS}\n\n```py\n{CODE}\n```\n\n| a | b |\n|---|---|\n{TABLE}\n\n{WORDS * 9}"


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_lines_of_chunks_are_those_of_the_note(ending: str) -> None:
    """With the blank lines between them, and with the pieces of a long line put together."""
    rows = rows_of(LONG.replace("\n", ending))
    assert len(rows) > 9
    assert [line.strip() for line in lines_of(rows)] == [line.strip() for line in LONG.split("\n")]


def test_every_passage_of_a_long_note_reads_as_what_it_is() -> None:
    """Code of a long fence as code, rows of a long table as a table."""
    rows = rows_of(LONG)
    for number, row in enumerate(rows):
        lines = lines_of([row])
        above = lines_of(rows[:number])
        if number and row.range.start.line > rows[number - 1].range.end.line:
            above += [""] * (row.range.start.line - rows[number - 1].range.end.line - 1)
            shown = excerpt([*opening(above, lines), *lines], 20, markdown=True)
            if lines[0].startswith("call("):
                assert shown.startswith("```py\ncall(")
            if lines[0].startswith("| 3"):
                assert shown.startswith("| a | b |\n|---|---|\n| 3")


@pytest.mark.parametrize(
    "line", ["`" * 5000, "`a" * 5000, "![" * 5000, "[a](" * 3000, "".join("`" * i + " " for i in range(150))]
)
def test_long_lines_take_no_time_worth_telling(line: str) -> None:
    """Whatever they are made of."""
    assert excerpt([line, line, "end"], 2, markdown=True).endswith("…")
