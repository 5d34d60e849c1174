"""The shipped packs, and a maker of small made-up ones."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline import resources
from pipeline.classify import packs
from pipeline.classify.rule import Packs

RULE = """format = 1
language = "en"
family = "{family}"

[[rule]]
id = "en.{family}.sample"
status = "active"
summary = "A made-up rule."
keywords = ["zorp"]
pattern = '''\\bzorp\\b'''
match = [
  {{ text = "It is zorp.", span = "zorp" }},
  {{ text = "zorp again", span = "zorp" }},
]
reject = [
  {{ text = "zorping is fine", because = "another word" }},
  {{ text = "a zorps b", because = "another word" }},
]
"""


@pytest.fixture(scope="session")
def shipped() -> Packs:
    return packs.load([resources.folder("rules")])


@pytest.fixture
def pack(tmp_path: Path) -> Callable[..., Path]:
    """Writes a rules folder with one rule file; `edits` replace text, `more` is appended."""

    def write(
        edits: dict[str, str] | None = None,
        more: str = "",
        family: str = "wrong-result",
        files: dict[str, str] | None = None,
        name: str = "rules",
    ) -> Path:
        text = RULE.format(family=family)
        for old, new in (edits or {}).items():
            assert old in text
            text = text.replace(old, new, 1)
        folder = tmp_path / name
        (folder / "en").mkdir(parents=True)
        (folder / "en" / f"{family}.toml").write_text(text + more, encoding="utf-8")
        for path, content in (files or {}).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(content, encoding="utf-8")
        return folder

    return write
