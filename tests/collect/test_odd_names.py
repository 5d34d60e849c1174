"""What stands where a client writes names is kept only when it can be nothing but a name."""

import json

import pytest

from pipeline.config import Config
from tests.collect.homes import MISSED, PLAIN, answer, cases, command, everywhere, put, run, talk
from tests.transcripts.builders import calls, prompt, says

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize("where", ["uuid", "parentUuid", "sessionId", "tool", "type"])
def test_a_key_in_the_place_of_a_name_is_not_kept(config: Config, where: str) -> None:
    first = prompt("u1", PLAIN)
    used = calls("u2", KEY if where == "tool" else "Bash", "u1")
    said = prompt("u3", MISSED, "u2")
    lines = [first, used, said, says("u4", "Done.", "u3")]
    if where == "type":
        lines.append({"type": KEY, "sessionId": "s1"})
    elif where != "tool":
        lines = [line | {where: f"{KEY}-{n}"} for n, line in enumerate(lines)]
    put(config.claude_dirs[0], "s1", lines)
    printed = command(config, "nightly", "--json").stdout
    assert len(cases(config)) == 1
    printed += command(config, "turns", "--json", "--all").stdout
    printed += json.dumps(answer(config, "cases"))
    assert KEY not in printed
    assert everywhere(config.home, KEY) == []


def test_odd_names_still_tell_turns_apart_and_are_read_once(config: Config) -> None:
    long = "a-name-that-is-no-uuid-at-all"
    lines = [
        prompt(f"{long}-1", PLAIN),
        says(f"{long}-2", "Done.", f"{long}-1"),
        prompt(f"{long}-3", MISSED, f"{long}-2"),
        says(f"{long}-4", "Done.", f"{long}-3"),
    ]
    put(config.claude_dirs[0], "s1", lines)
    put(config.claude_dirs[0], "s2", [line | {"sessionId": "s2"} for line in lines])
    summary = run(config)
    assert (summary.turns, summary.new, summary.counts.duplicates) == (2, 1, 2)
    identity = answer(config, "cases")[0]["id"]
    told = answer(config, "explain", "--case", identity)
    assert told["original"]


def test_transcripts_that_have_moved_away_are_a_warning(config: Config) -> None:
    path = put(config.claude_dirs[0], "s1", talk("s1", PLAIN, MISSED))
    assert not [w for w in run(config).warnings if "no transcripts" in w]
    path.unlink()
    assert [w for w in run(config).warnings if "no transcripts" in w]
