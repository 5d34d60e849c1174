"""Sentences and the language of each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.classify import sentences

WORDS = {"en": frozenset({"the", "is", "no"}), "es": frozenset({"el", "es", "no", "que"})}


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        pytest.param("One. Two! Three?", ["One.", "Two!", "Three?"], id="marks"),
        pytest.param("see file.py and 3.5 now", ["see file.py and 3.5 now"], id="inner-dots"),
        pytest.param("a\n\nb", ["a", "b"], id="lines"),
        pytest.param("違います。直して", ["違います。", "直して"], id="no-space-after"),
        pytest.param(" . ", ["."], id="lonely-mark"),
        pytest.param("", [], id="empty"),
    ],
)
def test_split(text: str, pieces: list[str]) -> None:
    assert [text[a:b] for a, b in sentences.split(text)] == pieces


@given(st.text(max_size=200))
def test_spans_are_ordered_trimmed_and_lose_only_spaces(text: str) -> None:
    spans = sentences.split(text)
    at = 0
    for start, end in spans:
        assert text[at:start].strip() == ""
        assert text[start:end] == text[start:end].strip() != ""
        at = end
    assert text[at:].strip() == ""


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        pytest.param("handleLogin 함수가 빠졌어", "ko", id="korean-with-identifiers"),
        pytest.param("useStateは違います", "ja", id="japanese-with-identifiers"),
        pytest.param("这里不对", "zh", id="chinese"),
        pytest.param("это не так", "ru", id="russian"),
        pytest.param("the file is here", "en", id="english"),
        pytest.param("no es el archivo que", "es", id="spanish-vote"),
        pytest.param("no", "en", id="a-draw-is-english"),
        pytest.param("12345", "en", id="no-letters"),
    ],
)
def test_language(text: str, lang: str) -> None:
    assert sentences.language(text, WORDS) == lang


def test_han_alone_is_japanese_among_kana() -> None:
    found = sentences.cut("修正。それは違います。", WORDS)
    assert [s.lang for s in found] == ["ja", "ja"]


def test_a_forced_language_holds_for_all() -> None:
    assert {s.lang for s in sentences.cut("no. 아니", WORDS, "de")} == {"de"}
