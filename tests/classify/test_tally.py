"""The table of docs/rules.md says what the packs hold."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.classify import packs, tally
from pipeline.classify.rule import Packs
from pipeline.errors import UsageError

DOCUMENT = Path(__file__).parents[2] / "docs" / "rules.md"


def test_the_table_of_the_document_is_fresh(shipped: Packs) -> None:
    """Made anew by `twice-told rules table docs/rules.md`."""
    text = DOCUMENT.read_text(encoding="utf-8")
    assert tally.replaced(text, shipped) == text


def test_states_are_told_apart(pack: Callable[..., Path]) -> None:
    folder = pack({'"active"': '"shadow"'}, files={"en/harmless.txt": "a\nb", "xx/bare.txt": "c"})
    head, row = tally.rows(packs.load([folder]))
    assert dict(zip(head, row, strict=True)) == {
        "language": "en", "missed-item": "0", "violated-instruction": "0", "mistaken-premise": "0",
        "wrong-result": "0+1", "cues": "0", "exclusions": "0", "harmless": "2", "review": "–",
        "guard": "–", "self": "–",
    }  # fmt: skip


def test_a_document_without_marks_is_refused(shipped: Packs) -> None:
    with pytest.raises(UsageError, match="no marks"):
        tally.replaced("# Rules", shipped)
