"""Loading is strict, later folders override, and the digest sees every change."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.classify import packs
from pipeline.classify.rule import Packs
from pipeline.errors import RuleError
from pipeline.records import CaseType, Source

Write = Callable[..., Path]


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        pytest.param({"format = 1": "format = 2"}, ["format", "2"], id="format"),
        pytest.param({'"en"': '"ko"'}, ["language", "ko"], id="language-of-the-folder"),
        pytest.param({"summary": "summery"}, ["en.wrong-result.sample", "summary"], id="missing"),
        pytest.param(
            {"summary =": 'colour = "red"\nsummary ='}, ["colour", "unknown"], id="unknown-field"
        ),
        pytest.param({'"active"': '"on"'}, ["status", "'on'", "shadow"], id="status"),
        pytest.param({'["zorp"]': "[]"}, ["keywords", "at least 1"], id="no-keyword"),
        pytest.param({'["zorp"]': "[1]"}, ["keywords", "'1'"], id="keyword-type"),
        pytest.param({"en.wrong-result.sample": "zorp"}, ["id", "'zorp'"], id="id"),
        pytest.param(
            {'  { text = "zorp again", span = "zorp" },\n': ""},
            ["match", "at least 2"],
            id="one-match",
        ),
        pytest.param({', because = "another word" }': " }"}, ["because"], id="no-reason"),
        pytest.param({"summary =": 'needs = ["rain"]\nsummary ='}, ["needs", "rain"], id="needs"),
        pytest.param({"[[rule]]": "[[rules]]"}, ["rules", "unknown"], id="unknown-table"),
        pytest.param({"[[rule]]": "[rule]"}, ["rule", "list"], id="no-list"),
        pytest.param({"format = 1": "format ="}, ["not TOML"], id="no-toml"),
    ],
)
def test_a_broken_file_is_named_with_rule_field_and_value(
    pack: Write, edits: dict[str, str], words: list[str]
) -> None:
    folder = pack(edits)
    with pytest.raises(RuleError) as caught:
        packs.load([folder])
    assert str(folder / "en" / "wrong-result.toml") in caught.value.message
    for word in words:
        assert word in caught.value.message


def test_an_id_twice_in_one_folder_is_an_error(pack: Write) -> None:
    folder = pack()
    file = folder / "en" / "wrong-result.toml"
    (folder / "en" / "more.toml").write_bytes(file.read_bytes())
    with pytest.raises(RuleError, match="used twice"):
        packs.load([folder])


def test_an_unknown_word_list_is_an_error(pack: Write) -> None:
    with pytest.raises(RuleError, match="harmles"):
        packs.load([pack(files={"en/harmles.txt": "x"})])


@pytest.mark.parametrize("entry", ["錯", "錯错", "錯 错字", "錯-错"])
def test_a_fold_that_is_no_pair_is_an_error(pack: Write, entry: str) -> None:
    with pytest.raises(RuleError, match=r"fold\.txt.*pair"):
        packs.load([pack(files={"zh/fold.txt": entry})])


def test_bytes_that_are_no_utf8_are_an_error(pack: Write) -> None:
    folder = pack()
    (folder / "en" / "wrong-result.toml").write_bytes(b"\xff")
    with pytest.raises(RuleError, match="UTF-8"):
        packs.load([folder])


def test_a_later_folder_overrides_by_id_and_adds(pack: Write) -> None:
    first = pack()
    second = pack({'"active"': '"retired"'}, name="user", files={"en/cue.toml": _CUE})
    found = {rule.id: rule.status for _, _, rule in packs.rules(packs.load([first, second]))}
    assert found == {"en.wrong-result.sample": "retired", "en.cue.more": "active"}


def test_a_missing_folder_and_foreign_folders_are_skipped(pack: Write, tmp_path: Path) -> None:
    folder = pack(files={"mask/anything.toml": "format ="})
    assert packs.load([folder, tmp_path / "none"]).by_key.keys() == {(Source.HUMAN, "en")}


def test_the_digest_changes_with_any_content_and_with_nothing_else(pack: Write) -> None:
    one = packs.load([pack()])
    same = packs.load([pack(name="copy")])
    other = packs.load([pack({"made-up": "new"}, name="other")])
    listed = packs.load([pack(name="listed", files={"en/bare.txt": "no"})])
    assert one.digest == same.digest
    assert len({one.digest, other.digest, listed.digest}) == 3


def test_rules_stand_in_deciding_order(shipped: Packs) -> None:
    order = list(CaseType)
    for one in shipped.by_key.values():
        places = [order.index(rule.type) for rule in one.rules]
        assert places == sorted(places)


@pytest.mark.parametrize("lang", ["en", "ko", "ja", "zh"])
def test_each_language_is_complete(shipped: Packs, lang: str) -> None:
    found = shipped.by_key[Source.HUMAN, lang]
    assert {rule.type for rule in found.rules} == set(CaseType)
    assert len(found.harmless) >= 40
    assert found.excludes
    assert shipped.bare[lang]
    for source in (Source.REVIEW, Source.GUARD, Source.SELF):
        assert shipped.by_key[source, lang].rules


_CUE = """format = 1
language = "en"
family = "cue"

[[rule]]
id = "en.cue.more"
status = "active"
summary = "Another."
keywords = ["blip"]
pattern = '''blip'''
match = [ { text = "blip", span = "blip" }, { text = "a blip", span = "blip" } ]
reject = [ { text = "b", because = "x" }, { text = "c", because = "x" } ]
"""
