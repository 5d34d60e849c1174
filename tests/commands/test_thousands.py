"""Listings, counts and figures stay right when there are thousands of cases."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pipeline.cases import write
from pipeline.cases.rows import MinedFile
from pipeline.classify import packs
from pipeline.collect.mine import Miner
from pipeline.commands.writing import writing
from pipeline.config import Config
from pipeline.records import CaseType, MaskedText
from pipeline.transcripts.repository import Repositories
from tests.collect.homes import MISSED, answer, command, put, talk
from tests.transcripts.builders import found

TYPES = tuple(CaseType)
SESSIONS, EACH = 60, 50
TOTAL = SESSIONS * EACH


def many(config: Config, root: Path) -> None:
    """Copies of one mined file under other keys, through the store's own way in."""
    path = put(root, "s1", talk("s1", MISSED))
    miner = Miner(packs.load(config.rule_folders), config, Repositories())
    mined = miner.mine(found(path))
    (turn,) = mined.turns
    begin = datetime(2026, 1, 5, 12, tzinfo=UTC)
    files: list[MinedFile] = []
    for session in range(SESSIONS):
        at = begin + timedelta(days=session)
        turns = []
        for n in range(EACH):
            kind = TYPES[(session + n) % len(TYPES)]
            assert turn.correction is not None
            text = MaskedText(f"Number {session}-{n} is {kind.value}.")
            turns.append(
                replace(
                    turn,
                    key=f"u{session}-{n}:0",
                    uuid=f"u{session}-{n}",
                    session=f"s{session}",
                    at=at + timedelta(seconds=n),
                    day=at.date(),
                    correction=replace(turn.correction, type=kind, text=text),
                )
            )
        record = replace(mined.file, key=f"file{session}")
        files.append(replace(mined, file=record, turns=tuple(turns)))
    with writing(config) as store:
        write.put_files(store, files, begin)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Config:
    from tests.transcripts.builders import config as made

    top = tmp_path_factory.mktemp("thousands")
    config = made(top / "claude", home=top / "home")
    many(config, top / "claude")
    return config


def test_every_case_is_listed_once_newest_first(full: Config) -> None:
    listed: list[dict[str, Any]] = answer(full, "cases")
    assert len(listed) == len({case["id"] for case in listed}) == TOTAL
    assert [case["at"] for case in listed] == sorted((c["at"] for c in listed), reverse=True)
    assert command(full, "cases").stdout.count("\n") == TOTAL


def test_bundles_add_up(full: Config) -> None:
    bundles = answer(full, "show")
    assert Counter({b["type"]: b["cases"] for b in bundles}) == dict.fromkeys(
        [kind.value for kind in CaseType], TOTAL // len(TYPES)
    )
    assert {b["sessions"] for b in bundles} == {b["days"] for b in bundles} == {SESSIONS}


def test_narrowed_listings_agree_with_the_whole(full: Config) -> None:
    listed = answer(full, "cases")
    for words, wanted in (
        (["--type", "other"], lambda c: c["type"] == "other"),
        (["--since", "2026-02-01"], lambda c: c["day"] >= "2026-02-01"),
        (["--query", "number 59-7"], lambda c: "59-7 " in c["text"]),
        (["--repo", "elsewhere"], lambda c: False),
    ):
        assert answer(full, "cases", *words) == [case for case in listed if wanted(case)]
    assert len(answer(full, "show", "loom/other", "--limit", "33")) == 33
    assert answer(full, "show", "loom/other", "--limit", "0") == []


def test_the_figures_add_up(full: Config) -> None:
    figures = answer(full, "stats")
    assert figures["totals"] == {
        "turns": TOTAL, "sessions": SESSIONS, "cases": TOTAL, "files": SESSIONS,
    }  # fmt: skip
    assert [sum(counts.values()) for counts in figures["cases"].values()] == [TOTAL] * 4
    assert sum(week["corrections"] for week in figures["weeks"]) == TOTAL
    assert sum(week["turns"] for week in figures["weeks"]) == TOTAL
    assert sum(rule["cases"] for rule in figures["rules"]) == TOTAL
