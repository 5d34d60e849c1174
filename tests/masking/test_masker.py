"""What is masked, what stays, and that nothing gets out when the masker breaks."""

import base64
import html
import json
import time
from collections.abc import Callable
from urllib.parse import quote

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import RuleError
from pipeline.masking import detectors, masker, packs, samples
from pipeline.masking.detectors import Detector, Do
from pipeline.masking.masker import ERROR_MARKER, mask, recheck

ROWS = packs.table().rows
ENCODINGS: dict[str, Callable[[str], str]] = {
    "plain": lambda text: text,
    "json": lambda text: json.dumps(text)[1:-1],
    "json-numbers": lambda text: "".join(f"\\u{ord(c):04x}" for c in text),
    "url": lambda text: quote(text, safe=""),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64-url": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "json-in-base64": lambda text: base64.b64encode(json.dumps({"m": text}).encode()).decode(),
    "html": html.escape,
    "html-numbers": lambda text: "".join(f"&#{ord(c)};" for c in text),
    "zero-width": "\u200b".join,
    "soft-hyphen": "\u00ad".join,
    "full-width": lambda text: "".join(
        chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text
    ),
    "code-span": lambda text: f"`{text}`",
    "korean-around": lambda text: f"그건 {text}예요",
    "chinese-around": lambda text: f"这个是{text}。好的",
}
IN_PLACE = {
    "email": ("write to bob@example.com, please", "write to [email], please"),
    "email-korean": ("메일은bob@example.co.kr로 보내", "메일은[email]로 보내"),
    "phone": ("call +1 415 555 0132 now", "call [phone] now"),
    "card": ("pay 4111 1111 1111 1111 today", "pay [card] today"),
    "iban": ("to DE89 3704 0044 0532 0130 00.", "to [iban]."),
    "resident-number": ("번호는 901231-1234567입니다", "번호는 [resident-number]입니다"),
    "ip": ("ssh 203.0.113.77 -p 2222", "ssh [ip] -p 2222"),
    "home": ("open /home/jdoe/src/x.py", "open /home/[user]/src/x.py"),
    "home-var": ("in /var/home/jdoe/x", "in /var/home/[user]/x"),
    "home-accent": ("in /home/jörg/x", "in /home/[user]/x"),
    "home-cyrillic": ("in /home/Иван/x", "in /home/[user]/x"),
    "email-accent": ("an jörg@example.com, bitte", "an [email], bitte"),
    "phone-german": ("Meine Telefonnummer ist 0170 5550132.", "Meine Telefonnummer ist [phone]."),
    "phone-slash": ("Handy: 0170/5550132", "Handy: [phone]"),
    "phone-russian": ("телефон 8 (912) 555-01-32", "телефон [phone]"),
    "phone-spanish": ("mi móvil es 612 555 013", "mi móvil es [phone]"),
    "phone-free": ("0120-555-013 に電話", "[phone] に電話"),
    "home-windows": ("in C:\\Users\\jdoe\\src", "in C:\\Users\\[user]\\src"),
    "home-json": ('{"cwd":"C:\\\\Users\\\\jdoe"}', '{"cwd":"C:\\\\Users\\\\[user]"}'),
    "folder": ("projects/-Users-jdoe-app/x", "projects/-Users-[user]-app/x"),
    "remote": (
        "push to git@git.example.com:jdoe/app.git",
        "push to git@git.example.com:[owner]/app.git",
    ),
    "remote-https": ("https://github.com/jdoe/app", "https://github.com/[owner]/app"),
    "encoded": ("mail=bob%40example.com&x=1", "mail=[email]&x=1"),
}
SENTENCES = {
    "first": ("The password is hunter2. Fix the test.", "[masked: password] Fix the test."),
    "line": ("Fix this:\npassword=hunter2\nthen stop", "Fix this:\n[masked: password]\nthen stop"),
    "chinese": ("先改测试。密码是abc12345。再提交。", "先改测试。[masked: password]再提交。"),
    "login": ("Log in as admin with tiger99! Then go on.", "[masked: login] Then go on."),
    "bare": ("Fix it. Passwort tiger9lily", "Fix it. [masked: password]"),
    "bare-spanish": ("Listo. La clave es tiger9lily.", "Listo. [masked: password]"),
    "short-form": ("Go on. The password's tiger9lily.", "Go on. [masked: password]"),
    "code": ("The one-time code is 730518. Go on.", "[masked: one-time-code] Go on."),
    "code-korean": ("인증번호 730518\n계속해", "[masked: one-time-code]\n계속해"),
    "hex-key": (f"The key is 0x{'4c08' * 16}. Go on.", "[masked: private-key] Go on."),
    "sql": (
        "Run SELECT * FROM users WHERE id = 1. Then stop.",
        "[masked: sql] Then stop.",
    ),
    "sql-lines": (
        "Use\nSELECT id\nFROM users\nWHERE mail = 'Dr. Bob'\nNow commit",
        "Use\n[masked: sql]\nNow commit",
    ),
    "sql-and-mail": ("delete from t where mail = 'a@b.example'; ok", "[masked: sql]"),
    "json-tail": (
        '{"headers":{"Cookie":{"session":"abc"}},"tail":"kept"}\nGo on.',
        "[masked: cookie]\nGo on.",
    ),
}


