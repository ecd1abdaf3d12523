"""Links and tags inside a run of text.

One pass over the characters that can start something; code spans, comments, HTML tags and URLs are stepped over. The
work is linear in the length of the text, whatever it holds.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from markdown_it.common.utils import normalizeReference

from synapse_ls.core.model import Link, LinkKind, Tag
from synapse_ls.core.text import Span
from synapse_ls.markdown.blocks import Definition

_EOL = re.compile(r"\r\n|\n|\r")
_TRIGGER = re.compile(r"[\\`<%!\[\]#:]")
_START = re.compile(
    r"(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<ticks>`+)"
    r"|(?P<comment><!--)"
    r"|(?P<hidden>%%(?<!\S%%))"
    r"|(?P<html></?[A-Za-z][^<>\[\]\r\n]*+>)"
    r"|(?P<url>://[^\s<>\[\]()|\"'`]*+)"
    r"|(?P<wiki>!?\[\[(?P<target>[^\[\]|]*+)(?:\|(?P<label>[^\[\]]*+(?:\[[^\[\]]*+\][^\[\]]*+)?))?\]\])"
    r"|(?P<open>!?\[)"
    r"|(?P<close>\])"
    r"|\#(?<![^\s(\[{\"'“‘«*_~>,;|!?。、，；：！？（「『【]\#)(?P<tag>[^\s\#!-,.:-@\[-^`{-~\x00-\x1f"
    r"\x80-\xbf\u2000-\u200c\u200e-\u206f\u3000-\u3004\u3008-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]+)"
)
_SKIPPED = {"escape", "ticks", "comment", "hidden", "html", "url"}
_DESTINATION = re.compile(
    r"\(\s*+(?:<(?P<angled>(?:[^<>\r\n\\]|\\.)*+)>"
    r"|(?P<bare>(?:[^\s()\\<]|\\.)(?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*+\))*+))"
    r"(?:\s++(?:\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\)))?\s*+\)",
    re.DOTALL,
)
_REFERENCE = re.compile(r"\[([^\[\]\\]{0,999})\]")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//|\\\\")
# A note of another vault in Dendron is written like a URL.
_WIKI_URL = re.compile(r"(?!dendron://)[A-Za-z][A-Za-z0-9+.-]+://|//|mailto:")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_BREAK = re.compile(r"[ \t]*(?:\r\n|\n|\r)[ \t>]*")
_TICKS = re.compile("`+")
_MAX_LABEL = 999


def scan(text: str, span: Span, definitions: Mapping[str, Definition]) -> Iterator[Link | Tag]:
    """Yield the links and tags of ``text[span]``, ordered by where they end."""
    if text.find("[", span.start, span.end) < 0 and text.find("#", span.start, span.end) < 0:
        return
    yield from _Scanner(text, span, definitions).scan()


def wiki_links(text: str, span: Span) -> Iterator[Link]:
    """Yield the wiki links of text that is not Markdown, such as front matter."""
    for match in _START.finditer(text, span.start, span.end):
        if match.lastgroup == "wiki" and (link := _wiki(match)):
            yield link


def definition_link(definition: Definition) -> Link | None:
    """Return a reference definition as a link, or None if it leads to a URL."""
    return _link(LinkKind.REFERENCE, definition.href, definition.label, definition.span)


class _Scanner:
    """The state of one pass: open brackets, and what is known to have no end."""

    def __init__(self, text: str, span: Span, definitions: Mapping[str, Definition]) -> None:
        self._text = text
        self._span = span
        self._definitions = definitions
        self._open: list[tuple[int, int]] = []
        self._dead = 0
        self._runs: dict[int, list[int]] | None = None
        self._endless: set[str] = set()

    def scan(self) -> Iterator[Link | Tag]:
        offset, end = self._span.start, self._span.end
        while trigger := _TRIGGER.search(self._text, offset, end):
            offset = trigger.end()
            match = _START.match(self._text, trigger.start(), end)
            if not match:
                continue
            offset = match.end()
            if match.lastgroup in _SKIPPED:
                offset = self._behind(match)
            elif match.lastgroup == "wiki":
                if link := _wiki(match):
                    yield link
            elif match.lastgroup == "open":
                self._open.append(match.span())
            elif match.lastgroup == "close":
                link, offset = self._close(offset)
                if link:
                    yield link
            elif name := _tag(match["tag"]):
                yield Tag(name, Span(match.start(), match.start() + 1 + len(name)))

    def _behind(self, match: re.Match[str]) -> int:
        """Return the offset behind what ``match`` begins and nobody reads as text."""
        match match.lastgroup:
            case "ticks":
                return self._after_code(match)
            case "comment":
                return self._after("-->", match.end())
            case "hidden":
                return self._after("%%", match.end())
            case _:
                return match.end()

    def _after(self, closing: str, offset: int) -> int:
        """Return the offset behind the next ``closing``, or ``offset`` itself where there is none."""
        if closing in self._endless:
            return offset
        found = self._text.find(closing, offset, self._span.end)
        if found < 0:
            self._endless.add(closing)
            return offset
        return found + len(closing)

    def _after_code(self, opening: re.Match[str]) -> int:
        if self._runs is None:
            self._runs = {}
            for run in _TICKS.finditer(self._text, opening.start(), self._span.end):
                self._runs.setdefault(len(run.group()), []).append(run.start())
        length = len(opening.group())
        closers = self._runs.get(length, [])
        index = bisect_left(closers, opening.end())
        return closers[index] + length if index < len(closers) else opening.end()

    def _close(self, offset: int) -> tuple[Link | None, int]:
        """Return the link that the bracket before ``offset`` ends, if any, and where to go on."""
        if not self._open:
            return None, offset
        start, inner = self._open.pop()
        image = self._text[start] == "!"
        if len(self._open) < self._dead:
            self._dead = len(self._open)
            if not image:
                return None, offset
        href = None
        label = self._text[inner : offset - 1] if offset - inner <= _MAX_LABEL else ""
        kind = LinkKind.MARKDOWN
        stop = offset
        if destination := _DESTINATION.match(self._text, offset, self._span.end):
            href = destination["angled"] if destination["angled"] is not None else destination["bare"]
            if href.startswith("[["):
                return None, offset  # [label]([[page]]): the wiki link inside is the link
            href = _ESCAPE.sub(r"\1", href)
            stop = destination.end()
        elif label:
            kind = LinkKind.REFERENCE
            reference = _REFERENCE.match(self._text, offset, self._span.end)
            name = (reference[1] if reference else "").strip() or label
            definition = self._definitions.get(normalizeReference(_BREAK.sub(" ", name))) if self._definitions else None
            if definition:
                href = definition.href
                stop = reference.end() if reference else offset
        if href is None:
            return None, offset
        if not image:
            self._dead = len(self._open)  # a link holds no links, though it may stand in an image's text
        return _link(LinkKind.EMBED if image else kind, href, _one_line(label), Span(start, stop)), stop


def _wiki(match: re.Match[str]) -> Link | None:
    start, end = match.span()
    target, label = match["target"], match["label"]
    written = match.group()
    if len(_EOL.findall(written)) > 1:
        return None
    if label is not None:
        target = target.removesuffix("\\")  # a table cell needs \| for the bar
        label = _one_line(label)
    target, mark, fragment = _one_line(target).partition("#")
    if _WIKI_URL.match(target) or not (target or fragment):
        return None
    kind = LinkKind.EMBED if written.startswith("!") else LinkKind.WIKI
    return Link(kind, target.rstrip(), fragment.strip() if mark else None, label, Span(start, end))


def _link(kind: LinkKind, href: str, label: str, span: Span) -> Link | None:
    """Return the link to ``href``, or None if that is a URL or nothing."""
    target, mark, fragment = href.strip().partition("#")
    if _URL.match(target) or not (target or fragment):
        return None
    return Link(kind, unquote(target), unquote(fragment) if mark else None, label, span)


def _one_line(text: str) -> str:
    return _BREAK.sub(" ", text).strip()


def _tag(written: str) -> str | None:
    name = written.rstrip("/")
    return None if not name or name.isdigit() or name.startswith("/") else name
