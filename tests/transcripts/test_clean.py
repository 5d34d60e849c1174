"""What of a piece is the person's own wording."""

import pytest

from pipeline.transcripts.clean import clean

PASTE = '<pasted_content id="p1">\nTraceback\n</pasted_content id="p1">'
ROWS = {
    "plain": ("no, linen", "no, linen"),
    "cr": ("a\rb\r\nc", "a\nb\nc"),
    "blanks-around": ("\n  no \n", "no"),
    "reminder": ("<system-reminder>x</system-reminder>no", "no"),
    "reminder-inside": ("no, <system-reminder>\nx\ny</system-reminder>linen", "no, linen"),
    "two-reminders": (
        "<system-reminder>x</system-reminder>a<system-reminder>y</system-reminder>b",
        "ab",
    ),
    "prompt-hook": ("<user-prompt-submit-hook>x</user-prompt-submit-hook>no", "no"),
    "start-hook": ("<session-start-hook>x</session-start-hook>no", "no"),
    "opened-file": ("<ide_opened_file>x</ide_opened_file>no", "no"),
    "selection": ("<ide_selection>x</ide_selection>no", "no"),
    "other-tag-stays": ("<b>x</b>no", "<b>x</b>no"),
    "lone-tag-stays": ("<system-reminder> shows up", "<system-reminder> shows up"),
    "wrong-end-stays": ("<system-reminder>x</ide_selection>", "<system-reminder>x</ide_selection>"),
    "paste": (f"look {PASTE} it broke", "look  it broke"),
    "only-paste": (PASTE, ""),
    "paste-of-other-id": (
        '<pasted_content id="a">x</pasted_content id="b">',
        '<pasted_content id="a">x</pasted_content id="b">',
    ),
    "paste-unclosed": ('<pasted_content id="a">x', '<pasted_content id="a">x'),
    "image": ("[Image #1] too dark [Image #22]", "too dark"),
    "placeholder": ("see [Pasted text #1 +30 lines] there", "see  there"),
    "placeholder-one-line": ("[Pasted text #2 +1 line]", ""),
    "placeholder-short": ("[Pasted text #3] no", "no"),
    "brackets-stay": ("[Image of a loom] no", "[Image of a loom] no"),
    "pair-of-surrogates": ("\ud83e\uddf5 no", "🧵 no"),
    "lone-surrogate": ("a\udc80b", "a\ufffdb"),
    "separators-stay": ("a\u2028b", "a\u2028b"),
    "empty": ("", ""),
}


@pytest.mark.parametrize(("raw", "words"), ROWS.values(), ids=ROWS.keys())
def test_clean(raw: str, words: str) -> None:
    assert clean(raw) == words


PASTED = "line 1\nline 2\nline 3"
DISPLAYS = {
    "before-and-after": (
        "see [Pasted text #1 +2 lines] there",
        f"see {PASTED} there",
        "see\nthere",
    ),
    "before": ("see [Pasted text #1 +2 lines]", f"see {PASTED}", "see"),
    "after": ("[Pasted text #1 +2 lines] there", f"{PASTED} there", "there"),
    "whole": ("[Pasted text #1 +2 lines]", PASTED, ""),
    "two": (
        "a [Pasted text #1 +2 lines] b [Pasted text #2 +2 lines] c",
        f"a {PASTED} b {PASTED} c",
        "a\nb\nc",
    ),
    "other-beginning": ("see [Pasted text #1 +2 lines]", f"look {PASTED}", f"look {PASTED}"),
    "other-end": ("[Pasted text #1 +2 lines] there", f"{PASTED} here", f"{PASTED} here"),
    "middle-missing": (
        "a [Pasted text #1] zz [Pasted text #2] c",
        f"a {PASTED} c",
        f"a {PASTED} c",
    ),
    "overlapping": ("abc [Pasted text #1] bcd", "abcd", "abcd"),
    "no-placeholder": ("see it", "see it", "see it"),
}


@pytest.mark.parametrize(("display", "raw", "words"), DISPLAYS.values(), ids=DISPLAYS.keys())
def test_paste_without_a_mark(display: str, raw: str, words: str) -> None:
    """Up to 2.1.197: only the display in history.jsonl tells the paste from the typed words."""
    assert clean(raw, [display]) == words


def test_first_display_that_fits() -> None:
    displays = ["other [Pasted text #1]", "see [Pasted text #1 +2 lines]"]
    assert clean(f"see {PASTED}", displays) == "see"