@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS)
@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_every_sample_is_found_in_every_encoding(
    row: Detector, encode: Callable[[str], str]
) -> None:
    for sample in row.match:
        for seed in range(3):
            text = samples.expand(sample, seed)
            masked = mask(encode(text))
            assert masked.found
            assert mask(masked.text) == masker.Masked(masked.text, ())
            if row.action is Do.MARKER:
                for value in regex.findall(r"\w{16,}", text):
                    assert value not in masked.text


@pytest.mark.parametrize(("text", "wanted"), IN_PLACE.values(), ids=IN_PLACE)
def test_personal_data_is_replaced_in_place(text: str, wanted: str) -> None:
    assert mask(text).text == wanted


@pytest.mark.parametrize(("text", "wanted"), SENTENCES.values(), ids=SENTENCES)
def test_a_secret_costs_its_sentence_only(text: str, wanted: str) -> None:
    assert mask(text).text == wanted


def test_found_names_each_kind_once_in_order() -> None:
    text = "a@b.example and c@d.example, call +1 415 555 0132.\npassword=hunter2"
    assert mask(text).found == ("email", "phone", "password")


def test_a_foreign_marker_hides_nothing() -> None:
    assert mask("[masked: bob@example.com]").text == "[masked: [email]]"
    assert mask("[masked: secret hunter] stays") == masker.Masked(
        recheck("[masked: secret hunter] stays"), ()
    )


def test_a_marker_is_no_password() -> None:
    text = "the login form and pass\n[masked: password]"
    assert mask(text) == masker.Masked(recheck(text), ())
    assert recheck(text) == text


def test_masked_text_is_inert() -> None:
    assert mask("red \x1b[31malert\u202e").text == "red [31malert"


_PIECES = [samples.expand(sample) for row in ROWS for sample in (*row.match, *row.reject)]
_WORDS = (
    st.sampled_from(_PIECES)
    | st.text(max_size=12)
    | st.sampled_from(["[email]", " / ", ": ", "\n"])
)


@given(st.lists(_WORDS, max_size=6).map("".join))
def test_masking_twice_is_masking_once(text: str) -> None:
    once = mask(text)
    assert once.text != ERROR_MARKER
    assert mask(once.text) == masker.Masked(once.text, ())
    assert recheck(once.text) == once.text


@pytest.mark.parametrize("error", [TimeoutError, ValueError, RecursionError, MemoryError])
@pytest.mark.parametrize("place", ["inert", "views", "_without", "_blanked"])
def test_a_fault_leaves_a_marker_only(
    monkeypatch: pytest.MonkeyPatch, place: str, error: type[Exception]
) -> None:
    def fail(*_: object) -> None:
        raise error("the words: hunter2")

    monkeypatch.setattr(masker, place, fail)
    assert mask("password=hunter2").text == ERROR_MARKER
    assert mask("password=hunter2").found == ("error",)
    assert recheck("password=hunter2") == ERROR_MARKER


def test_a_runaway_pattern_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    row = ROWS[0]
    slow = Detector(
        row.id, row.kind, row.action, ("a",), 0, "", None, (), (), lambda: regex.compile("(a|aa)+$")
    )
    table = detectors.indexed([slow])
    monkeypatch.setattr(packs, "table", lambda: table)
    monkeypatch.setattr(detectors, "TIMEOUT_SECONDS", 0.05)
    assert mask("a" * 60 + "b").text == ERROR_MARKER


def test_a_mask_that_does_not_settle_fails_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masker, "_without", lambda text, hits: text)
    assert mask("password=hunter2").text == ERROR_MARKER


def test_a_broken_table_is_loud(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise RuleError("broken", "mend it")

    monkeypatch.setattr(packs, "table", fail)
    with pytest.raises(RuleError):
        mask("anything")


def test_many_findings_in_a_long_text_are_done_in_time() -> None:
    began = time.process_time()
    masked = mask("password=hunter2\n한글 a@b.example\n" * 1000)
    assert masked.text == "[masked: password]\n한글 [email]\n" * 1000
    assert time.process_time() - began < 5


HOSTILE = ["{} ", "{}a1", "{}-a", "{}: ", "{}=", "{}'", "{}.a", "{}/1 ", "{} a, "]


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_no_pattern_runs_away_on_hostile_text(row: Detector) -> None:
    for keyword in row.keywords[:12]:
        for shape in HOSTILE:
            piece = shape.format(keyword)
            began = time.process_time()
            list(row.spans(piece * (3000 // len(piece))))
            assert time.process_time() - began < 0.2, (keyword, shape)


@pytest.mark.parametrize(
    "piece", ["a", "1 ", "a-", "a.", "%41", "\\u0041", "한글 ", "&#65;", "QUJD"]
)
def test_a_long_text_is_done_in_time(piece: str) -> None:
    began = time.process_time()
    mask(piece * (30_000 // len(piece)))
    assert time.process_time() - began < 3
