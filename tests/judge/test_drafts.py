"""A model drafts a rule: when it is asked, what it is shown, what is kept of it, what it costs."""

import json
import subprocess
import time
from pathlib import Path

import pytest

from pipeline.cases.store import open_reader
from pipeline.commands.writing import writing
from pipeline.judge import draft as drafting
from pipeline.judge import prompts
from pipeline.judge.draft import PROMPT, asking, draft
from pipeline.masking.masker import mask
from tests.collect.homes import Done, answer, cases, command, put, run, talk
from tests.judge.conftest import KEY, Court, Serve
from tests.judge.server import FENCE, Act
from tests.judge.test_consent import ON, settings
from tests.judge.test_fence import PAYLOADS, TAG
from tests.propose.raised import raise_, told_twice
from tests.propose.test_draft import case
from tests.propose.test_review import KEYS, Desk

SAID = "You forgot the zanzibar tests for the parser."
DRAFTED = "Add tests for each part of a parser."
RESTS_ON = "in loom 2 times in 2 sessions, each time after Bash (2026-03-02 to 2026-03-03)."
KEYED = {"MADE_UP_KEY": KEY, "EDITOR": "true"}


@pytest.fixture
def here(court: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Court:
    """A repository with proposal 1, a judge that is on, a server that drafts."""
    made = court(lambda case, model: "x")
    made.server.draft = DRAFTED
    top = tmp_path / "loom"
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    monkeypatch.chdir(top)
    told_twice(made.config, made.root, top, SAID, SAID)
    raise_(made.config)
    settings(made, **ON)
    return made


def accept(here: Court, *words: str) -> Done:
    done = command(here.config, "accept", "1", *words, **KEYED)
    assert done.returncode == 0, done.stderr
    return done


def test_a_draft_names_what_it_rests_on_and_is_in_the_bill(here: Court) -> None:
    assert f"+- {DRAFTED} It was corrected {RESTS_ON}" in accept(here, "--yes").stdout
    told = answer(here.config, "judge", "cost")
    (row,) = told["spent"]
    assert (row["purpose"], row["model"]) == ("draft", here.config.judge.second.id)
    assert told["total_usd"] == pytest.approx(here.server.bill_usd, rel=0.1)
    assert told["total_usd"] > 0
    with open_reader(here.config.local_cases) as store:
        assert store is not None
        assert store.rows("SELECT prompt FROM answers") == [(prompts.load(PROMPT).digest,)]


def test_a_draft_tells_nothing_about_what_a_case_costs(here: Court) -> None:
    put(here.root, "s9", talk("s9", "Why did you rename the lantern?"))
    run(here.config)
    before = answer(here.config, "judge", "cost")["waiting"]
    accept(here, "--yes")
    assert before["cases"] == 1
    assert answer(here.config, "judge", "cost")["waiting"] == before


def test_a_dry_run_and_a_sentence_of_ones_own_ask_nobody(here: Court) -> None:
    accept(here, "--dry-run")
    accept(here, "--yes", "--text", DRAFTED)
    assert here.server.received == []


REFUSED = {
    "an import": "See @docs/parser.md first.",
    "a comment": "Add tests <!-- all -->.",
    "a fence": "``` all",
}


@pytest.mark.parametrize("written", REFUSED.values(), ids=REFUSED)
def test_a_draft_that_may_not_stand_there_gives_way_to_the_template(
    here: Court, written: str
) -> None:
    here.server.draft = written
    done = accept(here, "--yes")
    assert "+- Before you call a task done in loom" in done.stdout
    assert "does not pass the checks" in done.stderr
    assert written not in done.stdout + done.stderr


def test_without_a_key_the_template_and_a_word_about_it(here: Court) -> None:
    done = command(here.config, "accept", "1", "--yes", EDITOR="true")
    assert done.returncode == 0, done.stderr
    assert "holds no key" in done.stderr
    assert "+- Before you call a task done in loom" in done.stdout


def stays_plain(here: Court, why: str) -> None:
    """The template's sentence in little time, and one line why."""
    begun = time.monotonic()
    done = accept(here, "--yes")
    assert time.monotonic() - begun < 15
    assert "+- Before you call a task done in loom" in done.stdout
    assert done.stderr.count("the judge gave no draft") == 1
    assert why in done.stderr


@pytest.mark.parametrize("act", [Act.S429, Act.S500, Act.HANG], ids=str)
def test_a_person_waits_for_one_try(here: Court, act: Act, monkeypatch: pytest.MonkeyPatch) -> None:
    """However much time and however many tries the settings give a night."""
    monkeypatch.setattr(drafting, "CALL_SECONDS", 1.0)
    here.server.draft, here.server.plan = "", lambda case, model: act
    settings(here, **ON, timeout_seconds=3600)
    stays_plain(here, "no answer in time" if act is Act.HANG else f"status {act.value}")
    assert here.server.calls() == 1


def test_a_person_does_not_wait_for_a_server_that_trickles(
    here: Court, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert drafting.PATIENCE_SECONDS <= 15
    monkeypatch.setattr(drafting, "PATIENCE_SECONDS", 3.0)
    here.server.trickles = "/v1/messages"
    stays_plain(here, "no answer in time")


def test_a_folder_that_cannot_be_used_costs_no_rule(here: Court, tmp_path: Path) -> None:
    settings(here, **ON | {"backend": "claude-cli"})
    here.config.judge_folder.symlink_to(tmp_path)
    stays_plain(here, "is a link")


def test_review_asks_only_when_it_is_told_to(here: Court) -> None:
    desk = Desk(here.config, "review", MADE_UP_KEY=KEY)
    try:
        shown = desk.until(KEYS)
        assert "draft: Before you call" in shown
        assert "m let the judge draft" in shown
        desk.type("?")
        assert "m  send the masked cases" in desk.until(KEYS)
        desk.type("c")
        desk.until(KEYS)
        assert here.server.received == []
        desk.type("m")
        assert f"draft: {DRAFTED} It was corrected in loom" in desk.until(KEYS)
        assert len(here.server.received) == 1
        desk.type("d")
        desk.until("id of the case: ")
        desk.type(f"{cases(here.config)[0].id}\n")
        assert " once, after " in desk.until(KEYS)
        desk.type("q")
        assert desk.end() == 0
    finally:
        desk.close()
    assert len(here.server.received) == 1


@pytest.mark.parametrize("words", [("review", "--dry-run"), ("review",)], ids=" ".join)
def test_review_offers_no_model_where_none_is_to_be_asked(
    here: Court, words: tuple[str, ...]
) -> None:
    if "--dry-run" not in words:
        settings(here, backend="anthropic")
    desk = Desk(here.config, *words, MADE_UP_KEY=KEY)
    try:
        assert "judge" not in desk.until(KEYS)
        desk.type("m?")
        assert "judge" not in desk.until(KEYS)
        desk.type("q")
        assert desk.end() == 0
    finally:
        desk.close()
    assert here.server.received == []


def test_copied_words_are_warned_of_by_ids_alone(here: Court) -> None:
    here.server.draft = "Never say you forgot the zanzibar tests."
    done = accept(here, "--yes")
    assert all(one.id in done.stderr for one in cases(here.config))
    assert "repeats words of" in done.stderr
    assert "zanzibar" not in done.stderr


def test_hostile_cases_leave_the_fence_of_a_draft_whole(
    here: Court, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All payloads, as what a person and what the agent said, twenty at a time (T28)."""
    prompt, markers = prompts.load(PROMPT), set()
    for at in range(0, len(PAYLOADS), 20):
        words = PAYLOADS[at : at + 20]
        hostile = [case(text, n=n) for n, (text, _) in enumerate(words)]
        request = asking(here.config, prompt, hostile)
        found = FENCE.match(request.user)
        assert found
        assert request.user.count(found[1]) == 2
        assert "\n" not in found[2]
        assert len(json.loads(found[2])["corrections"]) == 20
        assert not TAG.search(request.user)
        assert (request.system, request.schema) == (prompt.system, prompt.schema)
        markers.add(found[1])
    assert len(markers) == len(PAYLOADS) / 20, "nobody can know the next marker"
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    assert draft(here.config, hostile).sentence == DRAFTED
    (sent,) = here.server.received
    assert len(sent.case["corrections"]) == 20
    assert sent.body["system"] == prompt.system


def test_a_draft_is_shown_what_is_masked_and_no_more_than_twenty(here: Court) -> None:
    mail = "jane.doe" + "@" + "example.com"
    with writing(here.config) as store:  # as if an older table had let one through
        store.con.execute("UPDATE cases SET said = ?", [f"I asked {mail}"])
    accept(here, "--yes")
    (sent,) = here.server.received
    assert mail not in sent.user
    assert "loom" not in sent.user
    many = [case(mask(SAID).text, n=n) for n in range(30)]
    shown = asking(here.config, prompts.load(PROMPT), many).user
    assert shown.count("zanzibar") == 20
