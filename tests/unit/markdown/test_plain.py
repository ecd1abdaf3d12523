"""Readable text of Markdown source."""

import time

import pytest

from synapse_ls.markdown.plain import inline, plain


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("# **Big** `code` ##", "Big code"),
        ("a <!-- b\nc --> d %%e%% f", "a d f"),
        ("[[note|label]] and [[other#part]]", "label and other part"),
        ('![[pic.png]] ![alt](x.png) [text](u.md "t") [a][b]', "pic.png alt text a"),
        ("[![alt](a.png)](b.md)", "alt"),
        ("see https://x.org/a_b_c and <https://y.org>", "see https://x.org/a_b_c and https://y.org"),
        ("> quote\n- [ ] task\n  1. item\n\n\n* * *\nend", "quote\ntask\nitem\nend"),
        ("```py\n# not a heading\n```\ntext", "# not a heading\ntext"),
        ("| a | [[b\\|c]] |\n|---|:-:|\n| d | e |", "a c\nd e"),
        ("Title\n=====\npara ^id-1", "Title\npara"),
        ("x ![](data:image/png;base64,iVBORw0KGgo=) y", "x y"),
        ("Ab1+" * 40, ""),
        ("<b>bold</b> &amp; \\*star\\*", "bold & *star*"),
        ("[ref]: path.md 'title'\ntext", "text"),
        ("`[[x]]` \\[\\[y]]", "[[x]] [[y]]"),
        ("2*3 snake_case a\r\nb", "2*3 snake_case a\nb"),
        ("", ""),
    ],
)
def test_markup_goes_and_words_stay(source: str, text: str) -> None:
    """Markup goes and words stay."""
    assert plain(source) == text


def test_a_label_is_one_line() -> None:
    """A label is one line."""
    assert inline("a **b**\n [[c|d]]") == "a b d"


@pytest.mark.parametrize(
    "piece", ["[", "![[", "<!--", "%%", " %%a", "*", "`", "|", "[](", "<a", "_", " ", "\t", "[a](b ", "\\"]
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    """Hostile text takes linear time."""
    started = time.perf_counter()
    plain(piece * (200_000 // len(piece)))
    assert time.perf_counter() - started < 5
