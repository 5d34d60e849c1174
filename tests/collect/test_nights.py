"""Night after night: what grew, forked, shrank or vanished ends where one clean run ends."""

import os
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from pipeline.cases import read
from pipeline.collect.turns import all_turns
from pipeline.config import Config
from tests.collect.homes import (
    MISSED,
    PLAIN,
    TOP,
    VIOLATED,
    cases,
    forked,
    live,
    put,
    reader,
    run,
    state,
    talk,
    texts,
)
from tests.transcripts.builders import Record, at, dump, prompt, says
from tests.transcripts.builders import config as settings_for

SAID = (PLAIN, MISSED, VIOLATED, "looks good, go on", "You forgot the footer as well.")


def withdrawn(session: str, begin: int) -> list[Record]:
    """A prompt pulled back at once: the next one hangs below the same line, nothing answers it."""
    parent = f"{session}-a{begin - 1}" if begin else None
    common = {"sessionId": session}
    return [
        prompt(f"{session}-w{begin}", MISSED, parent, timestamp=at(60 * begin + 5), **common),
        *talk(session, VIOLATED, begin=begin),
    ]


def agrees(config: Config) -> None:
    """The store and a fresh look at all transcripts tell the same turns and sessions."""
    said = list(all_turns(config))
    assert Counter(turn.uuid for turn in said) == live(config)
    sessions = {turn.uuid: turn.session for turn in said}
    with reader(config) as store:
        pairs = store.rows("SELECT key, session FROM cases WHERE source = 'human'")
    assert {sessions[key.rpartition(":")[0]] for key, _ in pairs} == {s for _, s in pairs}


# Growth in any cuts


