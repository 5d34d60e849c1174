"""What lies in an excluded folder is never read, in whatever line it stands."""

from dataclasses import replace

import pytest

from pipeline.config import Config, load
from pipeline.errors import ConfigError
from tests.collect.homes import MISSED, PLAIN, put, reader, run, talk
from tests.transcripts.builders import calls, prompt, queue, result, says, text_block

PRIVATE = "/private/client"


def test_no_kind_of_line_tells_of_an_excluded_folder(config: Config) -> None:
    config = replace(config, exclude=("/private",))
    where = {"cwd": PRIVATE, "sessionId": "s1"}
    findings = {"status": "completed", "agentId": "a1", "agentType": "reviewer",
                "content": [text_block("The null check is missing.")]}  # fmt: skip
    put(
        config.claude_dirs[0],
        "s1",
        [
            prompt("u1", PLAIN, version="2.0.80", **where),
            says("u2", "You are right, I made a mistake, I should have asked.", "u1", **where),
            queue("enqueue", 3, MISSED, sessionId="s1"),
            queue("remove", 4, sessionId="s1"),
            calls("u5", "Agent", "u2", call="t1", **where),
            result("u6", "t1", [text_block("The null check is missing.")], parent="u5",
                   toolUseResult=findings, **where),
            *talk("s1", MISSED, cwd=PRIVATE, begin=7),
        ],
    )  # fmt: skip
    summary = run(config)
    assert (summary.turns, summary.by_source) == (0, {})
    with reader(config) as store:
        assert store.rows("SELECT count(*) FROM turns") == [(0,)]


@pytest.mark.parametrize("folder", ["private", "", "./x"])
def test_a_folder_that_would_exclude_nothing_is_refused(config: Config, folder: str) -> None:
    config.home.mkdir(parents=True, exist_ok=True)
    (config.home / "config.toml").write_text(f'exclude = ["{folder}"]\n', encoding="utf-8")
    with pytest.raises(ConfigError):
        load(config.home)


def test_a_line_without_a_folder_is_where_the_line_before_was(config: Config) -> None:
    config = replace(config, exclude=("/private",))
    first, second = prompt("u1", PLAIN, cwd=PRIVATE), prompt("u2", MISSED, cwd=None)
    put(config.claude_dirs[0], "s1", [first, second])
    assert run(config).turns == 0
