"""Normalising moves nothing, and blanks what the person only quotes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.classify.normalise import HOLE, LIMIT, normalise

MARKS = st.text(alphabet=st.sampled_from("ab `'\"~>/\\.:|\n「」“”’!?[]x1"), max_size=80)


@given(st.one_of(st.text(max_size=300), MARKS))
def test_length_and_line_ends_are_kept(text: str) -> None:
    normal = normalise(text)
    assert len(normal.text) == len(text)
    assert [i for i, c in enumerate(text) if c == "\n"] == [
        i for i, c in enumerate(normal.text) if c == "\n"
    ]


@given(st.one_of(st.text(max_size=300), MARKS))
def test_blanks_lie_inside_the_text(text: str) -> None:
    for blank in normalise(text).blanks:
        assert 0 <= blank.span[0] < blank.span[1] <= len(text)


def test_only_the_first_characters_are_looked_at() -> None:
    assert len(normalise("a" * (LIMIT + 5)).text) == LIMIT


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("don’t", "don't", id="apostrophe"),
        pytest.param("아니！？", "아니!?", id="full-width-marks"),
        pytest.param("a\u200bb\ufeffc", "a b c", id="invisible"),
        pytest.param("a\tb\r\nc", "a b \nc", id="controls-but-line-ends"),
        pytest.param("cafe\u0301", "cafe\u0301", id="composing-would-shorten"),
        pytest.param("\u212b", "\u00c5", id="composed-at-equal-length"),
    ],
)
def test_characters_are_unified_one_for_one(text: str, expected: str) -> None:
    assert normalise(text).text == expected


@pytest.mark.parametrize(
    ("text", "kind", "gone"),
    [
        pytest.param("look:\n```\nthis is wrong\n```", "fence", "wrong", id="fence"),
        pytest.param("look:\n```\nthis is wrong", "fence", "wrong", id="open-fence"),
        pytest.param("> this is wrong\nok", "quoted-line", "wrong", id="quoted-line"),
        pytest.param("| a | wrong |\nok", "quoted-line", "wrong", id="table"),
        pytest.param("use `wrong` here", "code", "wrong", id="inline-code"),
        pytest.param('it says "this is wrong"', "quote", "wrong", id="double-quotes"),
        pytest.param("it says “this is wrong”", "quote", "wrong", id="curly-quotes"),
        pytest.param("it says 'this is wrong'.", "quote", "wrong", id="single-quotes"),
        pytest.param("「違います」と出る", "quote", "違", id="corner-brackets"),
        pytest.param("see https://example.org/wrong", "url", "wrong", id="url"),
        pytest.param("open src/wrong/file.py now", "path", "wrong", id="path"),
        pytest.param("open /tmp/wrong now", "path", "wrong", id="absolute-path"),
        pytest.param("so:\nTypeError: wrong kind\nok", "log", "wrong", id="log-line"),
        pytest.param("so:\n2026-01-01 10:00:00 it is wrong\nok", "log", "wrong", id="time-stamp"),
    ],
)
def test_quoted_material_is_blanked(text: str, kind: str, gone: str) -> None:
    normal = normalise(text)
    assert kind in {blank.kind for blank in normal.blanks}
    assert gone not in normal.text


def test_a_blanked_noun_leaves_a_hole_and_a_blanked_line_leaves_spaces() -> None:
    assert normalise("use `ab` now").text == f"use {HOLE * 4} now"
    assert normalise("> ab\nok").text == "    \nok"


@pytest.mark.parametrize(
    "text", ["don't and won't", "and/or", "1/2", "it's the user's file", "아니 그게 아니야"]
)
def test_plain_words_stay(text: str) -> None:
    assert normalise(text).text == text
