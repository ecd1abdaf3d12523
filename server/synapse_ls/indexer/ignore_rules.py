"""The rules of ignore files, as git reads them, matched in a time that no rule can drive up.

A regular expression made of a whole rule tries every way to share a path among its stars, for ever if it has ten of
them. Here a star takes as little as it can and never takes it back, which finds a match if and only if there is one.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

# More than any file that was written by hand holds. Every rule is asked about every entry of a folder.
MOST_RULES = 2_000
LONGEST_RULE = 1_024

_POSIX = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": r" \t", "cntrl": r"\x00-\x1f\x7f", "digit": "0-9",
    "graph": "!-~", "lower": "a-z", "print": " -~", "punct": r"!-/:-@\[-`{-~", "space": r" \t-\r", "upper": "A-Z",
    "xdigit": "a-fA-F0-9",
}  # fmt: skip
_NOTHING = "(?!)"

Segment = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. ``groups`` are the runs of segments between its ``**``; of a rule without a slash, the name alone."""

    ignores: bool
    folders_only: bool
    groups: tuple[tuple[Segment, ...], ...]
    name: Segment | None


def parse(lines: Iterable[str]) -> tuple[tuple[Rule, ...], str | None]:
    """Return the rules of an ignore file, and what to tell if not all of them are followed.

    A line that is no rule, such as a lone ``!``, says nothing and spoils nothing.
    """
    rules: list[Rule] = []
    problem: str | None = None
    for line in lines:
        if len(line) > LONGEST_RULE:
            problem = f"a rule of more than {LONGEST_RULE:,} characters is not followed; split it into shorter ones"
        elif rule := _rule(line):
            if len(rules) == MOST_RULES:
                return tuple(rules), f"only its first {MOST_RULES:,} rules are followed; join them by wildcards"
            rules.append(rule)
    return tuple(rules), problem


def verdict(rules: Sequence[Rule], path: str, *, folder: bool) -> bool | None:
    """Return what the last rule that speaks of a path says: whether it is ignored; None if none does.

    The path is relative to the rules' folder. Only rules about the path itself count, none about a folder above it.
    """
    parts = path.split("/")
    name = parts[-1]
    for rule in reversed(rules):
        if rule.folders_only and not folder:
            continue
        if rule.name(name) if rule.name is not None else _matches(rule.groups, parts):
            return rule.ignores
    return None


@lru_cache(maxsize=8_192)
def _rule(line: str) -> Rule | None:
    pattern = line.removesuffix("\r")
    while pattern.endswith(" ") and not _escaped(pattern, len(pattern) - 1):
        pattern = pattern[:-1]
    ignores = not pattern.startswith("!")
    if pattern.startswith("#"):
        return None
    pattern = pattern if ignores else pattern[1:]
    folders_only = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    if not pattern:
        return None
    if "/" not in pattern:
        return Rule(ignores, folders_only, (), _segment(pattern))
    groups: list[list[Segment]] = [[]]
    for part in _parts(pattern.removeprefix("/")):
        if part == "**":
            groups.append([])
        else:
            groups[-1].append(_segment(part))
    return Rule(ignores, folders_only, tuple(map(tuple, groups)), None)


def _parts(pattern: str) -> list[str]:
    """Return what stands between the slashes of a pattern; one in a set, which no name can match, ends nothing."""
    parts = [""]
    at = 0
    while at < len(pattern):
        end = at + 1
        if pattern[at] == "[":
            _, end = _class(pattern, end)
        elif pattern[at] == "\\":
            at, end = (at + 1, at + 2) if pattern.startswith("/", at + 1) else (at, at + 2)
        if pattern[at:end] == "/":
            parts.append("")
        else:
            parts[-1] += pattern[at:end]
        at = end
    return parts


def _matches(groups: tuple[tuple[Segment, ...], ...], parts: list[str]) -> bool:
    first, *inner = groups
    if not inner:
        return len(parts) == len(first) and _at(first, parts, 0)
    if not _at(first, parts, 0):
        return False
    last = inner.pop()
    start = len(first)
    for group in inner:
        while not _at(group, parts, start):
            start += 1
            if start > len(parts):
                return False
        start += len(group)
    if not last:  # what lies in the folder, not the folder itself
        return start < len(parts)
    return start <= len(parts) - len(last) and _at(last, parts, len(parts) - len(last))


def _at(group: tuple[Segment, ...], parts: list[str], start: int) -> bool:
    return start + len(group) <= len(parts) and all(
        segment(parts[start + number]) for number, segment in enumerate(group)
    )


def _segment(pattern: str) -> Segment:
    """Return what tells whether a name matches a pattern without a slash."""
    if not any(sign in pattern for sign in "*?[\\"):
        return pattern.__eq__
    pieces = [""]
    at = 0
    while at < len(pattern):
        sign = pattern[at]
        at += 1
        if sign == "*":
            pieces.append("")
        elif sign == "?":
            pieces[-1] += "."
        elif sign == "[":
            expression, at = _class(pattern, at)
            pieces[-1] += expression
        elif sign == "\\":
            pieces[-1] += re.escape(pattern[at]) if at < len(pattern) else _NOTHING
            at += 1
        else:
            pieces[-1] += re.escape(sign)
    head, *inner = pieces
    tail = f".*{inner.pop()}" if inner else ""
    return re.compile(f"{head}{''.join(f'(?>.*?{piece})' for piece in inner if piece)}{tail}", re.DOTALL).fullmatch


def _class(pattern: str, at: int) -> tuple[str, int]:
    """Return the expression of the set whose ``[`` lies before ``at``, and where the pattern goes on."""
    negated = pattern[at : at + 1] in ("!", "^")
    at += negated
    members = ""
    begin = at
    while at < len(pattern):
        if pattern[at] == "]" and at > begin:
            kept = f"[{'^' if negated else ''}{members}]" if members else "." if negated else _NOTHING
            return kept, at + 1
        named = re.compile(r"\[:(\w*):\]").match(pattern, at)
        if named:
            if named[1] not in _POSIX:
                return _NOTHING, len(pattern)
            members += _POSIX[named[1]]
            at = named.end()
            continue
        low, at = _member(pattern, at)
        high = low
        if pattern[at : at + 1] == "-" and pattern[at + 1 : at + 2] not in ("", "]"):
            high, at = _member(pattern, at + 1)
        if low <= high:
            members += f"{re.escape(low)}-{re.escape(high)}"
    return _NOTHING, at  # no end, no match


def _member(pattern: str, at: int) -> tuple[str, int]:
    at += pattern[at] == "\\" and at + 1 < len(pattern)
    return pattern[at], at + 1


def _escaped(pattern: str, at: int) -> bool:
    """Return whether an odd number of backslashes stands before a place."""
    before = pattern[:at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1
