"""`accept`, `reject`, `retire` as a person calls them."""

import os
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pipeline.commands.writing import writing
from pipeline.config import Config
from pipeline.errors import UsageError
from pipeline.ledger.book import NAME, after, append, read
from pipeline.ledger.event import LAST, Event, Form, Happening, Reason, rule_hash
from pipeline.ledger.fold import State
from pipeline.masking.inert import inert
from pipeline.propose import block, books, decide
from pipeline.records import CaseType
from tests.collect.homes import Done, answer, cases, command, everywhere
from tests.propose.raised import (
    SENTENCE,
    ledger,
    raise_,
    states,
    told_twice,
)

SAID = "You forgot the zanzibar tests for the parser."
RULES = b"# Rules\n\n- Be kind.\n"


@pytest.fixture
def raised(config: Config, root: Path, repo: Path) -> Config:
    """One proposal about missed items, number 1."""
    told_twice(config, root, repo, SAID, SAID)
    raise_(config)
    return config


def accept(config: Config, *words: str, **more: Any) -> Done:
    return command(config, "accept", "1", "--text", SENTENCE, "--yes", *words, **more)


def test_accept_writes_the_rule_and_the_event_and_retire_takes_both_back(
    raised: Config, repo: Path
) -> None:
    file = repo / "CLAUDE.md"
    file.write_bytes(RULES)
    file.chmod(0o640)
    done = accept(raised)
    assert done.returncode == 0, done.stderr
    assert f"+- {SENTENCE}" in done.stdout
    assert f"--- {file}" in done.stdout
    assert "next: commit" in done.stderr
    assert SENTENCE.encode() in file.read_bytes()
    assert file.read_bytes().startswith(RULES)
    assert file.stat().st_mode & 0o777 == 0o640
    (proposal,) = states(raised)
    assert (proposal.state, proposal.form) == (State.ACCEPTED, Form.RULE)
    assert proposal.rule == rule_hash(SENTENCE)
    done = command(raised, "retire", "1", "--yes")
    assert done.returncode == 0, done.stderr
    assert f"-- {SENTENCE}" in done.stdout
    assert file.read_bytes() == RULES
    assert states(raised)[0].state is State.RETIRED
    assert sorted(p.name for p in repo.iterdir()) == [".git", "CLAUDE.md"]


def test_a_new_file_comes_and_goes(raised: Config, repo: Path) -> None:
    assert accept(raised).returncode == 0
    assert (repo / "CLAUDE.md").stat().st_mode & 0o777 == 0o666 & ~umask()
    assert command(raised, "retire", "1", "--yes").returncode == 0
    assert not (repo / "CLAUDE.md").exists()


def umask() -> int:
    now = os.umask(0)
    os.umask(now)
    return now


def test_the_draft_rests_on_its_cases_and_holds_nobodys_words(raised: Config, repo: Path) -> None:
    done = command(raised, "accept", "1", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "zanzibar" not in done.stdout
    for word in ("loom", "2 times in 2 sessions", "2026-03-02 to 2026-03-03", "after Bash"):
        assert word in done.stdout
    assert not (repo / "CLAUDE.md").exists()
    assert states(raised)[0].state is State.RAISED


@pytest.mark.parametrize("form", ["hook", "elsewhere"])
def test_another_answer_writes_no_file(raised: Config, repo: Path, form: str) -> None:
    done = command(raised, "accept", "1", "--as", form, "--yes")
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in repo.iterdir()) == [".git"]
    assert states(raised)[0].form == form
    assert command(raised, "accept", "1", "--as", form, "--text", "x").returncode == 2
    assert command(raised, "retire", "1", "--yes").returncode == 0
    assert states(raised)[0].state is State.RETIRED


@pytest.mark.parametrize("reason", Reason)
def test_reject(raised: Config, repo: Path, reason: Reason) -> None:
    assert command(raised, "reject", "1", "--reason", reason, "--dry-run").returncode == 0
    assert states(raised)[0].state is State.RAISED
    done = command(raised, "reject", "1", "--reason", reason)
    assert (done.returncode, done.stdout) == (0, f"proposal 1: rejected ({reason})\n")
    assert (states(raised)[0].state, states(raised)[0].reason) == (State.REJECTED, reason)
    assert accept(raised).returncode == 0, "a rejected one can still be accepted"


