"""Shares with their intervals, as people and scripts read them."""

from typing import Any

from pipeline.classify.ratio import Ratio


def ratio_text(ratio: Ratio) -> str:
    """`0.98 (0.87–1.00) 40/41`, or a dash where there is nothing to divide."""
    if ratio.value is None or ratio.interval is None:
        return "–"
    low, high = ratio.interval
    return f"{ratio.value:.2f} ({low:.2f}–{high:.2f}) {ratio.part}/{ratio.whole}"


def ratio_json(ratio: Ratio) -> dict[str, Any]:
    """The same as an object."""
    return {
        "value": ratio.value,
        "interval": ratio.interval,
        "part": ratio.part,
        "whole": ratio.whole,
    }
