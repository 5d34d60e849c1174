"""The samples in rules/mask/, and the check itself with faults that it must find."""

from pathlib import Path

import pytest

from pipeline.errors import RuleError
from pipeline.masking import packs, samples

GOOD = """
format = 1
[parts]
digit = '''[0-9]'''
pair = '''@{digit}@{digit}'''
[[detector]]
id = "t.pair"
kind = "pair"
action = "replace"
keywords = ["n"]
pattern = '''n@{pair}'''
match = ["n12"]
reject = ["n1x"]
"""
COMPLAINTS = {
    "match-silent": (('["n12"]', '["n1"]'), "match 1 does not fire"),
    "reject-fires": (('["n1x"]', '["n12"]'), "reject 1 fires"),
    "reject-tests-nothing": (('["n1x"]', '["x"]'), "does not pass the keywords"),
    "no-match": (('match = ["n12"]', "match = []"), "no match sample"),
    "no-reject": (('reject = ["n1x"]', "reject = []"), "no reject sample"),
    "capital-keyword": (('keywords = ["n"]', 'keywords = ["n", "N"]'), "lower case"),
    "bad-pattern": (("'''n@{pair}'''", "'''n('''"), "does not compile"),
}
REFUSED = {
    "format": ("format = 1", "format = 2"),
    "no-kind": ('kind = "pair"\n', ""),
    "unknown-key": ('kind = "pair"', 'kind = "pair"\nscore = 3'),
    "action": ('"replace"', '"remove"'),
    "validator": ('kind = "pair"', 'kind = "pair"\nvalidator = "nobody"'),
    "part": ("n@{pair}", "n@{pears}"),
    "part-of-part": ("@{digit}@{digit}", "@{later}"),
    "not-toml": ("format = 1", "format ="),
    "no-detectors": ("[[detector]]", "[detector]"),
}


def _folder(tmp_path: Path, text: str) -> Path:
    (tmp_path / "t.toml").write_text(text, "utf-8")
    return tmp_path


def test_the_shipped_samples_are_right() -> None:
    assert samples.check() == ()


def test_a_good_file_has_no_complaint(tmp_path: Path) -> None:
    assert samples.check(_folder(tmp_path, GOOD)) == ()


@pytest.mark.parametrize(("change", "complaint"), COMPLAINTS.values(), ids=COMPLAINTS)
def test_the_check_finds(tmp_path: Path, change: tuple[str, str], complaint: str) -> None:
    found = samples.check(_folder(tmp_path, GOOD.replace(*change)))
    assert any(complaint in line and "t.pair" in line for line in found), found


@pytest.mark.parametrize("change", REFUSED.values(), ids=REFUSED)
def test_a_broken_file_stops_everything(tmp_path: Path, change: tuple[str, str]) -> None:
    with pytest.raises(RuleError):
        packs.load(_folder(tmp_path, GOOD.replace(*change)))


def test_ids_are_unique_across_files(tmp_path: Path) -> None:
    (tmp_path / "u.toml").write_text(GOOD, "utf-8")
    with pytest.raises(RuleError, match="twice"):
        packs.load(_folder(tmp_path, GOOD))


def test_an_empty_folder_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(RuleError):
        packs.load(tmp_path)


def test_a_row_needs_its_digits(tmp_path: Path) -> None:
    table = packs.load(
        _folder(tmp_path, GOOD.replace('kind = "pair"', 'kind = "pair"\ndigits = 2'))
    )
    assert table.likely("n1") == []
    assert [row.id for row in table.likely("n12")] == ["t.pair"]


def test_generated_values_are_typical_and_repeatable() -> None:
    value = samples.expand("x{{alnum40}}{{=y}}")
    assert value == samples.expand("x{{alnum40}}{{=y}}")
    assert len(value) == 42
    assert value.endswith("y")
    assert value != samples.expand("x{{alnum40}}{{=y}}", 1)
