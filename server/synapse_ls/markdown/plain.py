"""What a person reads of Markdown source.

Regular expressions over a slice of a note, in linear time: the slice may be any passage, so nothing is known of the
blocks around it.
"""

import re
from collections.abc import Iterator
from html import unescape

_DATA = re.compile(r"data:[\w/+.-]{1,80}(?:;[\w=-]{1,40}){0,4}?;base64,[\w+/=-]*+", re.IGNORECASE)
_RUN = re.compile(r"[A-Za-z0-9+/]{80,}+={0,2}")
_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*+(`{3,}|~{3,})(.*)")
_RULE = re.compile(r"^[ \t>]*+(?=[-=*_|:])[-=*_|: \t]*+$", re.MULTILINE)
_MARKERS = re.compile(
    r"^(?:[ \t>]|[-*+](?=\s)|\d{1,9}[.)](?=\s))*+(?:\[[ xX/-]\](?=\s))?+[ \t]*+(?:\[!\w++\][+-]?)?+(?:#{1,6}(?=\s))?+",
    re.MULTILINE,
)
_CLOSING_MARKS = re.compile(r"(?<=[ \t])#++[ \t]*+$", re.MULTILINE)
_DEFINITION = re.compile(r"^[ \t>]*\[(?!\^)[^\[\]\n]{1,999}\]:[ \t]*\S.*$", re.MULTILINE)
_BLOCK_ID = re.compile(r"(?:^|(?<=[ \t]))\^[A-Za-z0-9-]++[ \t]*+$", re.MULTILINE)
_INLINE = (
    r"(?P<escape>\\(?P<escaped>[!-/:-@\[-`{-~]))"
    r"|(?P<ticks>`++(?:(?P<code>[^`\n]*+)`++)?+)"
    r"|(?P<hidden>%%(?<!\S%%)[^%]*+(?:%[^%]++)*+%%)"
    r"|<(?P<auto>[A-Za-z][A-Za-z0-9+.-]{1,20}:[^<>\s]*+)>"
    r"|(?P<html></?[A-Za-z][^<>]*+>)"
    r"|(?P<wiki>!?\[\[(?P<target>[^\[\]|\n]*+)(?:\|(?P<alias>[^\[\]]*+))?\]\])"
    r"|(?P<link>!?\[(?P<label>[^\[\]]*+)\]"
    r"(?:\((?:\s*+(?:<[^<>\n]*+>|[^\s()<]*+(?:\([^\s()]*+\)[^\s()]*+)*+)"
    r"(?:\s++(?:\"[^\"\n]*+\"|'[^'\n]*+'))?\s*+)\)|\[[^\[\]\n]*+\]))"
    r"|(?P<note>\[\^[^\[\]\s]++\]:?)"
    r"|(?P<mark>(?<!\w)\*+(?=\S)|(?<=\S)\*+(?!\w)|~~|==|(?<!\w)_+(?=\S)|(?<=\S)_+(?!\w))"
)
_WITHOUT_COMMENTS = re.compile(_INLINE)
_WITH_COMMENTS = re.compile(rf"(?P<comment><!--(?s:.*?)-->)|{_INLINE}")
_SPECIAL = re.compile(r"[\\`%<\[*_~=&]")
_BLANKS = re.compile(r"[ \t\f\v\xa0]+")
_LINES = re.compile(r"\r\n?")


def plain(text: str) -> str:
    """Return the readable text of a slice of Markdown, line by line, without blank lines."""
    if "\r" in text:
        text = _LINES.sub("\n", text)
    if len(text) > 80:  # noqa: PLR2004 - shorter than any run
        text = _RUN.sub(_without_noise, _DATA.sub("", text))
    parts = [part if is_code else _prose(part) for part, is_code in _parts(text)]
    lines = (_BLANKS.sub(" ", line).strip() for part in parts for line in part.split("\n"))
    return "\n".join(line for line in lines if line)


def inline(text: str) -> str:
    """Return the readable text of one heading or label: inline markup removed, white space collapsed."""
    if _SPECIAL.search(text):
        text = unescape(_strip(text))
    return " ".join(text.split())


def _without_noise(run: re.Match[str]) -> str:
    """Return nothing for what looks like encoded bytes, and any other long run as it is."""
    written = run.group()
    mixed = (
        any(c.isdigit() for c in written) and any(c.isupper() for c in written) and any(c.islower() for c in written)
    )
    return "" if mixed else written


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the text in order, cut into prose and fenced code, without the fences' own lines."""
    if "```" not in text and "~~~" not in text:
        yield text, False
        return
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        match = _FENCE.match(line)
        if match and not fence and not (match[1][0] == "`" and "`" in match[2]):
            yield "\n".join(lines), False
            lines, fence = [], match[1]
        elif match and fence and match[1].startswith(fence) and not match[2].strip():
            yield "\n".join(lines), True
            lines, fence = [], ""
        else:
            lines.append(line)
    yield "\n".join(lines), bool(fence)


def _prose(text: str) -> str:
    text = _RULE.sub("", text)
    if "]:" in text:
        text = _DEFINITION.sub("", text)
    if "^" in text:
        text = _BLOCK_ID.sub("", text)
    if "#" in text:
        text = _CLOSING_MARKS.sub("", text)
    text = _MARKERS.sub("", text)
    text = _strip(text)
    if "|" in text:
        text = "\n".join(_row(line) for line in text.split("\n"))
    return unescape(text) if "&" in text else text


def _row(line: str) -> str:
    stripped = line.strip()
    return stripped.replace("|", " ") if stripped.startswith("|") or stripped.endswith("|") else line


def _strip(text: str) -> str:
    """Remove inline markup; comments are looked for only as far as one ends, which keeps the work linear."""
    end = text.rfind("-->") + 3 if "<!--" in text and "-->" in text else 0
    head = _WITH_COMMENTS.sub(_readable, text[:end]) if end else ""
    text = head + _WITHOUT_COMMENTS.sub(_readable, text[end:])
    # An image inside a link's label leaves a link with a plain label.
    return _WITHOUT_COMMENTS.sub(_readable, text) if "](" in text else text


def _readable(match: re.Match[str]) -> str:
    match match.lastgroup:
        case "escape":
            return match["escaped"]
        case "ticks":
            return match["code"] or ""
        case "auto":
            return match["auto"]
        case "wiki":
            return inline(match["alias"] or "") or match["target"].strip().removesuffix("\\").replace("#", " ").strip()
        case "link":
            return _strip(match["label"])
        case _:
            return ""
