"""Markdown of a note made safe to show in an editor.

An editor may load what shown text refers to, or run it when it is clicked: images from the network, ``command:``
links, raw HTML. What remains is text: images become their description, links their label, an embedded note a link
between brackets like any other. Code is left as it is where every reading of Markdown agrees that it is code; in doubt
it is text.
"""

import re
from collections.abc import Iterable

# Blank, as Markdown has it: spaces and tabs. Other white space is text, and a line of it ends no paragraph.
_BLANK = " \t"
# What opens a fence, in whatever list or quotation. It is shown at the start of a line, where no list and no quotation
# can end it before its closing mark: what is code is then beyond doubt.
_FENCE = re.compile(
    r"^(?P<within>(?:[ \t>]|[-*+](?=[ \t])|[0-9]{1,9}[.)](?=[ \t]))*+)"
    r"(?:(?P<mark>`{3,}+)(?P<info>[^`]*)|(?P<tildes>~{3,}+)(?P<other_info>.*))$"
)
_LANGUAGE = re.compile(r"[ \t]*([A-Za-z0-9+#-]*)")
_CODE = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)")
_IMAGE = re.compile(
    r"!\[([^\]\n]{0,500})\](?:\([^()\n]{0,2000}(?:\([^()\n]{0,500}\)[^()\n]{0,500})?\)|\[[^\]\n]{0,500}\])?"
)
_LINK = re.compile(
    r"(?<!\[)\[([^\[\]\n]{1,500})\](?:\([^()\n]{0,2000}(?:\([^()\n]{0,500}\)[^()\n]{0,500})?\)|\[[^\]\n]{0,500}\])"
)
_EMBED = re.compile(r"!++(\[\[[^\[\]\n]{1,500}\]\])")
_DEFINITION = re.compile(r"^ {0,3}\[(?!\^)[^\]\n]{1,500}\]:[ \t]*[^ \t].*$")
_TAG_START = re.compile(r"<(?=[A-Za-z/!?])")
_SCHEME = re.compile(r"\b(command|vscode|javascript|data|file):", re.IGNORECASE)


def harmless(text: str) -> str:
    """Return Markdown that shows the same words and refers to nothing; an open fence is closed at the end."""
    shown: list[str] = []
    fence: str | None = None
    quoted = False
    sure = True  # whether it is known which backticks open a code span and which close one
    for line in re.split(r"\r\n?|\n", text):
        if fence is not None and quoted and not line.lstrip(_BLANK).startswith(">"):
            shown.append(fence)
            fence = None
        opening = _FENCE.match(line)
        if fence is not None:
            if _closes(line, fence):
                shown.append(fence)
                fence = None
            else:
                shown.append(re.sub(r"^[ \t]*(?:>[ \t]?)+", "", line) if quoted else line)
        elif opening:
            fence = opening.group("mark") or opening.group("tildes")
            quoted, sure = ">" in opening.group("within"), True
            if opening.group("within").strip(_BLANK):
                shown.append(opening.group("within"))
            # Of what follows the mark only the language stays: a bar there could make it the head of a table.
            language = _LANGUAGE.match(opening.group("info") or opening.group("other_info") or "")
            shown.append(fence + (language.group(1) if language else ""))
        elif not _DEFINITION.match(line):
            sure = sure or not line.strip(_BLANK)
            disarmed = _disarmed(line) if sure else None
            sure = disarmed is not None
            shown.append(_no_fence(_plain_links(line)) if disarmed is None else _no_fence(disarmed))
    if fence is not None:
        shown.append(fence)
    return "\n".join(shown)


def open_fence(lines: Iterable[str]) -> str | None:
    """Return the line that begins a fence which is still open behind some lines, without the list that it is in."""
    opening, fence, quoted = "", "", False
    for line in lines:
        if fence and quoted and not line.lstrip(_BLANK).startswith(">"):
            fence = ""
        if fence:
            fence = "" if _closes(line, fence) else fence
        elif match := _FENCE.match(line) if "```" in line or "~~~" in line else None:
            fence = match["mark"] or match["tildes"]
            quoted = ">" in match["within"]
            opening = f"{'> ' * quoted}{line[match.end('within') :]}"
    return opening if fence else None


def _closes(line: str, fence: str) -> bool:
    return re.fullmatch(rf"[ \t>]*{fence}[`~]*[ \t]*", line) is not None


def _disarmed(line: str) -> str | None:
    """Return a line of text with its links and images as words, code spans untouched; None where spans are unsure.

    A backtick left over may pair with one of another line, one behind a backslash opens nothing, and a cell of a table
    ends at its bar.
    """
    parts: list[str] = []
    end = 0
    for code in _CODE.finditer(line):
        if "|" in code.group() or "`" in line[end : code.start()] or line[: code.start()].endswith("\\"):
            return None
        parts += [_plain_links(line[end : code.start()]), code.group()]
        end = code.end()
    if "`" in line[end:]:
        return None
    return "".join([*parts, _plain_links(line[end:])])


def _plain_links(text: str) -> str:
    text = _EMBED.sub(r"\1", text)
    text = _IMAGE.sub(r"\1", text)
    text = _LINK.sub(r"\1", text)
    # A link or definition that the patterns above did not see must not become one either.
    text = text.replace("](", "]\\(").replace("]:", "]\\:")
    return _SCHEME.sub(r"\1&#58;", _TAG_START.sub("&lt;", text))


def _no_fence(line: str) -> str:
    """Return a line of text that has not become a fence by losing what stood before it."""
    return re.sub(r"([`~])", r"\\\1", line) if _FENCE.match(line) else line
