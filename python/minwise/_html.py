"""Formats results as HTML for notebooks.

The only colour is `currentColor`, in several opacities, so that it fits every theme.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from ._minwise import probability

if TYPE_CHECKING:
    from ._minwise import Comparison
    from ._results import Dedup, Plan

_ROWS = 10


def _table(head: list[str], rows: list[list[str]]) -> str:
    cells = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def _number(value: int) -> str:
    return f"{value:,}"


def dedup(result: Dedup[Any]) -> str:
    """Returns the counts of a result and its first decisions as HTML."""
    summary = result.summary
    kept = sum(result._mask)
    removed = len(result.decisions)
    share = kept / len(result) if len(result) else 1.0
    bar = (
        '<svg width="240" height="12" role="img" aria-label="share of documents that stay">'
        '<rect width="240" height="12" fill="currentColor" opacity="0.2"/>'
        f'<rect width="{240 * share:.1f}" height="12" fill="currentColor" opacity="0.6"/></svg>'
    )
    recall = "unknown" if summary.expected_recall is None else probability(summary.expected_recall)
    head = (
        f"<p><b>{_number(len(result))} document{'' if len(result) == 1 else 's'}</b>: {_number(kept)} kept, {_number(removed)} removed, "
        f"{_number(len(result) - kept - removed)} rejected; threshold {summary.threshold}, "
        f"expected recall {recall}<br>{bar}</p>"
    )
    rows = [
        [escape(str(row.id)), escape(str(row.duplicate_of)), f"{row.similarity:.4f}"]
        for row in result.decisions[:_ROWS]
    ]
    more = f"<p>and {_number(removed - _ROWS)} more</p>" if removed > _ROWS else ""
    return head + (_table(["id", "duplicate of", "similarity"], rows) + more if rows else "")


Shown = tuple[str, list[tuple[int, int]]]


def comparison(found: Comparison, left: Shown, right: Shown) -> str:
    """Returns the similarities of two texts, and both texts with their shared passages marked, as HTML.

    ``left`` and ``right`` have the text and the places of its passages.
    """
    estimate = "none" if found.estimate is None else f"{found.estimate.value:.3f} ± {found.estimate.standard_error:.3f}"
    head = _table(
        ["similarity", "containment of left", "containment of right", "estimate"],
        [[f"{found.similarity:.4f}", f"{found.containment_of_left:.4f}", f"{found.containment_of_right:.4f}", estimate]],
    )
    if not found.passages:
        return head
    return head + _table(["left", "right"], [[_marked(*left), _marked(*right)]])


def _marked(text: str, places: list[tuple[int, int]]) -> str:
    """Returns a text with its passages marked. Each character is marked separately, because passages may overlap."""
    marked = bytearray(len(text))
    for begin, end in places:
        marked[begin:end] = b"\x01" * (end - begin)
    out: list[str] = []
    begin = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or marked[at] != marked[begin]:
            piece = escape(text[begin:at])
            out.append(f"<mark>{piece}</mark>" if marked[begin] else piece)
            begin = at
    return "".join(out)


def plan(chosen: Plan) -> str:
    """Returns the numbers of a plan and a picture of its S-curve as HTML."""
    points = " ".join(f"{40 + 200 * s / 50:.1f},{110 - 100 * chosen.probability(s / 50):.1f}" for s in range(51))
    at = 40 + 200 * chosen.threshold
    curve = (
        '<svg width="260" height="140" viewBox="0 0 260 140" role="img" '
        'aria-label="probability that a pair becomes a candidate, by similarity">'
        '<g fill="none" stroke="currentColor">'
        '<path d="M40 10V110H240" opacity="0.5"/>'
        f'<path d="M{at:.1f} 10V110" stroke-dasharray="3 3" opacity="0.6"/>'
        f'<polyline points="{points}" stroke-width="1.5"/></g>'
        '<g fill="currentColor" font-size="10"><text x="34" y="14" text-anchor="end">1</text>'
        '<text x="34" y="112" text-anchor="end">0</text><text x="40" y="124" text-anchor="middle">0</text>'
        '<text x="240" y="124" text-anchor="middle">1</text>'
        f'<text x="{at:.1f}" y="136" text-anchor="middle">{chosen.threshold:g}</text></g></svg>'
    )
    head = _table(
        ["bands", "rows", "registers", "recall at the threshold", "half point"],
        [[str(chosen.bands), str(chosen.rows), str(chosen.registers), probability(chosen.recall), f"{chosen.half_point:.4f}"]],
    )
    return head + curve
