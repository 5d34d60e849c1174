"""What the reader makes of transcripts that two real clients wrote (see data/README.md)."""

import json
from collections import Counter
from pathlib import Path

import pytest

from pipeline.classify import packs
from pipeline.collect.mine import admissions
from pipeline.collect.turns import Said, all_turns
from pipeline.masking.masker import mask
from pipeline.records import Source, Turn
from pipeline.transcripts.discover import discover
from pipeline.transcripts.history import paste_displays
from tests.transcripts.builders import Reading, config, read

DATA = Path(__file__).parent / "data"
EXPECTED = json.loads((DATA / "expected.json").read_text(encoding="utf-8"))


def normal(text: str) -> str:
    """Blanks and line ends do not matter for what was said."""
    return " ".join(text.split())


@pytest.fixture(scope="module")
def turns(tmp_path_factory: pytest.TempPathFactory) -> list[Said]:
    home = tmp_path_factory.mktemp("recorded")
    return list(all_turns(config(home, claude_dirs=(DATA,))))


@pytest.fixture(scope="module")
def readings() -> list[Reading]:
    loaded = packs.load(config(DATA).rule_folders)
    options = {"admissions": admissions(loaded), "displays": paste_displays(DATA)}
    files = discover([DATA]).files
    for everything in (False, True):
        found = [read(file, everything=everything, **options) for file in files]
        if not everything:
            fast = found
    for one, other in zip(fast, found, strict=True):
        assert one.turns == other.turns
        assert one.counts == other.counts
    return fast


def test_exactly_what_was_typed(turns: list[Said]) -> None:
    wanted = Counter(
        (human["session"], human["kind"], normal(mask(human["words"]).text))
        for human in EXPECTED["human"]
    )
    found = Counter((said.session, said.kind, normal(said.text)) for said in turns)
    assert found - wanted == Counter()
    assert wanted - found == Counter()


def test_nothing_of_another_came_through(turns: list[Said]) -> None:
    """Findings, hook output and the model's plans are in the files, several times each."""
    found = {normal(said.text) for said in turns}
    assert not found & {normal(noticed["words"]) for noticed in EXPECTED["noticed"]}


def test_what_was_noticed(readings: list[Reading]) -> None:
    """Guards and admissions by place; findings once, in whatever places they stand."""
    found: dict[str, Turn] = {turn.key: turn for r in readings for turn in r.noticed}
    counted = Counter((turn.session_id, turn.source, normal(turn.text)) for turn in found.values())
    for noticed in EXPECTED["noticed"]:
        key = (noticed["session"], Source(noticed["source"]), normal(noticed["words"]))
        assert counted[key] == 1, noticed


def test_every_known_line_type_is_known(readings: list[Reading]) -> None:
    """A type that turns up as unknown here would raise the drift alarm on every machine."""
    counts = [reading.counts for reading in readings]
    assert sum((c.unknown for c in counts), Counter()) == Counter()
    assert sum((c.skipped for c in counts), Counter()) == Counter()
    assert sum(c.not_human["unmarked"] for c in counts) == 0


def test_refused_calls_know_their_action(readings: list[Reading]) -> None:
    """Every rejection and approval comment in the recording belongs to a call."""
    seen = 0
    for reading in readings:
        for turn in reading.human:
            if turn.kind in ("rejection", "approval-comment") and turn.row != "U3":
                action = reading.actions[turn.key]
                assert action is not None and action.tool, turn
                seen += 1
    assert seen >= 20
