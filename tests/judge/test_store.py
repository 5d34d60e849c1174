"""The judge's word in everything that is shown, exported, restored, forgotten; and who beats it."""

from pathlib import Path
from typing import Any

import pytest

from pipeline import clock
from pipeline.cases import export
from pipeline.cases.store import open_writer
from pipeline.commands.writing import writing
from pipeline.config import Backend
from pipeline.judge import prompts
from pipeline.judge.night import FIRST, SECOND
from tests.collect.homes import MISSED, answer, command, everywhere, put, run, talk
from tests.judge.conftest import Court, Serve, undecided
from tests.transcripts.builders import Record


@pytest.fixture
def here(court: Serve) -> Court:
    """The lantern is wrong, the kite is a correction, the rest none; one case by a rule."""
    labels = {"lantern": "wrong-result", "kite": "other-correction"}
    here = court(
        lambda case, model: next((v for k, v in labels.items() if k in case["message"]),
                                 "not-a-correction")
    )  # fmt: skip
    here.ask(4)
    put(here.root, "s9", talk("s9", MISSED, seconds=99999))
    run(here.config)
    here.night()
    return here


def shown(here: Court, *words: str) -> dict[str, dict[str, Any]]:
    return {case["text"]: case for case in answer(here.config, "cases", *words)}


def test_everywhere(here: Court) -> None:
    lantern, kite, harbour, ferry = (undecided(n) for n in range(4))
    assert set(shown(here)) == {lantern, kite, MISSED}
    everything = shown(here, "--all")
    assert set(everything) == {lantern, kite, harbour, ferry, MISSED}
    found = {
        text: (case["type"], case["state"], case["decided_by"], case["confirmed"])
        for text, case in everything.items()
    }
    assert found == {
        lantern: ("wrong-result", "open", "judge", False),
        kite: ("other", "open", None, True),
        harbour: ("other", "doubtful", None, False),
        ferry: ("other", "doubtful", None, False),
        MISSED: ("missed-item", "open", "rule", False),
    }
    assert set(shown(here, "--type", "wrong-result")) == {lantern}
    bundles = {b["type"]: b["cases"] for b in answer(here.config, "show")}
    assert bundles == {"wrong-result": 1, "other": 1, "missed-item": 1}
    tally = answer(here.config, "stats")["cases"]
    assert tally["state"] == {"open": 3, "doubtful": 2}
    assert tally["type"] == {"wrong-result": 1, "other": 3, "missed-item": 1}
    assert tally["decided_by"] == {"judge": 1, "nobody": 3, "rule": 1}
    weeks = answer(here.config, "stats")["weeks"]
    assert sum(week["corrections"] for week in weeks) == 3
    out = command(here.config, "show", "loom", "--all").stdout
    assert "two models take it for a correction" in out
    assert "doubtful" in out
    identity = everything[lantern]["id"]
    told = command(here.config, "explain", "--case", identity).stdout
    assert "by judge: wrong-result decided: claude-haiku-5-5 + claude-sonnet-5-5" in told


def test_a_person_beats_the_judge(here: Court) -> None:
    lantern, harbour = shown(here, "--all")[undecided(0)], shown(here, "--all")[undecided(2)]
    for words in (["retype", lantern["id"], "missed-item"], ["retype", harbour["id"], "other"]):
        assert command(here.config, *words).returncode == 0
    found = shown(here, "--all")
    assert (found[undecided(0)]["type"], found[undecided(0)]["decided_by"]) == (
        "missed-item",
        "person",
    )
    assert found[undecided(2)]["state"] == "open"
    command(here.config, "dismiss", lantern["id"])
    assert shown(here, "--all")[undecided(0)]["state"] == "dismissed"


def test_a_person_who_typed_a_case_has_the_last_word(here: Court) -> None:
    kite = shown(here)[undecided(1)]
    assert kite["confirmed"]
    assert command(here.config, "retype", kite["id"], "missed-item").returncode == 0
    assert not shown(here)[undecided(1)]["confirmed"]
    assert "two models" not in command(here.config, "show", "loom").stdout


def test_a_rule_beats_the_judge(here: Court) -> None:
    """A new pack decides the lantern: what the models said of it counts no more."""
    pack = here.config.home / "rules" / "en" / "violated-instruction.toml"
    pack.parent.mkdir(parents=True)
    pack.write_text(
        'format = 1\nlanguage = "en"\nfamily = "violated-instruction"\n[[rule]]\n'
        'id = "en.violated-instruction.renamed"\nstatus = "active"\nsummary = "Made up."\n'
        "keywords = [\"rename\"]\npattern = '''rename the (?:lantern|harbour)'''\n"
        'match = [{ text = "You rename the lantern", span = "rename the lantern" },'
        ' { text = "rename the harbour", span = "rename the harbour" }]\n'
        'reject = [{ text = "rename me", because = "x" }, { text = "rename it", because = "y" }]\n'
    )
    run(here.config)
    found = shown(here, "--all")
    for number in (0, 2):
        case = found[undecided(number)]
        got = (case["type"], case["state"], case["decided_by"])
        assert got == ("violated-instruction", "open", "rule")
    assert found[undecided(3)]["state"] == "doubtful"