def test_json(raised: Config, repo: Path) -> None:
    found = answer(raised, "accept", "1", "--text", SENTENCE, "--dry-run")
    assert (found["done"], found["dry_run"], found["decision"]) == (False, True, "accepted")
    found = answer(raised, "accept", "1", "--text", SENTENCE, "--yes")
    assert found["done"] and found["target"] == str(repo / "CLAUDE.md")
    assert (found["number"], found["repo"], found["type"]) == (1, "loom", "missed-item")
    assert f"+- {SENTENCE}" in found["diff"]
    found = answer(raised, "retire", "1", "--yes")
    assert found["done"] and f"-- {SENTENCE}" in found["diff"]
    assert command(raised, "reject", "1", "--reason", "wrong", "--json").returncode == 2


WRONG = [
    ("unknown number", ["accept", "7"], "no proposal 7"),
    ("accepted already", ["accept", "2"], "proposal 2 is accepted"),
    ("rejecting an accepted one", ["reject", "2", "--reason", "wrong"], "is accepted"),
    ("retiring an open one", ["retire", "1"], "proposal 1 is raised"),
    ("rejecting twice", ["reject", "3", "--reason", "wrong"], "is rejected"),
    ("no number", ["accept", "x"], "invalid"),
    ("number nought", ["accept", "0"], "invalid"),
    ("no reason", ["reject", "1"], "--reason"),
    ("unknown reason", ["reject", "1", "--reason", "because"], "invalid choice"),
    ("a folder elsewhere", ["accept", "1", "--target", "/etc/CLAUDE.md"], "no file that Claude"),
]


