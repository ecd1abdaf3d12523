"""Notes from text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse_ls.core.model import LinkKind, Note
from synapse_ls.markdown.chunker import chunks
from synapse_ls.markdown.parser import parse
from synapse_ls.markdown.plain import plain


def note(text: str) -> Note:
    """Return the note that a text is."""
    return parse(text, "stem").note


def written(text: str) -> list[tuple[str, str, str, str | None, str | None]]:
    """Return the links of a note: source, kind, target, fragment, label."""
    return [(k.span.slice(text), k.kind.value, k.target, k.fragment, k.label) for k in note(text).links]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: T\n---\n# H", "T"),
        ("## two\n# **H** one ^id\n# second", "H one"),
        ("Setext\n===\n", "Setext"),
        ("nothing", "stem"),
        ("", "stem"),
    ],
)
def test_title(text: str, title: str) -> None:
    """Title."""
    assert note(text).title == title


def test_headings_have_anchors_and_sections() -> None:
    """Headings have anchors and sections."""
    text = "# X\na\n## X^\n```\n# no\n```\n# X.\r\n%%\n# hidden\n%%\n- ## in a list\n"
    headings = note(text).headings
    assert [(h.level, h.text, h.slug) for h in headings] == [
        (1, "X", "x"), (2, "X^", "x-1"), (1, "X.", "x-2"), (2, "in a list", "in-a-list"),
    ]  # fmt: skip
    assert headings[0].section.end == headings[2].span.start
    assert headings[2].span.slice(text) == "# X."


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("[[a#b|c]]", ("[[a#b|c]]", "wiki", "a", "b", "c")),
        ("😀中 [[a b]]", ("[[a b]]", "wiki", "a b", None, None)),
        ("![[a.png]]", ("![[a.png]]", "embed", "a.png", None, None)),
        ("[[#h]]", ("[[#h]]", "wiki", "", "h", None)),
        ("[[n#^b]]", ("[[n#^b]]", "wiki", "n", "^b", None)),
        ("|x|y|\n|-|-|\n|[[a\\|b]]|z|", ("[[a\\|b]]", "wiki", "a", None, "b")),
        ("[[two\nwords]]", ("[[two\nwords]]", "wiki", "two words", None, None)),
        ("[two\r\nwords](ab.md)", ("[two\r\nwords](ab.md)", "markdown", "ab.md", None, "two words")),
        ('[t](p%20q.md#f "title")', ('[t](p%20q.md#f "title")', "markdown", "p q.md", "f", "t")),
        ("[t](<p q.md>)", ("[t](<p q.md>)", "markdown", "p q.md", None, "t")),
        ("![alt](x.png)", ("![alt](x.png)", "embed", "x.png", None, "alt")),
        ('---\nup: "[[Note]]"\n---\n', ("[[Note]]", "wiki", "Note", None, None)),
    ],
)
def test_link(text: str, link: tuple[str, str, str, str | None, str | None]) -> None:
    """Link."""
    assert written(text) == [link]


@pytest.mark.parametrize(
    "text",
    [
        "[][][]", "[t](<https://x.org/q with spaces.md>)", "[t](//x.org/a)", "[t](mailto:a@b.c)", "[[https://x.org]]",
        "`[[a]]`", "```\n[[a]]\n```", "    [[a]]", "<!-- [[a]]\n[[b]] -->", "x <!-- [[a]] --> y", "x %%[[a]]%% y",
        "%%\n\n[[a]]\n\n%%", "\\[[a]]", "[x] [undefined]", "[]()", "[[]]", "[r]: https://x.org\n\n[r]",
    ],
)  # fmt: skip
def test_no_link(text: str) -> None:
    """No link."""
    assert written(text) == []


def test_reference_links_lead_where_their_definition_says() -> None:
    """Reference links lead where their definition says."""
    text = "[t][r] [r][] [R]\n\n[r]: p.md#f\n"
    assert [(s, t, f) for s, k, t, f, _ in written(text) if k == "reference"] == [
        ("[t][r]", "p.md", "f"), ("[r][]", "p.md", "f"), ("[R]", "p.md", "f"), ("[r]: p.md#f", "p.md", "f"),
    ]  # fmt: skip


def test_an_image_inside_a_link_is_a_link_of_its_own() -> None:
    """An image inside a link is a link of its own."""
    assert [(k, t) for _, k, t, _, _ in written("[![a](b.png)](c.md)")] == [("markdown", "c.md"), ("embed", "b.png")]


def test_outline_lists_are_text_at_any_depth() -> None:
    """Outline lists are text at any depth."""
    text = "".join("\t" * depth + f"- [[n{depth}]]\n" for depth in range(40))
    assert [link.target for link in note(text).links] == [f"n{depth}" for depth in range(40)]


def test_tags() -> None:
    """Tags."""
    text = "---\ntags: [f]\n---\n#A #nested/Tag (#日本) #🚀 #123 a#b https://x.org/#no `#c` # h\n#1a, #x."
    assert [tag.name for tag in note(text).tags] == ["f", "A", "nested/Tag", "日本", "🚀", "1a", "x"]


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("para\nmore ^id\n", "para\nmore ^id"),
        ("- a\n- b ^id\n  - c\n- d", "- b ^id\n  - c"),
        ("| a |\n|---|\n| b |\n\n^id\n", "| a |\n|---|\n| b |"),
        ("```\ncode\n```\n\n^id", "```\ncode\n```"),
    ],
)
def test_block_id(text: str, block: str) -> None:
    """Block id."""
    assert [(b.id, b.span.slice(text)) for b in note(text).blocks] == [("id", block)]


def test_a_note_with_bad_yaml_is_read_all_the_same() -> None:
    """A note with bad yaml is read all the same."""
    parsed = parse("---\na: [\n---\n# H\n[[x]]", "stem")
    assert parsed.note.title == "H"
    assert len(parsed.problems) == 1


FRAGMENTS = st.sampled_from(
    [
        "[[", "]]", "[", "]", "(", ")", "![", "|", "#", "# ", "^id", " ^b", "\n", "\r\n", "\r", "`", "```\n", "~~~",
        "%%",
        "<!--", "-->", "- ", "1. ", "> ", "\t", "    ", "---\n", "...\n", "a: b\n", "*", "_", "\\", "<", ">", "é",
        "日本語。",
        "👩‍👩‍👧", "\u0301", "\0", "\ud800", "\u2028", "\f", "\ufeff", "word ", "x.md", "http://", "|-|-|\n", "===\n",
        ": ", "&amp;",
        "<div>\n", "data:image/png;base64,AAAA", "sentence one. Two! ", "long" * 30,
    ]
)  # fmt: skip


@given(st.lists(st.one_of(FRAGMENTS, st.text(max_size=4)), max_size=60).map("".join))
def test_any_text_is_parsed_with_spans_inside_it(text: str) -> None:
    """Also plain text and chunks: nothing raises, and spans are in order and in the text."""
    read = note(text)
    spans = [item.span for group in (read.headings, read.links, read.blocks) for item in group]
    spans += [tag.span for tag in read.tags if tag.span]
    assert all(0 <= span.start <= span.end <= len(text) for span in [*spans, read.body])
    assert [h.span for h in read.headings] == sorted(h.span for h in read.headings)
    assert all(link.span.slice(text)[0] in "[!" for link in read.links)
    plain(text)
    assert chunks(text, read)


def test_a_huge_note_takes_bounded_time() -> None:
    """A huge note takes bounded time."""
    text = "".join(
        f"## Part {n}\n\nSome [[link {n}]] words, #tag and more prose to read here, every line.\n- item\n"
        for n in range(4500)
    )
    started = time.perf_counter()
    assert len(chunks(text, note(text))) == 4500
    assert time.perf_counter() - started < 10


def test_kinds_are_told_apart() -> None:
    """Kinds are told apart."""
    assert {link.kind for link in note("[[a]] ![[b]] [c](d)").links} == {
        LinkKind.WIKI,
        LinkKind.EMBED,
        LinkKind.MARKDOWN,
    }