def test_new_words_are_judged_anew(here: Court) -> None:
    """The agent's last words change in the log: the verdict falls, and the next night asks."""
    calls = here.server.calls()
    path = here.root / "projects" / "loom" / "s0.jsonl"
    texts = [undecided(n) for n in range(4)]
    records: list[Record] = talk("s0", *texts)
    for record in records:
        if record["type"] == "assistant":
            record["message"]["content"][0]["text"] = "All is done, I think."
    put(here.root, "s0", records)
    assert path.exists()
    run(here.config)
    found = shown(here, "--all")
    assert found[undecided(0)]["decided_by"] == "judge", "nothing was said before the first"
    assert {found[undecided(n)]["state"] for n in (1, 2, 3)} == {"open"}
    assert not found[undecided(1)]["confirmed"]
    here.night()
    assert here.server.calls() > calls
    assert shown(here, "--all")[undecided(2)]["state"] == "doubtful"


def test_export_and_restore(here: Court, tmp_path: Path) -> None:
    before = here.cases()
    path = tmp_path / "all.jsonl.gz"
    assert command(here.config, "export", str(path)).returncode == 0
    assert command(here.config, "restore", str(path), "--yes").returncode == 0
    assert here.cases() == before
    assert here.night().asked == 0, "what was paid is known"


def test_forgotten_cases_leave_nothing(here: Court) -> None:
    here.set(backend=Backend.BATCH)
    here.server.ended = False
    here.ask(2, begin=10)
    here.night()
    identity = shown(here, "--all")[undecided(0)]["id"]
    waits = shown(here, "--all")[undecided(10)]["id"]
    assert command(here.config, "nightly").returncode == 0
    names = {
        str(key)
        for table in ("answers", "batched")
        for (key,) in here.stored(f"SELECT key FROM {table} WHERE id IN ('{identity}', '{waits}')")
    }
    assert len(names) == 3
    ((paid,),) = here.stored("SELECT sum(cost_usd) FROM answers")
    ((may_be,),) = here.stored(f"SELECT sum(most_usd) FROM batched WHERE id = '{waits}'")
    for each in (identity, waits):
        assert command(here.config, "forget", each, "--yes").returncode == 0
    for table in ("judged", "answers", "batched", "verdicts"):
        assert here.stored(f"SELECT * FROM {table} WHERE id IN ('{identity}', '{waits}')") == []
    assert [
        path for word in (identity, *names) for path in everywhere(here.config.home, word)
    ] == []
    bill = answer(here.config, "judge", "cost")["total_usd"]
    assert bill == pytest.approx(float(str(paid)) + float(str(may_be))), "what was paid was paid"
    here.server.ended = True
    here.night()
    assert here.stored(f"SELECT count(*) FROM answers WHERE id = '{waits}'") == [(0,)]


def test_each_answer_names_the_prompt_it_was_given_to(here: Court) -> None:
    """Another prompt is another question; the digest is that of the file's text."""
    found = {(model, prompt) for model, prompt in here.stored("SELECT model, prompt FROM answers")}
    judge = here.config.judge
    assert found == {
        (judge.first.id, prompts.load(FIRST).digest), (judge.second.id, prompts.load(SECOND).digest)
    }  # fmt: skip
    assert len({prompt for _, prompt in found}) == 2


def test_answers_hold_no_words(here: Court) -> None:
    rows = [
        str(row)
        for table in ("answers", "judged", "batched")
        for row in here.stored(f"SELECT * FROM {table}")
    ]
    assert rows
    assert not any("lantern" in row or "Why" in row for row in rows)


@pytest.mark.parametrize(
    "change",
    ["outcome = 'certain'", "type = 'nonsense'", "type = 'other'", "outcome = 'real'"],
)
def test_an_export_with_a_foreign_verdict_is_refused(
    here: Court, tmp_path: Path, change: str
) -> None:
    with writing(here.config) as store:
        store.con.execute(f"UPDATE judged SET {change} WHERE type IS NOT NULL")
        path = tmp_path / "bad.jsonl.gz"
        export.write(store, path, clock.now())
    done = command(here.config, "restore", str(path), "--yes")
    assert done.returncode == 3


def test_an_older_store_is_brought_up_to_date_and_an_older_copy_can_forget(here: Court) -> None:
    """A store that a restore set aside before this version has no tables of the judge."""
    from pipeline.cases.schema import m001_tables, m002_hook

    name = "cases.duckdb.replaced-20260101T000000000000Z"
    with open_writer(here.config.local_cases, name) as store:
        for (table,) in store.rows("SELECT table_name FROM duckdb_tables()"):
            store.con.execute(f'DROP TABLE "{table}"')
        m001_tables(store.con)
        m002_hook(store.con)
    identity = here.cases()[0].id
    assert command(here.config, "forget", identity, "--yes").returncode == 0
    assert identity not in {case.id for case in here.cases()}
