"""What `explain` and `classify` say of a verdict: rule, span, exclusions, blanks, and the place."""

import json
from pathlib import Path

import pytest

from pipeline.config import Config
from tests.collect.homes import PLAIN, VIOLATED, answer, cases, command, put, run, talk

EXCLUDED = "네 맞아, 그게 아니라 파일이 잘못됐어"
QUOTED = 'I told you not to push `origin/main` "as it is".'


def test_a_text_in_json(config: Config) -> None:
    trace = answer(config, "explain", VIOLATED)["trace"]
    assert (trace["verdict"], trace["decided"], trace["why"]) == (
        "violated-instruction",
        True,
        "rule",
    )
    (decided,) = [a for a in trace["attempts"] if a["rule_id"] == trace["rule_id"]]
    begin, end = trace["span"]
    assert decided["span"] == [begin, end]
    assert VIOLATED[begin:end] == decided["words"] == "I told you not to"[: end - begin]
    assert decided["stopped_by"] is None
    assert "en.exclude.own-slip" in decided["exclusions_tried"]
    assert trace["sentences"] == [{"lang": "en", "text": VIOLATED}]


def test_a_text_on_the_screen(config: Config) -> None:
    trace = answer(config, "explain", EXCLUDED)["trace"]
    assert (trace["verdict"], trace["why"]) == (None, "excluded")
    printed = command(config, "explain", EXCLUDED).stdout
    for attempt in trace["attempts"]:
        begin, end = attempt["span"]
        assert (
            f"{attempt['rule_id']} matches {begin}–{end} “{EXCLUDED[begin:end]}”:"
            f" stopped by {attempt['stopped_by']}"
        ) in printed
        assert attempt["exclusions_tried"][-1] == attempt["stopped_by"]
        assert f"exclusions tried: {', '.join(attempt['exclusions_tried'])}" in printed


def test_what_was_blanked_is_named(config: Config) -> None:
    blanked = answer(config, "explain", QUOTED)["trace"]["blanked"]
    assert blanked
    printed = command(config, "explain", QUOTED).stdout
    for blank in blanked:
        begin, end = blank["span"]
        assert "origin/main" in QUOTED[begin:end] or "as it is" in QUOTED[begin:end]
        assert f"left out of the search: {blank['what']} at {begin}–{end}" in printed


def test_a_case_names_file_and_line_and_what_was_done(config: Config, root: Path) -> None:
    path = put(root, "s1", talk("s1", PLAIN, VIOLATED))
    run(config)
    (case,) = cases(config)
    number = next(
        n for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if VIOLATED in line
    )  # fmt: skip
    found = answer(config, "explain", "--case", case.id)
    assert (found["id"], found["original"]) == (case.id, f"{path}:{number}")
    assert found["where"]["line"] == number
    assert found["trace"]["rule_id"] == case.rule_id
    printed = command(config, "explain", "--case", case.id[:6]).stdout
    assert f"stands in {path}:{number}" in printed
    command(config, "retype", case.id, "wrong-result")
    *_, last = answer(config, "explain", "--case", case.id)["history"]
    assert (last["by"], last["type"]) == ("person", "wrong-result")


def test_a_case_whose_transcript_is_gone(config: Config, root: Path) -> None:
    path = put(root, "s1", talk("s1", PLAIN, VIOLATED))
    run(config)
    (case,) = cases(config)
    path.unlink()
    found = answer(config, "explain", "--case", case.id)
    assert (found["original"], found["trace"]["rule_id"]) == (None, case.rule_id)
    printed = command(config, "explain", "--case", case.id).stdout
    assert f"line {case.number} of a transcript that is gone" in printed


@pytest.mark.parametrize("words", [("explain", VIOLATED), ("classify",)])
def test_the_language_can_be_forced(config: Config, words: tuple[str, ...]) -> None:
    done = command(config, *words, "--lang", "ja", stdin=json.dumps({"id": 1, "text": VIOLATED}))
    assert done.returncode == 0, done.stderr
    assert "en.violated-instruction" not in done.stdout
    free = command(config, *words, stdin=json.dumps({"id": 1, "text": VIOLATED}))
    assert "en.violated-instruction" in free.stdout


def test_classify_line_by_line(config: Config) -> None:
    asked = [
        {"id": "a", "text": VIOLATED, "colour": "red"},
        {"id": 2, "text": EXCLUDED},
        {"id": "c", "text": PLAIN},
        {"id": "d", "text": "Why did you rename the lantern?"},
    ]
    done = command(config, "classify", stdin="".join(f"{json.dumps(a)}\n" for a in asked))
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["id"] for row in found] == ["a", 2, "c", "d"]
    assert [set(row) for row in found] == [
        {"id", "type", "rule_id", "decided", "excluded_by", "lang"}
    ] * 4
    assert [(row["type"], row["decided"], row["lang"]) for row in found] == [
        ("violated-instruction", True, "en"),
        (None, False, "ko"),
        (None, False, "en"),
        ("other", False, "en"),
    ]
    assert found[0]["rule_id"].startswith("en.violated-instruction.")
    assert found[1]["rule_id"] is None
    assert found[1]["excluded_by"].startswith("ko.exclude.")
    assert [row["excluded_by"] for row in found[::2]] == [None, None]
