"""Markdown of a note made safe to show in an editor.

An editor may load what shown text refers to, or run it when it is clicked: images from the network, ``command:``
links, raw HTML. What remains is text: images become their description, links their label.
"""

import re

_FENCE = re.compile(r"^[ \t]*(?:[-*+>]\s+|\d+[.)]\s+)*(`{3,}|~{3,})")
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_IMAGE = re.compile(
    r"!\[([^\]\n]{0,500})\](?:\([^()\n]{0,2000}(?:\([^()\n]{0,500}\)[^()\n]{0,500})?\)|\[[^\]\n]{0,500}\])?"
)
_LINK = re.compile(
    r"(?<!\[)\[([^\[\]\n]{1,500})\](?:\([^()\n]{0,2000}(?:\([^()\n]{0,500}\)[^()\n]{0,500})?\)|\[[^\]\n]{0,500}\])"
)
_EMBED = re.compile(r"!\[\[([^\[\]\n]{1,500})\]\]")
_DEFINITION = re.compile(r"^ {0,3}\[[^\]\n]{1,500}\]:\s*\S.*$")
_TAG_START = re.compile(r"<(?=[A-Za-z/!?])")
_SCHEME = re.compile(r"\b(command|vscode|javascript|data|file):", re.IGNORECASE)


def harmless(text: str) -> str:
    """Return Markdown that shows the same words and refers to nothing; an open fence is closed at the end."""
    shown: list[str] = []
    fence: str | None = None
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence is None and mark:
            fence = mark.group(1)
        elif fence is not None:
            if mark and mark.group(1).startswith(fence) and not line.strip(" \t`~>"):
                fence = None
        elif _DEFINITION.match(line):
            continue
        else:
            line = _disarmed(line)  # noqa: PLW2901 - the line as it is shown
        shown.append(line)
    if fence is not None:
        shown.append(fence)
    return "\n".join(shown)


def _disarmed(line: str) -> str:
    """Return a line of text with its links and images as words, code spans untouched."""
    parts: list[str] = []
    end = 0
    for code in _CODE.finditer(line):
        parts += [_plain_links(line[end : code.start()]), code.group()]
        end = code.end()
    return "".join([*parts, _plain_links(line[end:])])


def _plain_links(text: str) -> str:
    text = _EMBED.sub(r"\1", text)
    text = _IMAGE.sub(r"\1", text)
    text = _LINK.sub(r"\1", text)
    # A link that the patterns above did not see must not become one either.
    text = text.replace("](", "]\\(")
    return _SCHEME.sub(r"\1&#58;", _TAG_START.sub("&lt;", text))
