"""The words of the command line: help, options before and after, the original two lines, and
words that are none."""

import json
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.cli import main
from pipeline.commands.table import COMMANDS
from pipeline.config import Config
from pipeline.masking.inert import inert
from tests.collect.homes import MISSED, SAMPLE, cases, command, environment, put, run, talk
from tests.propose.raised import raise_, told_twice

BUILT = [command for command in COMMANDS.values() if command.module is not None]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(
    config: Config, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert COMMANDS[name].summary.split()[0] in shown
    if COMMANDS[name].module is not None:
        assert len(COMMANDS[name].examples) == 2
        assert all(example in shown for example in COMMANDS[name].examples)
        assert "--home DIR" in shown
    assert not config.home.exists()


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Config:
    """A home made from the sample for newcomers."""
    from tests.transcripts.builders import config as made

    top = tmp_path_factory.mktemp("sampled")
    config = replace(made(top), home=top / "home", claude_dirs=(SAMPLE,))
    assert command(config, "nightly").returncode == 0
    return config


EXAMPLES = [(c.name, example) for c in BUILT for example in c.examples]


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[e for _, e in EXAMPLES])
def test_each_example_works_as_it_is_printed(
    sampled: Config, tmp_path: Path, name: str, example: str
) -> None:
    """In a shell, from a folder with the files that the examples name."""
    config = replace(sampled, home=tmp_path / "home")
    shutil.copytree(sampled.home, config.home)
    (tmp_path / "bin").mkdir()
    (tmp_path / "work").mkdir()
    tool = tmp_path / "bin" / "twice-told"
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pipeline "$@"\n')
    crontab = tmp_path / "bin" / "crontab"
    crontab.write_text("#!/bin/sh\necho 'no crontab for you' >&2\nexit 1\n")
    for program in (tool, crontab):
        program.chmod(0o755)
    work = tmp_path / "work"
    subprocess.run(["git", "init", "-q", str(work)], check=True)
    (work / "messages.jsonl").write_text('{"id": 1, "text": "You forgot the tests"}\n')
    (work / "texts.jsonl").write_text('{"text": "write to jane@example.com"}\n')
    (work / "labelled.jsonl").write_text(
        '{"id": 1, "lang": "en", "text": "You forgot the tests", "label": "missed", "sure": 1}\n'
    )
    if name in ("accept", "reject", "retire"):
        shutil.rmtree(config.home)  # the sample's own proposal is about a folder that is not here
        with_a_proposal(config, tmp_path / "claude", work)
    if name == "retire":
        assert command(config, "accept", "1", "--as", "hook", "--yes").returncode == 0
    if name == "restore":
        assert command(config, "export", str(work / "cases.jsonl.gz")).returncode == 0
    path = environment(config)["PATH"]
    done = subprocess.run(
        ["/bin/sh", "-c", example],
        cwd=work,
        env=environment(config, PATH=f"{tool.parent}:{path}"),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    # The doctor has something to say: neither hook nor schedule is installed here. A review needs
    # somebody who presses keys.
    code = {"doctor": 1, "review": 2}.get(name, 0)
    assert done.returncode == code, (example, done.stderr)
    assert done.stdout or name in ("turns", "inject", "review"), example
    assert shlex.split(example)


def with_a_proposal(config: Config, root: Path, work: Path) -> None:
    """Number 1, about the folder in which the examples run."""
    told_twice(replace(config, claude_dirs=(root,)), root, work, MISSED, MISSED)
    raise_(config, repo=work.name)


def test_the_ids_in_the_examples_are_those_of_the_sample(sampled: Config) -> None:
    ids = {case.id for case in cases(sampled)}
    named = {w for _, e in EXAMPLES for w in e.split() if len(w) == 12 and w.isalnum()}
    assert {w for w in named if w[0].isdigit()} <= ids


GLOBAL = [
    ["--home", "HOME"],
    ["--claude-dir", "CLAUDE"],
    ["--json"],
    ["--no-color"],
    ["-q"],
    ["-v"],
    ["--yes"],
    ["--config", "CONFIG"],
]


@pytest.mark.parametrize("option", GLOBAL, ids=[option[0] for option in GLOBAL])
def test_options_for_all_stand_before_and_after_the_command(
    config: Config,
    root: Path,
    option: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    put(root, "s1", talk("s1", MISSED))
    run(config)
    (tmp_path / "c.toml").write_text('timezone = "UTC"\n')
    base = ["--home", str(config.home), "--claude-dir", str(root)]
    values = {"HOME": str(config.home), "CLAUDE": str(root), "CONFIG": str(tmp_path / "c.toml")}
    words = [values.get(word, word) for word in option]
    outputs = []
    for order in ([*words, "cases", *base], ["cases", *base, *words], [*base, "cases", *words]):
        assert main(order) == 0
        outputs.append(capsys.readouterr())
    assert outputs[0] == outputs[1] == outputs[2]
    assert MISSED in outputs[0].out


def test_folders_named_before_and_after_add_up(config: Config, tmp_path: Path) -> None:
    for name in ("a", "b"):
        put(tmp_path / name, name, talk(name, MISSED))
    words = ["--claude-dir", str(tmp_path / "a"), "collect", "--claude-dir", str(tmp_path / "b")]
    assert main(["--home", str(config.home), *words]) == 0
    assert sorted(case.session for case in cases(config)) == ["a", "b"]


@pytest.mark.parametrize(
    "words",
    [
        ["--days", "4", "--llm", "--propose"],
        ["--home", "cases", "--days", "4"],
        ["--days", "4", "-q", "--json"],
    ],
)
def test_the_original_line_that_collects(
    config: Config, root: Path, words: list[str], tmp_path: Path
) -> None:
    """What is not built yet says so after the collecting is done."""
    put(root, "s1", talk("s1", MISSED))
    done = subprocess.run(
        [sys.executable, "-m", "pipeline", *words],
        env=environment(config),
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    home = replace(config, home=tmp_path / "cases") if "cases" in words else config
    assert [case.text for case in cases(home)] == [MISSED]
    assert done.returncode == 0 or (done.returncode == 3 and "not built yet" in done.stderr)


SHOWS = [
    ["--show", "loom/missed-item"],
    ["--show=loom/missed-item"],
    ["--show", "loom/missed-item", "--full"],
    ["-q", "--show", "loom/missed-item"],
    ["show", "loom/missed-item"],
]


@pytest.mark.parametrize("words", SHOWS, ids=[" ".join(words) for words in SHOWS])
def test_the_original_line_that_shows(config: Config, root: Path, words: list[str]) -> None:
    put(root, "s1", talk("s1", MISSED))
    run(config)
    done = command(config, *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert MISSED in done.stdout
    assert cases(config)[0].id in done.stdout


def test_a_repository_may_be_called_like_a_command(config: Config, root: Path) -> None:
    put(root, "s1", talk("s1", MISSED, cwd="/home/dev/report"))
    run(config)
    assert MISSED in command(config, "--show", "report").stdout


# Words that are none

HOSTILE = [
    "../../etc/passwd",
    "/etc/passwd",
    "..",
    "loom/../missed-item",
    "loom/missed-item/x",
    "loom/mistake",
    "loom\n",
    "loom\x00/missed-item",
    "\x1b]52;c;aGk=\x07",
    "\x1b[2J",
    "\u202eloom",
    "loom/\u009b31m",
    "'; DROP TABLE cases; --",
    "$(touch x)",
    "%s%n",
    "a" * 5000,
    "-" + "a" * 5000,
    "",
    " ",
    "~",
    "LOOM",
    "lo*m",
    "\udcff",
]
PLACES = [
    ["show"], ["dismiss"], ["forget", "--yes"], ["explain", "--case"], ["retype", "--"],
    ["accept"], ["retire"], ["reject", "--reason", "wrong"],
]  # fmt: skip


def refuse(config: Config, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(path.name for path in config.home.rglob("*"))
    assert main(["--home", str(config.home), *words]) == 2, words
    shown = capsys.readouterr()
    assert shown.out == ""
    assert inert(shown.err) == shown.err, "what a terminal obeys is not echoed"
    assert len(shown.err) < 3000
    assert sorted(path.name for path in config.home.rglob("*")) == before


@pytest.mark.parametrize("place", PLACES, ids=[place[0] for place in PLACES])
@pytest.mark.parametrize("word", HOSTILE, ids=[ascii(word)[:24] for word in HOSTILE])
def test_a_hostile_bundle_or_id_is_a_usage_error(
    config: Config, place: list[str], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["other"] if place[0] == "retype" else []
    refuse(config, [*place, word, *more], capsys)


@given(word=st.text(max_size=40).filter(lambda w: not w.startswith("-")))
@settings(max_examples=40)
def test_no_words_at_all_reach_a_path(word: str) -> None:
    from pipeline.commands.lookup import one_case
    from pipeline.commands.show import parse_bundle
    from pipeline.errors import UsageError

    try:
        wanted = parse_bundle(word, hidden=False)
        assert wanted.repo == word.partition("/")[0]
        assert set(wanted.repo) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-")
    except UsageError as error:
        assert len(word) < 4 or word not in error.message
    with pytest.raises(UsageError):
        one_case(None, word)


STRANGE = [
    ["show", "loom", "\x1b[31mtwo"],
    ["--\x1b]0;x\x07"],
    ["cases", "--type", "\x1b[2J"],
    ["collect", "--days", "\x9b2J"],
    ["collect", "--since", "\x1b[2J"],
    ["\x1b[2J"],
    ["cases", "--quer\x1by", "x"],
]


@pytest.mark.parametrize("words", STRANGE, ids=[ascii(words)[:40] for words in STRANGE])
def test_no_error_of_the_parser_echoes_controls(
    config: Config, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    refuse(config, words, capsys)


@pytest.mark.parametrize(
    "words", [["cases", "--query"], ["cases", "--repo"], ["turns", "--session"], ["explain"]]
)
def test_words_that_are_no_utf_8_are_no_bug(config: Config, root: Path, words: list[str]) -> None:
    put(root, "s1", talk("s1", MISSED))
    run(config)
    done = subprocess.run(
        [sys.executable.encode(), b"-m", b"pipeline", *[w.encode() for w in words], b"\xff\xfe no"],
        env=environment(config),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("words", [["explain", "-"], ["classify"], ["mask"], ["mask", "--jsonl"]])
@pytest.mark.parametrize("data", [b"\xff\xfe\n", b"", b"\n\n", b"[]\n{}\nnull\n" + b"[" * 9000])
def test_input_that_is_no_text_is_no_bug(config: Config, words: list[str], data: bytes) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pipeline", *words],
        input=data,
        env=environment(config, LC_ALL="C.UTF-8"),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr


def test_a_line_that_is_no_message_keeps_its_place_and_id(config: Config) -> None:
    done = command(config, "classify", stdin='{"id": "a", "words": "x"}\n[1]\n')
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == ["a", None]
    done = command(config, "mask", "--jsonl", stdin='{"text": 5}\n{"text": "hi"}\n')
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [a["found"] for a in answers] == [["not-a-line"], []]


def test_the_main_job_shows_a_newcomer_the_sample(config: Config) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pipeline.demo"],
        env=environment(config),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "made-up sample" in done.stdout
    assert "You forgot the currency symbol again." in done.stdout
    assert "proposals: raised 1" in done.stdout
    assert not config.home.exists()


def test_the_main_job_uses_the_own_logs_where_there_are_some(config: Config, root: Path) -> None:
    put(root, "s1", talk("s1", MISSED))
    done = subprocess.run(
        [sys.executable, "-m", "pipeline.demo"],
        env=environment(config),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0
    assert "sample" not in done.stdout
    assert [case.text for case in cases(config)] == [MISSED]
