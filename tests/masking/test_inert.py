"""Nothing that a terminal obeys or an eye misses is left, and everything else is."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.masking.inert import inert

KEPT = {
    "plain": "All good.\n\tIndented, too.",
    "korean": "그 파일 말고 다른 파일이야",
    "right-to-left": "שלום, תקן את הקובץ",
    "arabic": "أصلح الملف من فضلك",
    "family": "👨\u200d👩\u200d👧 done",
    "heart": "❤\ufe0f and ❤\ufe0f\u200d🔥",
    "skin": "👩🏽\u200d💻 types",
    "keycap": "step 1\ufe0f\u20e3",
    "accent": "cafe\u0301",
}
REMOVED = {
    "clear-screen": ("a\x1b[2Jb", "a[2Jb"),
    "window-title": ("\x1b]0;x\x07y", "]0;xy"),
    "c1": ("a\x9b2Jb", "a2Jb"),
    "delete": ("a\x7fb", "ab"),
    "return": ("safe\rline\r\nnext", "safeline\nnext"),
    "bidi": ("a\u202eb\u2066c\u200f", "abc"),
    "tags": ("hi\U000e0041\U000e0042", "hi"),
    "zero-width": ("pass\u200bword\ufeff", "password"),
    "joiner-in-word": ("a\u200db", "ab"),
    "joiner-in-kana": ("あ\u200dい", "あい"),
    "joiner-at-the-end": ("👩\u200d", "👩"),
    "selector-in-word": ("a\ufe0fb", "ab"),
    "surrogate": ("a\ud800b", "ab"),
    "noncharacter": ("a\ufdd0b", "ab"),
    "stranded-joiner": ("👩\u200d\x00👩", "👩👩"),
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_leaves_visible_text_as_it_is(text: str) -> None:
    assert inert(text) == text


@pytest.mark.parametrize(("text", "wanted"), REMOVED.values(), ids=REMOVED)
def test_removes_what_is_obeyed_or_unseen(text: str, wanted: str) -> None:
    assert inert(text) == wanted


@given(st.text(st.characters()) | st.text("a\u200d\ufe0f👩1\x1b\u202e\U000e0041❤", max_size=12))
def test_nothing_dangerous_survives(text: str) -> None:
    out = inert(text)
    assert inert(out) == out
    assert not {c for c in out if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"}
    assert not {
        c for c in out if unicodedata.bidirectional(c) in ("RLO", "LRO", "RLE", "PDF", "RLI")
    }
    assert not {c for c in out if 0xE0000 <= ord(c) <= 0xE0FFF or c in "\u200b\u2060\ufeff"}
    out.encode("utf-8")


@given(st.text(st.characters(categories=["L", "N", "P", "Zs", "Sc"]), max_size=40))
def test_words_in_any_script_survive(text: str) -> None:
    fillers = "\u115f\u1160\u3164\uffa0"
    assert inert(text) == "".join(c for c in text if c not in fillers)
