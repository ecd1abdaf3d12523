"""The distributions that Synapse requires, as its own metadata names them."""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9._-]+)\s*(?:\[[^\]]*\])?\s*\(?([^;)]*)\)?\s*(?:;(.*))?")
_BOUND = re.compile(r"\s*(>=|<=|==|!=|<|>)\s*([0-9]+(?:\.[0-9]+)*)\s*")
_COMPARED: dict[str, Callable[[list[int], list[int]], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}


@dataclass(frozen=True, slots=True)
class Requirement:
    """A distribution and the bounds of its version, such as ``>=1.18``; ``text`` is what an installer takes."""

    name: str
    bounds: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """The requirement as an installer takes it."""
        return self.name + ",".join("".join(bound) for bound in self.bounds)

    def allows(self, version: str) -> bool:
        """Return whether a version lies within the bounds; only its leading numbers count."""
        return all(_COMPARED[sign](*_numbers(version, bound)) for sign, bound in self.bounds)


def parse(lines: list[str]) -> list[Requirement]:
    """Return the requirements of metadata lines in their order, without those of extras."""
    found = []
    for line in lines:
        match = _REQUIREMENT.fullmatch(line)
        if match is not None and "extra" not in (match[3] or ""):
            bounds = (_BOUND.fullmatch(part) for part in match[2].split(","))
            found.append(Requirement(match[1], tuple((b[1], b[2]) for b in bounds if b is not None)))
    return found


def _numbers(*versions: str) -> list[list[int]]:
    """Return the leading numbers of versions, all of one length."""
    split = [[int(number) for number in re.findall(r"[0-9]+", version.partition("+")[0])] for version in versions]
    length = max(map(len, split))
    return [numbers + [0] * (length - len(numbers)) for numbers in split]
