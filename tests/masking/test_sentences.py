"""Sentence spans, and how a span grows over them."""

import pytest

from pipeline.masking.sentences import sentences, widen

CASES = {
    "one": ("just words", ["just words"]),
    "stops": ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
    "quoted-stop": ('He said "no." Then left.', ['He said "no."', "Then left."]),
    "lines": ("  a\n\n  b \n", ["a", "b"]),
    "full-width": ("改一下。再看！", ["改一下。", "再看！"]),
    "names-with-dots": ("see a.py and v1.2.3 now", ["see a.py and v1.2.3 now"]),
    "empty": ("", []),
}


@pytest.mark.parametrize(("text", "wanted"), CASES.values(), ids=CASES)
def test_sentences(text: str, wanted: list[str]) -> None:
    assert [text[start:end].strip() for start, end in sentences(text)] == wanted


@pytest.mark.parametrize(
    ("start", "end", "wanted"),
    [(0, 1, "One."), (5, 8, "Two."), (6, 11, "Two. Three."), (3, 4, "One."), (3, 6, "One. Two.")],
)
def test_widen(start: int, end: int, wanted: str) -> None:
    text = "One. Two. Three."
    first, last = widen(sentences(text), start, end)
    assert text[first:last] == wanted
