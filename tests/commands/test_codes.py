"""Exit codes, one meaning each, and what goes to which stream."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.cli import main
from pipeline.commands.writing import writing
from pipeline.config import Config
from tests.collect.homes import (
    MISSED,
    PLAIN,
    SAMPLE,
    TOP,
    answer,
    command,
    driver,
    environment,
    everywhere,
    put,
    run,
    talk,
)

SAYS = "You forgot the quokka paragraph."


@pytest.fixture
def told(config: Config, root: Path) -> Config:
    put(root, "s1", talk("s1", PLAIN, SAYS))
    run(config)
    return config


BROKEN_PACK = 'format = 1\nlanguage = "en"\nfamily = "missed-item"\n[[rule]]\nid = "en.nothing"\n'
CODES = [
    ("nothing said", [], 0),
    ("version", ["--version"], 0),
    ("help", ["--help"], 0),
    ("collect", ["collect"], 0),
    ("cases", ["cases"], 0),
    ("show of nothing", ["show", "nowhere"], 0),
    ("unknown command", ["weave"], 2),
    ("doctor with words", ["doctor", "now"], 2),
    ("unknown flag", ["show", "--loud"], 2),
    ("unknown type", ["cases", "--type", "mistake"], 2),
    ("no date", ["cases", "--since", "yesterday"], 2),
    ("crossed dates", ["collect", "--since", "2026-03-02", "--until", "2026-03-01"], 2),
    ("two windows", ["collect", "--days", "3", "--since", "2026-03-01"], 2),
    ("no days", ["collect", "--days", "0"], 2),
    ("no jobs", ["collect", "--jobs", "0"], 2),
    ("negative limit", ["show", "loom", "--limit", "-1"], 2),
    ("no bundle", ["show", "../etc"], 2),
    ("unknown id", ["dismiss", "ffffffffffff"], 2),
    ("no id", ["dismiss", "XYZ"], 2),
    ("neither id nor all", ["forget"], 2),
    ("both id and all", ["forget", "--all", "ffffffffffff"], 2),
    ("neither text nor case", ["explain"], 2),
    ("eval without file", ["rules", "eval"], 2),
    ("list with file", ["rules", "list", "x"], 2),
    ("missing config", ["cases", "--config", "/nowhere/config.toml"], 3),
    ("missing export", ["restore", "/nowhere/x.gz"], 3),
    ("export to nowhere", ["export", "/nowhere/x.gz"], 3),
    ("eval of nothing", ["rules", "eval", "/nowhere/x.jsonl"], 2),
    ("unknown user", ["cases", "--home", "~nobody-of-this-name/x"], 3),
    ("proposals", ["proposals", "--all"], 0),
    ("no such proposal to show", ["show", "99"], 2),
    ("collect and propose", ["collect", "--propose"], 0),
    ("not built yet", ["report"], 3),
    ("not built yet, with its options", ["report", "-o", "x.html"], 3),
    ("no such proposal", ["accept", "3"], 2),
    ("no such proposal, with options", ["accept", "3", "--target", "CLAUDE.md"], 2),
    ("no proposal to drop", ["reject", "3", "--reason", "wrong"], 2),
    ("no rule to take out", ["retire", "3"], 2),
    ("no reason", ["reject", "3"], 2),
    ("no number", ["retire", "all"], 2),
    ("review without a terminal", ["review"], 2),
    ("export into a pipe", ["export", "-"], 2),
    ("judge without a backend", ["nightly", "--llm"], 0),
    ("judge cost", ["judge", "cost"], 0),
    ("judge without a word", ["judge"], 2),
    ("judge eval without file", ["judge", "eval"], 2),
    ("judge eval of nothing", ["judge", "eval", "/nowhere/x.jsonl"], 2),
    ("judge cost with file", ["judge", "cost", "x"], 2),
    ("ledger verify", ["ledger", "verify"], 0),
    ("ledger log", ["ledger", "log"], 0),
    ("ledger without a word", ["ledger"], 2),
    ("verify with a number", ["ledger", "verify", "3"], 2),
    ("log of no proposal", ["ledger", "log", "3"], 2),
    ("init without a folder", ["init"], 2),
    ("init outside of git", ["init", "/"], 3),
    ("init in nothing", ["init", "/dev/null/x"], 3),
    ("init in a long name", ["init", "x" * 5000], 3),
    ("init in no path", ["init", "a\0b"], 2),
]


@pytest.mark.parametrize(("words", "code"), [c[1:] for c in CODES], ids=[c[0] for c in CODES])
def test_each_code_has_its_meaning(
    told: Config, words: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    before = ["--home", str(told.home), "--claude-dir", str(told.claude_dirs[0])]
    assert main([*before, *words]) == code
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    assert SAYS not in err
    if code:
        assert out == ""
        assert err.startswith(("usage:", "twice-told:"))
        assert len(err.splitlines()) < 12
    if code == 3:
        assert err.count("  next: ") == 1


def test_a_broken_pack_of_the_users_stops_every_command_that_needs_rules(told: Config) -> None:
    """Half a rule set gives wrong numbers."""
    pack = told.home / "rules" / "en" / "missed-item.toml"
    pack.parent.mkdir(parents=True)
    pack.write_text(BROKEN_PACK)
    for words in (["rules", "check"], ["collect"], ["rules", "list"], ["explain", "no"]):
        done = command(told, *words)
        assert (done.returncode, done.stdout) == (3, ""), words
        assert "missed-item.toml" in done.stderr
    assert command(told, "cases").returncode == 0


def test_an_unsound_pack_is_a_finding_of_the_check(told: Config) -> None:
    pack = told.home / "rules" / "en" / "missed-item.toml"
    pack.parent.mkdir(parents=True)
    shipped = (TOP / "rules" / "en" / "missed-item.toml").read_text(encoding="utf-8")
    rule = BROKEN_PACK.partition("[[rule]]")[1] + (
        '\nid = "en.missed-item.zorp"\nstatus = "active"\nsummary = "Made up."\n'
        "keywords = [\"zorp\"]\npattern = '''\\bzorp\\b'''\n"
        'match = [{ text = "It is zorp.", span = "zorp" }, { text = "no such", span = "no" }]\n'
        'reject = [{ text = "zorping", because = "x" }, { text = "zorps", because = "y" }]\n'
    )
    pack.write_text(f"{shipped}\n{rule}", encoding="utf-8")
    done = command(told, "rules", "check")
    assert done.returncode == 1, done
    assert "en.missed-item.zorp" in done.stdout


BUG = """
import json, sys
def broken(*words, **more): raise ZeroDivisionError("You forgot the quokka paragraph.")
from pipeline.cli import main
json.dumps = broken
sys.exit(main(["cases", "--json"]))
"""


def test_a_bug_gives_one_line_and_a_dated_log_without_words(told: Config) -> None:
    process = driver(told, BUG)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (4, "")
    assert len(err.splitlines()) == 1
    assert "ZeroDivisionError" in err
    (log,) = (told.local_cases / "runs").glob("crash-20*.log")
    assert str(log) in err
    assert log.stat().st_mode & 0o777 == 0o600
    assert "ZeroDivisionError" in log.read_text()
    assert "screen.py" in log.read_text()
    assert "quokka" not in err + log.read_text()


def test_an_interrupt_ends_with_130(config: Config, root: Path) -> None:
    for number in range(300):
        put(root, f"s{number}", talk(f"s{number}", PLAIN, SAYS))
    process = subprocess.Popen(
        [sys.executable, "-m", "pipeline", "collect"],
        env=environment(config),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    deadline = time.monotonic() + 20
    while not (config.local_cases / "lock").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, ""), err
    assert err.startswith("twice-told: stopped")
    assert command(config, "collect").returncode == 0


SLOW_QUERY = "SELECT count(*) FROM range(10000000) a, range(10000000) b"


def test_an_interrupt_in_a_query_ends_as_an_interrupt(told: Config) -> None:
    with pytest.raises(KeyboardInterrupt), writing(told) as store, store.transaction():
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        store.rows(SLOW_QUERY)
    assert command(told, "collect").returncode == 0


@pytest.mark.parametrize("words", ["mask", "mask --jsonl", "classify", "explain -"])
def test_closed_input_is_a_usage_error(config: Config, words: str) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f'"{sys.executable}" -m pipeline {words} <&-'],
        env=environment(config),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "next: " in done.stderr


@pytest.mark.parametrize("words", [["cases"], ["cases", "--json"], ["--help"], ["rules", "list"]])
def test_a_closed_pipe_is_no_error(told: Config, words: list[str]) -> None:
    """As in `twice-told cases | head -1`, also when the output is small."""
    ends = os.pipe()
    os.close(ends[0])
    done = subprocess.run(
        [sys.executable, "-m", "pipeline", *words],
        env=environment(told),
        stdout=ends[1],
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(ends[1])
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full device")
def test_output_that_cannot_be_written_is_a_known_error(told: Config) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pipeline", "cases"],
            env=environment(told),
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            check=False,
        )
    assert done.returncode == 3
    assert "cannot write the output" in done.stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [(["show", "../etc"], 2), (["weave"], 2), (["ledger", "log", "3"], 2), (["cases"], 0)],
    ids=lambda value: str(value),
)
def test_talk_that_nobody_takes_leaves_the_code_as_it_is(
    told: Config, words: list[str], code: int
) -> None:
    ends = os.pipe()
    os.close(ends[0])
    with Path("/dev/full").open("wb") as full, os.fdopen(ends[1], "wb") as gone:
        for stderr in (full, gone):
            done = subprocess.run(
                [sys.executable, "-m", "pipeline", *words],
                env=environment(told),
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                check=False,
            )
            assert done.returncode == code


def test_closed_streams_are_no_bug(told: Config) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f'"{sys.executable}" -m pipeline cases >&- 2>&-'],
        env=environment(told),
        check=False,
    )
    assert done.returncode == 0


# The two streams


def test_data_goes_to_stdout_and_talk_to_stderr(config: Config, told: Config) -> None:
    empty = replace(config, home=config.home.with_name("empty"))
    for words in (["show"], ["stats"], ["show", "loom"]):
        done = command(empty, *words)
        assert (done.returncode, done.stdout) == (0, "")
        assert "twice-told collect" in done.stderr
        assert command(empty, *words, "-q").stderr == ""
    assert command(empty, "collect", "--claude-dir", "/nowhere", "-q").stderr == ""
    done = command(told, "cases")
    assert (done.stdout.count("\n"), done.stderr) == (1, "")


def test_quiet_still_warns_and_still_fails_loudly(config: Config, root: Path) -> None:
    target = put(root, "s1", talk("s1", MISSED))
    (target.parent / "s2.jsonl").symlink_to(target)
    assert "warning: " in command(config, "collect", "-q").stderr
    assert command(config, "dismiss", "ffffffffffff", "-q").stderr.startswith("twice-told: ")


def test_a_run_is_silent_in_a_pipe(config: Config, root: Path) -> None:
    put(root, "s1", talk("s1", MISSED))
    done = command(config, "collect")
    assert done.stderr == ""
    assert "\x1b" not in done.stdout


def test_without_a_locale_the_output_is_utf_8(config: Config) -> None:
    config = replace(config, claude_dirs=(SAMPLE,))
    run(config)
    bare = {
        k: v
        for k, v in environment(config).items()
        if k.startswith(("TWICE", "CLAUDE", "PYTHONPATH"))
    }
    for words in (["cases"], ["cases", "--json"], ["show", "docs-site"]):
        done = subprocess.run(
            [sys.executable, "-m", "pipeline", *words],
            env=bare | {"LANG": "C", "LC_ALL": "C"},
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert "윈도우 설명이 빠졌어" in done.stdout.decode("utf-8")


def test_logs_and_arguments_hold_no_words(config: Config, root: Path) -> None:
    """Only the store and the export hold what was said; git is asked about folders, not words."""
    put(root, "s1", talk("s1", PLAIN, SAYS))
    code = (
        "import subprocess, sys\n"
        "inner = subprocess.Popen.__init__\n"
        "def noted(self, args, *rest, **more):\n"
        "    sys.stderr.write('ARGS ' + repr(args) + '\\n')\n"
        "    inner(self, args, *rest, **more)\n"
        "subprocess.Popen.__init__ = noted\n"
        "from pipeline.cli import main\n"
        "sys.exit(main(['nightly']))\n"
    )
    process = driver(config, code)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "quokka" not in err
    assert set(everywhere(config.home / "local_cases" / "runs", "quokka")) == set()
    assert len(everywhere(config.home, "quokka")) == 2


# --json and --dry-run

CASE = {
    "id", "at", "day", "session", "repo", "type", "source", "state", "decided_by", "rule_id",
    "text", "action", "kind",
}  # fmt: skip
RUN = {
    "files", "bytes_read", "lines", "human_lines", "not_human", "state", "skipped", "pending_tail",
    "turns", "no_case", "duplicates", "withdrawn", "cases", "judge", "proposals", "seconds",
    "peak_rss_mb", "warnings",
}  # fmt: skip
TURN = {"uuid", "session", "at", "repo", "kind", "text"}
DOCUMENTS = [
    (["cases"], CASE),
    (["show", "loom"], CASE),
    (["show"], {"repo", "type", "cases", "sessions", "days", "last", "first"}),
    (["turns"], TURN),
    (["collect"], RUN),
    (["nightly"], RUN),
    (["status"], {"at"} | RUN),
    (["stats"], {"totals", "cases", "weeks", "rules", "proposals", "effects"}),
    (["explain", "You forgot it"], {"trace"}),
    (["rules", "list"], {"id", "type", "status"}),
    (["judge", "cost"], {"spent", "total_usd", "under_way", "waiting"}),
]


@pytest.mark.parametrize(("words", "keys"), DOCUMENTS, ids=[" ".join(d[0]) for d in DOCUMENTS])
def test_json_is_one_document_with_the_keys_of_the_contract(
    told: Config, words: list[str], keys: set[str]
) -> None:
    command(told, "collect")
    document = answer(told, *words)
    items = document if isinstance(document, list) else [document]
    assert items
    assert all(keys <= item.keys() for item in items)
    if keys is CASE:
        assert items[0]["action"].keys() == {"tool", "gist"}
        assert items[0]["text"] == SAYS
        assert items[0]["at"].endswith("Z")
    if keys is RUN:
        assert items[0]["cases"].keys() == {"new", "known", "by_type", "by_source"}


def test_json_of_an_empty_home_is_json_too(config: Config) -> None:
    empty = (["cases"], ["show"], ["show", "loom"], ["turns"], ["status"])
    for words in (*empty, ["proposals", "--all"]):
        assert answer(config, *words) in ([], None)
    assert not (config.home / "local_cases").exists(), "reading makes nothing"


def test_the_figures_of_an_empty_home_have_the_shape_of_all(told: Config, config: Config) -> None:
    other = replace(config, home=config.home.with_name("empty"))
    empty = answer(other, "stats")
    assert not other.home.exists(), "reading makes nothing"
    full = answer(told, "stats")
    assert empty.keys() == full.keys()
    for name in ("totals", "cases", "shown", "proposals"):
        assert empty[name].keys() == full[name].keys()
    assert empty["totals"] == {"turns": 0, "sessions": 0, "cases": 0, "files": 0}
    assert empty["weeks"] == empty["rules"] == []


def test_a_week_without_corrections_has_a_rate(config: Config, root: Path) -> None:
    put(root, "s1", talk("s1", PLAIN))
    run(config)
    (week,) = [line for line in command(config, "stats").stdout.splitlines() if "2026-" in line]
    assert week.split("\t") == ["2026-03-02", "1", "0", "0.0"]


def test_a_dry_run_in_json_has_the_shape_of_the_run(told: Config, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl.gz"
    planned = answer(told, "export", str(file), "--dry-run")
    assert not file.exists()
    assert answer(told, "export", str(file)) == planned
    assert answer(told, "restore", str(file), "--dry-run") == {"cases": 1, "set_aside": []}


def test_a_record_of_a_run_that_nests_too_deep_is_damaged(told: Config) -> None:
    command(told, "collect")
    (told.local_cases / "runs" / "last_run.json").write_text("[" * 100_000)
    done = command(told, "status")
    assert (done.returncode, done.stdout) == (3, "")
    assert "damaged" in done.stderr


def test_all_turns_tell_their_reason(told: Config) -> None:
    said = answer(told, "turns", "--all")
    assert {item["human"] for item in said} == {True, False}
    assert all(item["human"] == ("reason" not in item) for item in said)


def snapshot(home: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(home)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in home.rglob("*")
        if path.is_file()
    }


DRY = [
    ["collect"],
    ["collect", "--rebuild"],
    ["nightly"],
    ["nightly", "--llm"],
    ["collect", "--propose", "--until", "2026-03-08"],
    ["dismiss", "ID"],
    ["retype", "ID", "other"],
    ["forget", "ID"],
    ["forget", "--all"],
    ["export", "OUT"],
    ["restore", "EXPORT"],
    ["ledger", "verify"],
]


@pytest.mark.parametrize("words", DRY, ids=[" ".join(words) for words in DRY])
def test_a_dry_run_writes_nothing(
    told: Config, root: Path, words: list[str], tmp_path: Path
) -> None:
    command(told, "nightly")
    put(root, "s2", talk("s2", MISSED))
    places = {
        "ID": answer(told, "cases")[0]["id"],
        "OUT": str(tmp_path / "out.gz"),
        "EXPORT": str(max((told.local_cases / "exports").iterdir())),
    }
    before = snapshot(told.home)
    done = command(told, *[places.get(word, word) for word in words], "--dry-run")
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert snapshot(told.home) == before
    assert not (tmp_path / "out.gz").exists()


def test_a_dry_run_of_a_first_night_makes_no_home(config: Config, root: Path) -> None:
    put(root, "s1", talk("s1", MISSED))
    assert json.loads(command(config, "nightly", "--dry-run", "--json").stdout)["files"] == {
        "seen": 1, "read": 0, "unchanged": 0, "to_read": 1,
    }  # fmt: skip
    assert not config.home.exists()
