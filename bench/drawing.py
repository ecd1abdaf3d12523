"""The figures of many sets as a picture: a dot with its interval for each leg, and the floor that counts."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

_MEASURES = ("ndcg@10", "hit@1")
_COLOURS = {"lexical": "#b45309", "semantic": "#2563eb", "hybrid": "#111827"}
_LEFT, _PANEL, _GAP, _ROW, _TOP = 220, 340, 40, 42, 60


def picture(reports: Sequence[Mapping[str, Any]], floors: Mapping[str, Mapping[str, float]]) -> str:
    """Return an SVG with a row for each report, in the order given, and a panel for nDCG@10 and one for hit@1."""
    width, height = _LEFT + 2 * _PANEL + 2 * _GAP, _TOP + _ROW * len(reports) + 30
    size = f'width="{width}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">',
        f'<rect {size} fill="#fff"/>',
        *_legend(),
    ]
    for panel, measure in enumerate(_MEASURES):
        left = _LEFT + panel * (_PANEL + _GAP)
        parts += _axis(left, measure, height - 30)
        for row, report in enumerate(reports):
            y = _TOP + row * _ROW
            if panel == 0:
                parts.append(f'<text x="10" y="{y + 20}">{escape(report["set"])}</text>')
            parts += _dots(left, y, report, measure)
            if measure in (floor := floors.get(report["set"], {})):
                x = _x(left, floor[measure])
                parts.append(f'<path d="M{x:.1f} {y + 2}v30" stroke="#dc2626" stroke-width="2"/>')
    return "\n".join([*parts, "</svg>\n"])


def _dots(left: float, top: float, report: Mapping[str, Any], measure: str) -> list[str]:
    parts = []
    for line, (leg, colour) in enumerate(_COLOURS.items()):
        mean, low, high = (_x(left, value) for value in report["legs"][leg]["all"][measure])
        y = top + 8 + 9 * line
        parts.append(f'<path d="M{low:.1f} {y}H{high:.1f}" stroke="{colour}"/>')
        parts.append(f'<circle cx="{mean:.1f}" cy="{y}" r="3.5" fill="{colour}"/>')
    return parts


def _axis(left: float, measure: str, bottom: float) -> list[str]:
    parts = [f'<text x="{left}" y="{_TOP - 28}" font-weight="bold">{measure}</text>']
    for tenth in range(0, 11, 2):
        x = _x(left, tenth / 10)
        parts.append(f'<path d="M{x:.1f} {_TOP}V{bottom}" stroke="#e5e7eb"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{tenth / 10:.1f}</text>')
    return parts


def _legend() -> list[str]:
    parts = []
    for place, (name, colour) in enumerate([*_COLOURS.items(), ("floor", "#dc2626")]):
        x = 10 + 90 * place
        parts.append(f'<circle cx="{x + 4}" cy="14" r="4" fill="{colour}"/><text x="{x + 13}" y="18">{name}</text>')
    return parts


def _x(left: float, value: float) -> float:
    return left + value * _PANEL