@pytest.mark.parametrize(("words", "said"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_what_cannot_be_decided_so(raised: Config, repo: Path, words: list[str], said: str) -> None:
    raise_(raised, 2, kind=CaseType.WRONG_RESULT)
    raise_(raised, 3, kind=CaseType.MISTAKEN_PREMISE)
    raise_(raised, held=True, kind=CaseType.VIOLATED_INSTRUCTION)
    command(raised, "accept", "2", "--as", "hook", "--yes")
    command(raised, "reject", "3", "--reason", "one-off")
    before = ledger(raised).read_bytes()
    done = command(raised, *words, "--yes") if "argparse" not in said else None
    assert done and done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""
    assert ledger(raised).read_bytes() == before


def test_where_nobody_can_be_asked(raised: Config, repo: Path) -> None:
    for words in (["accept", "1"], ["accept", "1", "--as", "hook"], ["review"]):
        done = command(raised, *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert "nobody can be asked" in done.stderr
    accept(raised)
    assert command(raised, "retire", "1").returncode == 2
    assert states(raised)[0].state is State.ACCEPTED


def test_elsewhere_it_wants_the_repository_or_a_target(
    raised: Config, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    subprocess.run(["git", "init", "-q", str(other)], check=True)
    for folder in (tmp_path, other):
        monkeypatch.chdir(folder)
        done = accept(raised)
        assert done.returncode == 2
        assert "run it inside loom, or name a file with --target" in done.stderr
    namesake = tmp_path / "deep" / "loom"
    subprocess.run(["git", "init", "-q", str(namesake)], check=True)
    monkeypatch.chdir(namesake)
    assert accept(raised).returncode == 2, "another repository of that name"
    monkeypatch.chdir(other)
    done = accept(raised, "--target", "CLAUDE.md")
    assert (done.returncode, "lies in other" in done.stderr) == (2, True)
    assert accept(raised, "--target", str(repo / "CLAUDE.md")).returncode == 0
    assert SENTENCE in (repo / "CLAUDE.md").read_text()
    done = command(raised, "retire", "1", "--yes")
    assert "taken out of" in done.stdout, "where it went is remembered"
    assert not (repo / "CLAUDE.md").exists()


def test_retire_searches_where_nothing_is_remembered(
    raised: Config, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo / "CLAUDE.md").write_bytes(RULES)
    accept(raised)
    (repo / "docs").mkdir()
    rules = repo / ".claude" / "rules"
    rules.mkdir(parents=True)
    (repo / "CLAUDE.md").rename(rules / "mine.md")
    monkeypatch.chdir(repo / "docs")
    assert command(raised, "retire", "1", "--yes").returncode == 0
    assert (rules / "mine.md").read_bytes() == RULES


def test_retire_of_a_rule_that_is_gone_says_so_and_records_it(raised: Config, repo: Path) -> None:
    accept(raised)
    (repo / "CLAUDE.md").unlink()
    done = command(raised, "retire", "1", "--dry-run")
    assert "was not found" in done.stderr
    done = command(raised, "retire", "1", "--yes")
    assert (done.returncode, "was not found" in done.stderr) == (0, True)
    assert states(raised)[0].state is State.RETIRED


@pytest.mark.parametrize("damage", ["no end", "doubled"])
def test_a_rule_in_a_damaged_block_is_not_retired(raised: Config, repo: Path, damage: str) -> None:
    """Else the ledger would say so while the agent goes on reading it."""
    accept(raised)
    file = repo / "CLAUDE.md"
    data = file.read_bytes()
    end = b"<!-- twice-told:end -->"
    file.write_bytes(data.replace(end, b"") if damage == "no end" else data + data)
    before = file.read_bytes()
    done = command(raised, "retire", "1", "--yes")
    assert done.returncode == 3
    assert f"{file}: line " in done.stderr
    assert file.read_bytes() == before
    assert states(raised)[0].state is State.ACCEPTED
    file.write_bytes(data)
    assert command(raised, "retire", "1", "--yes").returncode == 0


def test_a_second_rule_of_the_proposal_is_told_of(raised: Config, repo: Path) -> None:
    """Two people accepted it, and the merge kept both lines."""
    accept(raised)
    file = repo / "CLAUDE.md"
    file.write_bytes(
        block.add(file.read_bytes(), 1, "loom/missed-item", "Say which tests ran.", str(file))
    )
    done = command(raised, "retire", "1", "--yes")
    assert done.returncode == 0
    assert "another rule of it" in done.stderr
    assert b"Say which tests ran." in file.read_bytes()
    assert SENTENCE.encode() not in file.read_bytes()


def test_retire_of_an_edited_rule_says_so(raised: Config, repo: Path) -> None:
    file = repo / "CLAUDE.md"
    file.write_bytes(RULES)
    accept(raised)
    file.write_bytes(file.read_bytes().replace(SENTENCE.encode(), b"Mine now."))
    done = command(raised, "retire", "1", "--yes")
    assert "edited since it was accepted" in done.stderr
    assert file.read_bytes() == RULES


def test_a_cut_off_acceptance_is_ended(raised: Config, repo: Path) -> None:
    """The file has the rule, the ledger does not: only the event is written."""
    before = ledger(raised).read_bytes()
    accept(raised)
    data = (repo / "CLAUDE.md").read_bytes()
    ledger(raised).write_bytes(before)
    done = command(raised, "accept", "1", "--yes")
    assert done.returncode == 0, done.stderr
    assert "already" in done.stderr
    assert "not used" not in done.stderr
    assert (repo / "CLAUDE.md").read_bytes() == data
    assert states(raised)[0].rule == rule_hash(SENTENCE)
    for words in (["--text", "Another one."], ["--target", "CLAUDE.local.md"]):
        ledger(raised).write_bytes(before)
        done = command(raised, "accept", "1", "--yes", *words)
        assert "is not used" in done.stderr
        assert states(raised)[0].rule == rule_hash(SENTENCE)


def test_a_draft_that_fails_the_check_gives_way(raised: Config, repo: Path) -> None:
    """Files below a folder whose name is masked: the template is left without them."""
    folder = repo / ("jane.doe" + "@" + "example.com")
    folder.mkdir()
    with writing(raised) as store:
        store.con.execute("UPDATE cases SET tool = 'Edit', gist = ?", [f"{folder.name}/a.ts"])
    done = command(raised, "accept", "1", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "in loom, go through" in done.stdout
    assert folder.name not in done.stdout


def test_a_folder_that_begins_with_an_at(raised: Config, repo: Path) -> None:
    (repo / "@acme").mkdir()
    with writing(raised) as store:
        store.con.execute("UPDATE cases SET tool = 'Edit', gist = '@acme/a.ts'")
    done = command(raised, "accept", "1", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "in loom under `@acme/**`, go through" in done.stdout


def test_a_bare_case_counts_for_nothing(raised: Config, repo: Path) -> None:
    """On no screen and in no draft; one that was only noticed, neither."""
    bare, other = cases(raised)
    for source in ("human", "review"):
        with writing(raised) as store:
            store.con.execute(
                "UPDATE cases SET named = false, tool = '', gist = '', source = ? WHERE id = ?",
                [source, bare.id],
            )
        shown = command(raised, "show", "1").stdout
        assert other.id in shown
        assert bare.id not in shown
        draft = command(raised, "accept", "1", "--dry-run").stdout
        assert " was left out once, after " in draft
        assert f" ({other.day})." in draft


def test_evidence_that_was_taken_back_is_told(raised: Config, repo: Path) -> None:
    """Half of it is no reason to raise; whoever accepts it all the same is told."""
    command(raised, "dismiss", cases(raised)[0].id)
    done = accept(raised)
    assert done.returncode == 0, done.stderr
    assert "some of its cases were taken back" in done.stderr
    assert "(1 case) would not be raised any more" in done.stderr


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("# Rules\n".encode("utf-16"), "not UTF-8"),
        (b"# Rules\n<<<<<<< HEAD\n- A.\n=======\n- B.\n>>>>>>> theirs\n", "a merge"),
    ],
    ids=["UTF-16", "merge"],
)
def test_a_file_that_is_no_markdown_is_refused(
    raised: Config, repo: Path, data: bytes, reason: str
) -> None:
    (repo / "CLAUDE.md").write_bytes(data)
    done = accept(raised)
    assert (done.returncode, reason in done.stderr) == (3, True), done.stderr
    assert (repo / "CLAUDE.md").read_bytes() == data
    assert states(raised)[0].state is State.RAISED


def test_a_sentence_is_checked_and_refused_without_being_quoted(raised: Config, repo: Path) -> None:
    for text, word in BAD.values():
        done = command(raised, "accept", "1", "--yes", "--text", text)
        assert done.returncode == 2, text
        assert word in done.stderr
        assert "quokka" not in done.stdout + done.stderr
    assert not (repo / "CLAUDE.md").exists()
    assert states(raised)[0].state is State.RAISED


BAD = {
    "a secret": ("quokka password=hunter2hunter2 is fine", "masked"),
    "an address": ("Write to quokka@example.com first.", "masked"),
    "two paragraphs": ("quokka\n\nand more", "2 paragraphs"),
    "long": ("quokka " * 60, "characters"),
    "a comment": ("quokka <!-- hidden", "HTML comment"),
    "an end marker": ("quokka twice-told:end -->", "HTML comment"),
    "an import": ("See @docs/quokka.md before.", "@import"),
    "an import of the home": ("(@~/quokka.md)", "@import"),
    "an import in bold": ("See **@docs/quokka.md** before.", "@import"),
    "an import in italics": ("See _@docs/quokka.md_ before.", "@import"),
    "an import in a link": ("See [@docs/quokka.md](x) before.", "@import"),
    "an import behind a link": ("See [x](y)@docs/quokka.md before.", "@import"),
    "an import behind code": ("See `x`@docs/quokka.md before.", "@import"),
    "an import within code": ("Run `cat @docs/quokka.md now`.", "@import"),
    "an import behind a tag": ("See <b>@docs/quokka.md</b> before.", "@import"),
    "an import behind an escape": ("See \\/@docs/quokka.md before.", "@import"),
    "a fence": ("``` quokka", "fence"),
    "a heading": ("# quokka", "heading"),
    "a heading of six": ("###### quokka", "heading"),
    "a list": ("- quokka", "list"),
    "a numbered list": ("3. quokka", "list"),
    "a quote": (">quokka", "quote"),
    "a rule across the page": ("* * *", "heading"),
    "a link's address": ("[quokka]: https://example.com", "address"),
}


@pytest.mark.parametrize(
    "text",
    [
        "Use `@types/node` as it is.",
        "Write x@y as one word.",
        "See docs/@team in `f(@x)`.",
        "Keep\nto one line.",
        "지시한 항목을 빠짐없이 확인한다.",
        "#12 is closed: leave it.",
        "*Never* push.",
        "3.5 is the version.",
        "[docs](x.md) come first.",
    ],
)
def test_a_good_sentence_is_taken(raised: Config, repo: Path, text: str) -> None:
    assert command(raised, "accept", "1", "--yes", "--text", text).returncode == 0
    assert "- " + " ".join(text.split()) in (repo / "CLAUDE.md").read_text()


def test_empty_text_does_nothing(raised: Config, repo: Path) -> None:
    done = command(raised, "accept", "1", "--yes", "--text", " ")
    assert (done.returncode, done.stdout) == (0, "nothing was changed\n")
    found = answer(raised, "accept", "1", "--yes", "--text", "")
    assert (found["done"], found["decision"]) == (False, None)
    assert states(raised)[0].state is State.RAISED


def test_a_copied_run_of_words_is_warned_of(raised: Config, repo: Path) -> None:
    ids = {case.id for case in cases(raised)}
    text = "Never leave out: you forgot the Zanzibar tests, for instance."
    done = command(raised, "accept", "1", "--dry-run", "--text", text)
    assert all(id_ in done.stderr for id_ in ids)
    assert "zanzibar" not in done.stderr.lower()
    done = accept(raised)
    assert "repeats" not in done.stderr


def test_the_words_stay_out_of_ledger_and_warnings(raised: Config, repo: Path) -> None:
    accept(raised)
    assert everywhere(raised.home / "ledger", "zanzibar") == []
    assert everywhere(raised.home / "ledger", "parser") == []


def test_a_damaged_block_is_named_by_its_line(raised: Config, repo: Path) -> None:
    file = repo / "CLAUDE.md"
    file.write_bytes(RULES + b"<!-- twice-told:begin 1 -->\n")
    before = file.read_bytes()
    done = accept(raised)
    assert done.returncode == 3
    assert f"{file}: line 4" in done.stderr
    assert file.read_bytes() == before
    assert states(raised)[0].state is State.RAISED


def test_past_the_budget_it_says_which_rules_were_quiet(raised: Config, repo: Path) -> None:
    data: bytes = RULES
    for number in range(50, 69):
        data = block.add(data, number, f"r{number}/missed-item", f"Rule {number}.", "x")
    (repo / "CLAUDE.md").write_bytes(data)
    done = accept(raised)
    assert done.returncode == 0
    assert "more than 40" in done.stderr
    assert "50 (r50/missed-item" in done.stderr


def test_a_standing_instruction_is_told(config: Config, root: Path, repo: Path) -> None:
    told_twice(
        config, root, repo, "I told you not to push to main.", "I told you never to push to main!"
    )
    raise_(config, kind=CaseType.VIOLATED_INSTRUCTION)
    (repo / "docs").mkdir()
    (repo / "docs" / "git.md").write_text("# Git\n\n- Never push directly to main.\n")
    (repo / "CLAUDE.md").write_text("# Rules\n\nSee @docs/git.md for the rest.\n")
    done = command(config, "accept", "1", "--dry-run")
    assert "exists, not kept" in done.stderr
    assert f"{repo / 'docs' / 'git.md'}:3" in done.stderr
    for words in (["proposals"], ["show", "1"]):
        assert f"exists, not kept: {repo / 'docs' / 'git.md'}:3" in command(config, *words).stdout


def test_a_proposal_whose_cases_were_all_taken_back_is_warned_of(raised: Config) -> None:
    """The draft could only tell what the ledger counted before."""
    for case in cases(raised):
        command(raised, "dismiss", case.id)
    done = command(raised, "accept", "1", "--dry-run")
    assert "`twice-told reject 1 --reason wrong`" in done.stderr


@pytest.mark.parametrize(
    ("repo_ahead", "moves"), [("loom", True), ("other", False)], ids=["its own", "another's"]
)
def test_a_clock_that_is_ahead_moves_its_own_bundle_alone(
    raised: Config, repo: Path, repo_ahead: str, moves: bool
) -> None:
    """A rule is dated after all that is known of its bundle."""
    ahead = datetime(2099, 1, 1, tzinfo=UTC)
    known = read(ledger(raised)).events[0]
    append(
        ledger(raised),
        [Event(ahead, Happening.HELD, repo_ahead, known.type, "f" * 16, counts=known.counts)],
    )
    accept(raised)
    (decided,) = (p for p in states(raised) if p.repo == "loom")
    assert decided.state is State.ACCEPTED
    assert decided.decided_at is not None
    assert (decided.decided_at > ahead) == moves
    assert "from the future" in command(raised, "ledger", "verify").stdout


def test_a_decision_on_what_came_from_a_clock_ahead_dates_no_other(
    raised: Config, repo: Path
) -> None:
    raise_(raised, 2, kind=CaseType.WRONG_RESULT)
    known = read(ledger(raised)).events[0]
    append(ledger(raised), [replace(known, at=datetime(2099, 1, 1, tzinfo=UTC), machine="f" * 16)])
    for number in "12":
        assert command(raised, "reject", number, "--reason", "wrong").returncode == 0
    first, second = (proposal.decided_at for proposal in states(raised))
    assert first and second
    assert (first.year, second.year < 2099) == (2099, True)


def test_an_event_at_the_end_of_all_time_stops_no_decision_and_no_night(
    raised: Config, repo: Path
) -> None:
    known = read(ledger(raised)).events[0]
    append(ledger(raised), [replace(known, at=LAST, machine="f" * 16)])
    for _ in range(2):
        assert command(raised, "collect", "--propose", "--rebuild").returncode == 0
        data = ledger(raised).read_bytes()
    assert command(raised, "collect", "--propose", "--rebuild").returncode == 0
    assert ledger(raised).read_bytes() == data, "a night that is repeated adds no byte"
    assert accept(raised).returncode == 0
    assert states(raised)[0].state is State.ACCEPTED
    assert command(raised, "retire", "1", "--yes").returncode == 0
    assert states(raised)[0].state is State.RETIRED
    done = command(raised, "ledger", "verify")
    assert (done.returncode, "from the future" in done.stdout) == (0, True), done.stdout


def test_a_team_without_cases_of_its_own_can_accept(config: Config, repo: Path) -> None:
    """And the decision goes to the team."""
    with writing(config):
        pass
    raise_(config)
    ledger(config).parent.rename(repo / "ledger")
    assert command(config, "init", str(repo / "ledger")).returncode == 0
    done = accept(config, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert accept(config).returncode == 0
    assert [e.event for e in read(repo / "ledger" / NAME).events] == ["raised", "accepted"]
    assert not ledger(config).exists()


def test_the_draft_of_a_team_counts_what_the_ledger_counts(config: Config, repo: Path) -> None:
    with writing(config):
        pass
    raise_(config)
    done = command(config, "accept", "1", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "2 times in 2 sessions" in done.stdout


def test_what_a_terminal_obeys_is_not_shown(raised: Config, repo: Path) -> None:
    (repo / "CLAUDE.md").write_bytes(b"# Rules\n\x1b[2J\x9b31m\xe2\x80\xaetext\r\n")
    done = accept(raised)
    assert done.returncode == 0
    assert inert(done.stdout) == done.stdout
    assert "\x1b" not in done.stdout
    assert b"\x1b[2J" in (repo / "CLAUDE.md").read_bytes()


def test_a_sentence_from_standard_input(raised: Config, repo: Path) -> None:
    done = command(raised, "accept", "1", "--yes", "--text", "-", stdin=SENTENCE + "\n")
    assert done.returncode == 0, done.stderr
    assert f"- {SENTENCE}\n" in (repo / "CLAUDE.md").read_text()


def test_a_proposal_that_came_back_is_decided_under_its_new_number(
    raised: Config, repo: Path
) -> None:
    command(raised, "reject", "1", "--reason", "one-off")
    known = read(ledger(raised)).events
    at = after(known, known[-1].at)
    again = replace(
        known[0], at=at, event=Happening.REOPENED, number=2, previous=1, counts=known[0].counts
    )
    append(ledger(raised), [again])
    done = accept(raised)
    assert (done.returncode, "came back as 2" in done.stderr) == (2, True)
    done = command(raised, "accept", "2", "--text", SENTENCE, "--yes")
    assert done.returncode == 0, done.stderr
    assert [p.state for p in states(raised)] == [State.REJECTED, State.ACCEPTED]


def test_the_number_it_came_back_under_last_is_told(raised: Config) -> None:
    """Which need not be the highest."""
    known = read(ledger(raised)).events[0]
    deeds = [
        Event(known.at, Happening.REJECTED, *known.bundle, known.machine, 1, reason=Reason.WRONG),
        replace(known, event=Happening.REOPENED, number=3, previous=1),
        Event(known.at, Happening.REJECTED, *known.bundle, known.machine, 3, reason=Reason.WRONG),
        replace(known, event=Happening.REOPENED, number=2, previous=3),
    ]
    append(ledger(raised), [replace(e, at=known.at + timedelta(n)) for n, e in enumerate(deeds, 1)])
    for number in "13":
        done = command(raised, "reject", number, "--reason", "wrong")
        assert (done.returncode, "came back as 2" in done.stderr) == (2, True), done.stderr


def test_an_accepted_rule_can_be_retired_and_accepted_again(raised: Config, repo: Path) -> None:
    for _ in range(2):
        assert accept(raised).returncode == 0
        assert command(raised, "retire", "1", "--yes").returncode == 0
    assert states(raised)[0].state is State.RETIRED


def test_an_export_remembers_where_the_rule_went(
    raised: Config, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept(raised)
    export = str(tmp_path / "x.gz")
    assert command(raised, "export", export).returncode == 0
    assert command(raised, "restore", export, "--yes").returncode == 0
    monkeypatch.chdir(tmp_path)
    done = command(raised, "retire", "1", "--yes")
    assert "taken out of" in done.stdout, done.stderr
    assert not (repo / "CLAUDE.md").exists()


def test_deciding_waits_for_the_homes_lock(raised: Config, repo: Path) -> None:
    """And looks again once it has it: somebody else may have decided in between."""
    with pytest.raises(UsageError, match="is rejected"), writing(raised) as store:
        found = books.books(raised, store)
        (proposal,) = books.proposals(found)
        now = datetime(2026, 4, 1, tzinfo=UTC)
        for _ in range(2):
            decide.carry_out(store, found, proposal, Happening.REJECTED, now, reason=Reason.WRONG)


def barred(file: Path) -> None:
    """It can be read, and not be written to."""
    if os.geteuid():
        file.chmod(0o400)
    else:
        os.chown(file, 4242, -1)


def test_a_ledger_that_fails_behind_the_file_is_told_with_the_way_out(
    raised: Config, repo: Path
) -> None:
    for deed, state in ((accept, State.ACCEPTED), (retire, State.RETIRED)):
        before = ledger(raised).stat()
        barred(ledger(raised))
        done = deed(raised)
        assert done.returncode == 3
        assert f"{repo / 'CLAUDE.md'} was changed already" in done.stderr
        assert "then run the same again" in done.stderr
        if not os.geteuid():
            os.chown(ledger(raised), before.st_uid, -1)
        ledger(raised).chmod(before.st_mode & 0o777)
        done = deed(raised)
        assert done.returncode == 0, done.stderr
        assert states(raised)[0].state is state
    assert not (repo / "CLAUDE.md").exists()


def retire(config: Config) -> Done:
    return command(config, "retire", "1", "--yes")


def test_a_teams_folder_that_is_not_fit_is_told_of_before_the_file_changes(
    raised: Config, repo: Path
) -> None:
    assert command(raised, "init", str(repo / "ledger")).returncode == 0
    (repo / "ledger").rename(repo / "moved")
    (repo / "ledger").symlink_to("moved")
    done = accept(raised)
    assert (done.returncode, "is a link" in done.stderr) == (3, True), done.stderr
    assert not (repo / "CLAUDE.md").exists()


def test_nothing_is_written_where_the_ledger_cannot_be(raised: Config, repo: Path) -> None:
    file = ledger(raised)
    real = file.with_name("real")
    file.rename(real)
    file.symlink_to(real)
    done = accept(raised)
    assert done.returncode == 3
    assert "is a link" in done.stderr
    assert not (repo / "CLAUDE.md").exists()
    real.replace(file)
    assert accept(raised).returncode == 0
    assert states(raised)[0].state is State.ACCEPTED
