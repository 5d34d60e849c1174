"""`rules check` finds each seeded fault, and the shipped packs are sound."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.classify import check, engine, hostile, packs
from pipeline.classify.pattern import TIMEOUT_SECONDS
from pipeline.classify.rule import Packs
from pipeline.records import Message

Write = Callable[..., Path]

EXCLUDE = """
[[rule.exclude]]
name = "near"
on = "sentence"
pattern = '''{pattern}'''
because = "made up"
stops = ["{stops}"]
"""
LANGUAGE = """format = 1
language = "en"
family = "exclude"

[[exclude]]
id = "en.exclude.far"
on = "sentence"
pattern = '''{pattern}'''
because = "made up"
stops = ["{stops}"]
"""
SECOND = """
[[rule]]
id = "en.wrong-result.second"
status = "active"
summary = "Another made-up rule."
keywords = ["zorp", "blip"]
pattern = '''zorps|blip'''
match = [ { text = "blip", span = "blip" }, { text = "a blip", span = "blip" } ]
reject = [ { text = "zorp", because = "x" }, { text = "zorping", because = "x" } ]
"""


def test_the_shipped_packs_are_sound(shipped: Packs) -> None:
    assert check.check(shipped) == []


def test_a_sound_pack_has_no_problems(pack: Write) -> None:
    folder = pack(
        more=EXCLUDE.format(pattern="pie", stops="zorp pie"),
        files={
            "en/exclude.toml": LANGUAGE.format(pattern="cake", stops="zorp cake"),
            "en/harmless.txt": "# a comment\nzorping all day\n",
        },
    )
    assert check.check(packs.load([folder])) == []


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        pytest.param({"edits": {r"\bzorp\b": "zorp("}}, "compile", id="no-pattern"),
        pytest.param({"edits": {'span = "zorp"': 'span = "is zorp"'}}, "match", id="span"),
        pytest.param({"edits": {"It is zorp.": "It is gone."}}, "match", id="match-is-silent"),
        pytest.param({"edits": {"It is zorp.": "zorp zorp"}}, "match", id="match-fires-twice"),
        pytest.param({"edits": {"zorping is fine": "zorp is fine"}}, "reject", id="reject-fires"),
        pytest.param({"edits": {"zorping is fine": "all is fine"}}, "keyword", id="no-keyword"),
        pytest.param(
            {"edits": {"reject": 'known_miss = [{ text = "zorp", because = "x" }]\nreject'}},
            "known-miss",
            id="known-miss-fires",
        ),
        pytest.param(
            {"more": EXCLUDE.format(pattern="pie", stops="pie")}, "stops", id="stops-needless"
        ),
        pytest.param(
            {"more": EXCLUDE.format(pattern="pie", stops="zorp")}, "stops", id="stops-fires"
        ),
        pytest.param(
            {"files": {"en/exclude.toml": LANGUAGE.format(pattern="pie", stops="zorp")}},
            "stops",
            id="language-exclusion-stops-nothing",
        ),
        pytest.param(
            {"files": {"en/exclude.toml": LANGUAGE.format(pattern="is", stops="zorp is")}},
            "hidden",
            id="language-exclusion-hides-a-match",
        ),
        pytest.param({"files": {"en/harmless.txt": "a zorp b"}}, "harmless", id="harmless-fires"),
        pytest.param({"more": SECOND}, "cross", id="fires-on-the-near-miss-of-another"),
        pytest.param({"edits": {r"\bzorp\b": r"\bzorp\b|(?:a|aa)+$x"}}, "slow", id="never-ends"),
    ],
)
def test_each_seeded_fault_is_found(pack: Write, fault: dict[str, object], found: str) -> None:
    problems = check.check(packs.load([pack(**fault)]))
    assert found in {problem.check for problem in problems}
    assert all(problem.id and problem.detail for problem in problems)


def test_no_shipped_pattern_runs_long_on_200_hostile_texts(shipped: Packs) -> None:
    """T8: none reaches the 50 ms at which a run would be cut off."""
    texts = list(hostile.attacks())
    assert len(texts) == 200
    late = []
    for pattern in set(check.patterns(shipped)):
        compiled = pattern.compiled()
        for text in texts:
            try:
                compiled.search(text, timeout=TIMEOUT_SECONDS)
            except TimeoutError:
                late.append((pattern.owner, text[:20]))
    assert late == []


def test_no_rule_takes_long_over_a_hostile_message(shipped: Packs) -> None:
    """T8 through the engine, where keywords, sentences and exclusions take part."""
    words = sorted({rule.keywords[0] for pack in shipped.by_key.values() for rule in pack.rules})
    for text in hostile.texts("", words):
        start = time.perf_counter()
        engine.classify(shipped, Message(text))
        assert time.perf_counter() - start < 0.25, text[:40]


@pytest.mark.parametrize(
    "pattern", [r"(?:z+o*)+x", r"z.*o.*r.*p.*z.*o.*r.*p.*x", r"(?:zorp|zo|rp)*\d"], ids=str
)
def test_an_added_super_linear_rule_fails_the_check(pack: Write, pattern: str) -> None:
    problems = check.check(packs.load([pack({r"\bzorp\b": rf"\bzorp\b|{pattern}"})]))
    assert ("en.wrong-result.sample", "slow") in {(p.id, p.check) for p in problems}