@st.composite
def archives(draw: st.DrawFn) -> dict[str, list[Record]]:
    """Some sessions, forks of them and forks of forks; a fork begins with a line of its own."""
    files: dict[str, list[Record]] = {}
    for number in range(draw(st.integers(1, 3))):
        name = f"s{number}"
        words = draw(st.lists(st.sampled_from(SAID), min_size=1, max_size=4))
        files[name] = talk(name, *words, seconds=10_000 * number)
        if draw(st.booleans()):
            files[name] += withdrawn(name, len(words))
    for number in range(draw(st.integers(0, 3))):
        origin = draw(st.sampled_from(sorted(files)))
        name = draw(st.sampled_from("abz")) + f"{number}-fork"
        copied = files[origin][: 2 * draw(st.integers(1, len(files[origin]) // 2))]
        words = draw(st.lists(st.sampled_from(SAID), min_size=1, max_size=2))
        own = talk(name, *words, seconds=90_000 + 1000 * number)
        files[name] = [*forked(copied, name), *own]
    return files


# No shrinking: every example is a dozen real runs, and the sessions are small as they are.
@given(archives(), st.randoms(use_true_random=False))
@settings(max_examples=6, phases=(Phase.generate,))
def test_growth_in_random_cuts_ends_like_one_clean_run(
    files: dict[str, list[Record]], chance: random.Random
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        config = settings_for(top / "claude", home=top / "grown")
        whole = {name: dump(*records) for name, records in files.items()}
        for _ in range(chance.randint(1, 3)):
            for name in chance.sample(sorted(whole), chance.randint(1, len(whole))):
                put(top / "claude", name, [whole[name][: chance.randint(0, len(whole[name]))]])
            run(config, rebuild=chance.random() < 0.2)
        for name in chance.sample(sorted(whole), len(whole)):
            put(top / "claude", name, [whole[name]])
            if chance.random() < 0.3:
                run(config)
        run(config)
        agrees(config)
        clean = replace(config, home=top / "clean")
        run(clean)
        assert state(config) == state(clean)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_file_that_grows_by_single_bytes_gives_each_case_once(
    config: Config, root: Path, jobs: int
) -> None:
    """A line that was cut anywhere counts as unfinished and is read again as soon as it ends."""
    line = dump(talk("s1", MISSED)[0])
    path = put(root, "s1", [line[:1]])
    for end in (2, len(line) // 2, len(line) - 2, len(line) - 1, len(line)):
        path.write_bytes(line[:end])
        done = run(config, jobs=jobs)
        assert done.counts.pending_tail == (end < len(line) - 1)
    assert texts(config) == [MISSED]


def test_what_is_written_during_the_reading_is_read_next_time(config: Config, root: Path) -> None:
    """The record keeps what the directory said before the file was opened."""
    path = put(root, "s1", talk("s1", MISSED))
    inner = os.open

    def growing(name: str, *rest: int, **more: int) -> int:
        if os.fsdecode(name) == str(path) and path.stat().st_size < 5000:
            with path.open("ab") as handle:
                handle.write(dump(*talk("s1", VIOLATED, begin=1)) + b" " * 5000 + b"\n")
        return inner(name, *rest, **more)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "open", growing)
        run(config)
    assert texts(config) == [MISSED]
    run(config)
    assert texts(config) == sorted([MISSED, VIOLATED])


# Cases outlive their transcripts


def cut(path: Path) -> None:
    path.write_bytes(dump(*talk("s1", PLAIN)))


def same_size(path: Path) -> None:
    other = dump(*talk("s9", "You forgot the docs for the parser."))
    path.write_bytes(other.ljust(path.stat().st_size - 1) + b"\n")


def renewed(path: Path) -> None:
    data = dump(*talk("s9", VIOLATED))
    path.unlink()
    path.write_bytes(data)


VANISHING: dict[str, Callable[[Path], None]] = {
    "deleted": Path.unlink,
    "emptied": lambda path: path.write_bytes(b"") and None,
    "truncated": cut,
    "replaced by another of its size": same_size,
    "recreated, perhaps with its inode": renewed,
    "turned into a folder": lambda path: (path.unlink(), path.mkdir()) and None,
    "folder deleted": lambda path: shutil.rmtree(path.parents[1]),
}


@pytest.mark.parametrize("vanish", VANISHING.values(), ids=VANISHING)
def test_cases_stay_when_their_lines_vanish(
    config: Config, root: Path, vanish: Callable[[Path], None]
) -> None:
    """Claude Code deletes transcripts after 30 days; what was found in them is kept (S3.26)."""
    path = put(root, "s1", talk("s1", PLAIN, MISSED, VIOLATED))
    run(config)
    before = {case.id: case.text for case in cases(config)}
    assert len(before) == 2
    vanish(path)
    for _ in range(2):
        run(config)
        assert before.items() <= {case.id: case.text for case in cases(config)}.items()
    run(config, rebuild=True)
    assert before.items() <= {case.id: case.text for case in cases(config)}.items()


def test_a_transcript_that_comes_back_doubles_nothing(config: Config, root: Path) -> None:
    path = put(root, "s1", talk("s1", PLAIN, MISSED))
    run(config)
    before = state(config)
    data = path.read_bytes()
    path.unlink()
    run(config)
    path.write_bytes(data)
    run(config)
    assert state(config) == before


def test_a_moved_transcript_doubles_nothing(config: Config, root: Path) -> None:
    path = put(root, "s1", talk("s1", PLAIN, MISSED))
    run(config)
    path.rename(path.with_name("s1-moved.jsonl"))
    run(config)
    assert texts(config) == [MISSED]


def test_a_damaged_file_record_makes_the_file_be_read_again(config: Config, root: Path) -> None:
    """Whatever stands in a record, at worst a file is read once more."""
    from pipeline.commands.writing import writing

    put(root, "s1", talk("s1", PLAIN, MISSED))
    run(config)
    before = state(config)
    with writing(config) as store:
        store.rows("UPDATE files SET size = 0, inode = 0, mtime_ns = -1, settings = 'x'")
    assert run(config).files["read"] == 1
    assert state(config) == before


# Taken back later


def test_a_prompt_withdrawn_on_a_later_night_takes_its_case_along(
    config: Config, root: Path
) -> None:
    first = talk("s1", PLAIN)
    late = prompt("s1-w1", MISSED, "s1-a0", sessionId="s1", timestamp=at(70))
    put(root, "s1", [*first, late])
    run(config)
    put(root, "s1", [*first, late, *talk("s1", VIOLATED, begin=1)])
    done = run(config)
    assert texts(config) == [VIOLATED]
    assert done.withdrawn == 1
    agrees(config)


def test_an_answer_in_a_fork_saves_a_prompt_left_in_the_original(
    config: Config, root: Path
) -> None:
    """The strongest word of any file counts, in whichever order they are read."""
    first = talk("s1", PLAIN)
    asked = talk("s1", MISSED, begin=1)
    put(root, "s1", [*first, asked[0], *talk("s1", "something else", begin=1)[:0]])
    put(root, "a-fork", [*forked([*first, *asked], "a-fork"), *talk("a-fork", PLAIN, seconds=999)])
    run(config)
    assert texts(config) == [MISSED]
    agrees(config)


# Forks and resumed sessions


@pytest.mark.parametrize("order", ["original first", "fork first", "together"])
@pytest.mark.parametrize("name", ["a-fork", "z-fork"])
def test_a_fork_gives_one_case_with_the_session_of_its_original(
    config: Config, root: Path, order: str, name: str
) -> None:
    original = talk("m-origin", PLAIN, MISSED)
    fork = [*forked(original, name), *talk(name, VIOLATED, seconds=5000)]
    files = [("m-origin", original), (name, fork)]
    for file, records in reversed(files) if order == "fork first" else files:
        put(root, file, records)
        if order != "together":
            run(config)
    run(config)
    assert {(case.text, case.session) for case in cases(config)} == {
        (MISSED, "m-origin"),
        (VIOLATED, name),
    }
    agrees(config)


def test_the_fork_stands_in_when_the_original_was_never_seen(config: Config, root: Path) -> None:
    original = talk("m-origin", PLAIN, MISSED)
    put(root, "fork", [*forked(original, "fork"), *talk("fork", PLAIN, seconds=5000)])
    run(config)
    assert [case.session for case in cases(config)] == ["fork"]


def test_the_original_keeps_its_case_after_it_was_deleted(config: Config, root: Path) -> None:
    original = talk("m-origin", PLAIN, MISSED)
    path = put(root, "m-origin", original)
    run(config)
    path.unlink()
    put(root, "a-fork", [*forked(original, "a-fork"), *talk("a-fork", PLAIN, seconds=5000)])
    run(config)
    assert len(cases(config)) == 1


def test_a_session_resumed_on_another_day_is_one_session_on_two_days(
    config: Config, root: Path
) -> None:
    first = talk("s1", PLAIN, MISSED)
    put(root, "s1", first)
    run(config)
    put(root, "s1", [*first, *talk("s1", VIOLATED, begin=2, seconds=3 * 86_400)])
    run(config)
    found = cases(config)
    assert {case.session for case in found} == {"s1"}
    assert len({case.day for case in found}) == 2
    with reader(config) as store:
        bundles = read.bundles(store)
    assert sum(bundle.cases for bundle in bundles) == 2


def test_the_same_words_twice_are_two_cases(config: Config, root: Path) -> None:
    """Identity is the message, never its text or its time (b22)."""
    records = [prompt(f"s1-u{n}", MISSED, sessionId="s1", timestamp=at(0)) for n in range(3)]
    answers = [says(f"s1-a{n}", "Done.", f"s1-u{n}", sessionId="s1") for n in range(3)]
    put(root, "s1", [line for pair in zip(records, answers, strict=True) for line in pair])
    run(config)
    assert texts(config) == [MISSED] * 3


# Days


def test_another_time_zone_counts_the_days_anew_and_splits_nothing(
    config: Config, root: Path
) -> None:
    """Also of cases whose transcript is gone: one evening must not become two days."""
    late = 13 * 3600  # 22:00 UTC
    kept = put(root, "s1", talk("s1", MISSED, VIOLATED, seconds=late))
    gone = put(root, "s2", talk("s2", MISSED, seconds=late))
    run(config)
    before = cases(config)
    assert {str(case.day) for case in before} == {"2026-03-02"}
    gone.unlink()
    east = replace(config, timezone=ZoneInfo("Asia/Seoul"))
    run(east)
    after = cases(east)
    assert kept.exists()
    assert {str(case.day) for case in after} == {"2026-03-03"}
    assert [replace(case, day=None) for case in after] == [replace(c, day=None) for c in before]
    run(config)
    assert cases(config) == before


# Repositories


def test_repositories_are_told_apart_by_the_working_folder(config: Config, root: Path) -> None:
    """Never by the name of the project folder, in which all lie here."""
    for number, cwd in enumerate(
        ("/home/dev/loom", "/home/dev/loom/src", "/srv/loom", "/home/dev/mill")
    ):
        put(
            root,
            f"s{number}",
            [*talk(f"s{number}", PLAIN, cwd=cwd), *talk(f"t{number}", MISSED, cwd=cwd)],
        )
    run(config)
    names = Counter(case.repo for case in cases(config))
    assert len(names) == 4
    assert {"loom", "src", "mill"} < names.keys()
    assert any(name.startswith("loom-") for name in names), "two of one name stay apart"


def test_a_folder_below_the_one_a_session_began_in_belongs_to_it(
    config: Config, root: Path
) -> None:
    put(root, "s1", [*talk("s1", PLAIN), *talk("s1", MISSED, begin=1, cwd="/home/dev/loom/src")])
    run(config)
    assert [case.repo for case in cases(config)] == ["loom"]


def test_an_excluded_folder_is_never_mined(config: Config, root: Path) -> None:
    put(root, "s1", talk("s1", MISSED, cwd="/home/dev/secret"))
    put(root, "s2", talk("s2", VIOLATED, cwd="/home/dev/secret-not"))
    chosen = replace(config, exclude=("/home/dev/secret",))
    run(chosen)
    assert texts(chosen) == [VIOLATED]


# Rules that changed

RULE = """format = 1
language = "en"
family = "{family}"

[[rule]]
id = "en.{family}.{slug}"
status = "active"
summary = "A made-up rule."
keywords = ["{word}"]
pattern = '''\\b{word}\\b'''
match = [
  {{ text = "It is {word}.", span = "{word}" }},
  {{ text = "{word} again", span = "{word}" }},
]
reject = [
  {{ text = "{word}ing is fine", because = "another word" }},
  {{ text = "a {word}s b", because = "another word" }},
]
"""


def user_pack(config: Config, family: str, word: str = "zorp", slug: str = "sample") -> None:
    folder = config.home / "rules" / "en"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shipped = (TOP / "rules" / "en" / f"{family}.toml").read_text(encoding="utf-8")
    own = RULE.format(family=family, word=word, slug=slug).partition("[[rule]]")[2]
    (folder / f"{family}.toml").write_text(f"{shipped}\n[[rule]]{own}", encoding="utf-8")


def test_new_rules_judge_stored_cases_again_and_keep_their_history(
    config: Config, root: Path
) -> None:
    put(root, "s1", talk("s1", PLAIN, "This is zorp."))
    gone = put(root, "s2", talk("s2", PLAIN, "That is zorp as well."))
    user_pack(config, "wrong-result")
    run(config)
    first = {case.session: case for case in cases(config)}
    assert {case.type.value for case in first.values()} == {"wrong-result"}
    gone.unlink()
    user_pack(config, "mistaken-premise")
    run(config)
    second = {case.session: case for case in cases(config)}
    assert second["s1"].type.value == "mistaken-premise"
    assert second["s2"] == first["s2"], "nothing is left to judge it from"
    with reader(config) as store:
        history = read.history(store, second["s1"].id)
        assert len(read.history(store, second["s2"].id)) == 1
    assert [(by, kind) for _, by, kind, _ in history] == [
        ("rule", "wrong-result"),
        ("rule", "mistaken-premise"),
    ]
    assert history[0][0] < history[1][0]


def test_rules_that_are_taken_away_take_their_cases_along(config: Config, root: Path) -> None:
    put(root, "s1", talk("s1", PLAIN, "This is zorp."))
    user_pack(config, "wrong-result")
    run(config)
    assert texts(config) == ["This is zorp."]
    shutil.rmtree(config.home / "rules")
    done = run(config)
    assert texts(config) == []
    assert (done.turns, done.no_case) == (2, 2)


# A fresh look agrees with the store


def test_a_fresh_look_tells_the_turns_of_the_store(config: Config, root: Path) -> None:
    first = talk("s1", PLAIN, MISSED)
    put(root, "s1", [*first, *withdrawn("s1", 2)])
    put(root, "fork", [*forked(first, "fork"), *talk("fork", VIOLATED, seconds=4000)])
    put(root, "headless", talk("headless", MISSED, entrypoint="sdk-cli", promptSource="sdk"))
    for number in range(5):
        script = "Please look through the whole folder and fix what the linter says."
        put(root, f"x{number}", talk(f"x{number}", script, MISSED, version="2.0.76"))
    run(config)
    agrees(config)
    everything = list(all_turns(config, others=True))
    reasons = Counter(said.reason for said in everything if said.kind == "typed")
    assert reasons["headless"] >= 10
    assert reasons["withdrawn"] == 1
    assert {said.uuid for said in everything if said.human} == set(live(config))
