"""What a note shows in an editor loads nothing and runs nothing."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from synapse_ls.features.harmless import harmless, open_fence


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain *words* and **more**", "plain *words* and **more**"),
        ("![a cat](https://x.org/cat.png)", "a cat"),
        ("![](https://x.org/t.gif)", ""),
        ("![a cat][ref]", "a cat"),
        ("![[scan.png]]", "[[scan.png]]"),
        ("!![[Note#Part]]", "[[Note#Part]]"),
        ("[label](command:rm)", "label"),
        ("[label](https://x.org/a_(b))", "label"),
        ("[label][ref]", "label"),
        ("[[Note|label]]", "[[Note|label]]"),
        ("[ref]: https://x.org", ""),
        ("[^1]: a footnote", "[^1]\\: a footnote"),
        ("<img src=x onerror=y>", "&lt;img src=x onerror=y>"),
        ("<command:x>", "&lt;command&#58;x>"),
        ("a < b and 1 <2", "a < b and 1 <2"),
        ("javascript:alert(1)", "javascript&#58;alert(1)"),
        ("[a [b](c)](command:d)", "[a b]\\(command&#58;d)"),
        ("[![alt](i.png)](command:x)", "alt"),
        ("`[x](command:y) <b>` and [x](y)", "`[x](command:y) <b>` and x"),
        ("``a ` [b](c)`` [d](e)", "``a ` [b](c)`` d"),
        ("```python\n[x](y) <b>\n```\n[x](y)", "```python\n[x](y) <b>\n```\nx"),
        ("~~~\n[x](y)\n~~~", "~~~\n[x](y)\n~~~"),
        ("``` c++ {.numbered} [x](y)\na\n```", "```c++\na\n```"),
        ("~~~c# | b\na\n~~~", "~~~c#\na\n~~~"),
        ("````\n```\n[x](y)\n```\n````\n[x](y)", "````\n```\n[x](y)\n```\n````\nx"),
        ("```\nunclosed [x](y)", "```\nunclosed [x](y)\n```"),
        ("- item\n  ```\n  [x](y)\n  ```", "- item\n```\n  [x](y)\n```"),
        ("> ```\n> List<int>\n> ```\n> [x](y)", "> \n```\nList<int>\n```\n> x"),
        ("a\r\n[x](y)\rb", "a\nx\nb"),
        ("", ""),
    ],
)
def test_shown(text: str, shown: str) -> None:
    """Images become their description, links their label, HTML text; code stays."""
    assert harmless(text) == ("" if shown == "" else shown)


@pytest.mark.parametrize(
    ("text", "opening"),
    [
        ("a\n```python x\ncode", "```python x"),
        ("- item\n  ~~~~c\n  ~~~", "~~~~c"),
        ("- ```c\n  code", "```c"),
        ("> a\n> ```c\n> code", "> ```c"),
        ("> ```c\ntext", None),
        ("```\ncode\n````", None),
        ("a `code` ~~x~~", None),
    ],
)
def test_fence_that_is_still_open(text: str, opening: str | None) -> None:
    """Its first line, so that what follows can be shown as the code that it is."""
    assert open_fence(text.split("\n")) == opening


@pytest.mark.parametrize(
    "text",
    [
        "    ```\n[x](command:y)",
        "> ```\n[x](command:y)",
        "- ```\n[x](command:y)",
        "```a`b\n[x](command:y)",
        "```\n> ```\n```\n[x](command:y)",
        " ```\ncode\n```\n[x](command:y)",
        "```\ncode\n```~~\n[x](command:y)",
        "```\ncode\n    ```\n[x](command:y)\n```\n[x](command:y)",
        "```\rcode\r```\r[x](command:y)",
        "\\`[x](command:y)\\`",
        "```[x](command:y)``",
        "foo `bar\nbaz` [x](command:y) `qux",
        "| ` | [x](command:y) ` |\n|---|---|\n| ` | [x](command:y) ` |",
        "![```](x)\n```\n[x](command:y)",
        "[~~~](x)\n~~~\n[x](command:y)",
        "[x]:\ncommand:y\n\n[x]",
        "> [x]: command:y\n\n[x]",
        "- [x]: command:y\n\n[x]",
        "<a href='`'>[x](command:y)`</a>",
        "[x](\ncommand:y)",
        "[x\ny](command:y)",
        "[x]<!-- -->(command:y)",
        "[`](`[x](command:y)`)`",
        "```a ![x](http://e/i) | b\n|-|-|",
        "~~~a [x](command:y) | b\n|-|-|\n| [x](command:y) | ![x](http://e/i) |",
        *(
            f"# Head\nx `\n{blank}\n`![a](http://e/i.png)` `[go](command:x)`"
            for blank in ("\u00a0", "\u0085", "\u2003", "\u3000", "\x0b", "\x0c", "\x1c", "\u2028", "\ufeff")
        ),
        "> ```\n\u00a0> [x](command:y)\n> ```\n[x](command:y)",
        "```\n[x](command:y)\n```\u00a0\n[x](command:y)",
        "-\u00a0```\n[x](command:y)",
        "\u0663. ```\n[x](command:y)",
    ],
)
def test_text_that_looks_like_code_is_text(text: str) -> None:
    """Every reading that an editor may have of it is a reading without links."""
    assert live(harmless(text)) == []


def live(shown: str) -> list[str]:
    """Return what a renderer of Markdown makes active: links, images, HTML."""
    found: list[str] = []
    for rules in ("commonmark", "gfm-like", "with tables"):
        parser = MarkdownIt("commonmark" if rules == "with tables" else rules, {"html": True, "linkify": False})
        if rules == "with tables":
            parser.enable("table")
        setattr(parser, "validateLink", lambda _: True)  # noqa: B010 - the worst of all renderers
        waiting = parser.parse(shown)
        while waiting:
            token = waiting.pop()
            waiting += token.children or []
            if token.type in ("link_open", "image", "html_inline", "html_block"):
                found.append(f"{token.type} {token.attrs} {token.content}")
    return found


PIECES = st.sampled_from(
    ["[x](command:y)", "![i](http://z)", "<img src=q>", "[r]: command:y", "[r]", "```", "````", "~~~", "`", "``", "\\",
     "\n", "\n\n", " ",
     "    ", "> ", "- ", "1. ", "|", "|---|", "](", "[", "]", "(", ")", "<", ">", "!", ":", "\r", "\t",
     "word", "[[w]]", "![[w]]", "<!--", "-->", "[a", "b](javascript:z)", "#",
     "\n\u00a0\n", "\n\x0c\n", "\n\x1c\n", "\u0085", "\u3000", "\x0b", "\u2028", " | ", "\n|-|-|\n", "\n-|-\n",
     "`[x](command:y)`", "```a ![i](z) | b", "~~~a | [x](y)", "---", "==="]
)  # fmt: skip


@settings(max_examples=600, deadline=None)
@given(st.lists(PIECES, max_size=25).map("".join))
def test_nothing_is_live_whatever_a_note_holds(text: str) -> None:
    """No link, no image, no HTML in any mixture of Markdown's signs."""
    assert live(harmless(text)) == []


@settings(max_examples=100, deadline=None)
@given(st.text(st.sampled_from("abż \n*_#."), max_size=80))
def test_words_stay_as_they_are(text: str) -> None:
    """Text without anything that refers is not touched."""
    assert harmless(text) == text


@pytest.mark.parametrize(
    "text", ["[" * 50_000, "![" * 30_000, "`" * 50_000, "[a](" * 20_000, "<" * 50_000, "> " * 9_000]
)
def test_long_lines_take_no_time_worth_telling(text: str) -> None:
    """Whatever they are made of."""
    assert re.sub(r"[\\]|&lt;", "", harmless(text))
