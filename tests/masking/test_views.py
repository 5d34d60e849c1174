"""Each view decodes as a reader would, and every character finds its way home."""

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.masking.views import View, views

DECODED = {
    "json": ("say \\u0062ob\\n", "bob"),
    "url": ("mail=bob%40example.com", "bob@example.com"),
    "html": ("bob&#64;example.com", "bob@example.com"),
    "base64": (base64.b64encode(b"bob@example.com").decode(), "bob@example.com"),
    "base64-url": (base64.urlsafe_b64encode("ü?>~bob@example.com".encode()).decode(), "bob@"),
    "base64-wrapped": (
        base64.encodebytes(b"some words " * 9 + b"bob@example.com").decode(),
        "bob@example.com",
    ),
    "url-in-json": ('{\\"m\\": \\"bob%40example.com\\"}', '"bob@example.com"'),
    "full-width": ("ｂｏｂ＠example.com", "bob@example.com"),
    "zero-width": ("b\u200bo\u200db@example.com", "bob@example.com"),
    "decomposed": ("\u1107\u1175\u1106\u1175\u11af", "비밀"),
    "invisible-behind-escape": ("b\\u200bob", "bob"),
}


@pytest.mark.parametrize(("text", "wanted"), DECODED.values(), ids=DECODED)
def test_some_view_shows(text: str, wanted: str) -> None:
    assert any(wanted in view.text for view in views(text))


@pytest.mark.parametrize(
    "text",
    ["plain words", "src/masking/views/and/more/files", "C:\\new\\table", "100% sure & done"],
)
def test_the_first_view_is_the_text(text: str) -> None:
    assert next(views(text)).text == text


def test_a_decoded_value_leads_to_its_whole_source() -> None:
    blob = base64.b64encode(b"bob@example.com").decode()
    text = f"see {blob} there"
    view = list(views(text))[-1]
    at = view.text.index("bob@")
    start, end = view.home(at, at + 3)
    assert text[start:end] == blob


def test_an_edit_that_changes_nothing_is_no_new_view() -> None:
    view = View("abc")
    assert view.edited([]) is view


@given(st.text(max_size=40), st.sampled_from([json.dumps, quote, lambda t: t]))
def test_every_character_has_a_home(text: str, encode: object) -> None:
    assert callable(encode)
    source = str(encode(text))
    for view in views(source):
        for i in range(len(view.text)):
            start, end = view.home(i, i + 1)
            assert 0 <= start < end <= len(source)
