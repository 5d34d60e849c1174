"""Drafts, their scope, copied runs of words, and instructions that stand already."""

import os
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import UsageError
from pipeline.ledger.event import Counts
from pipeline.ledger.fold import Proposal, State
from pipeline.masking.masker import mask
from pipeline.propose import draft, scope
from pipeline.propose.instructions import instructions
from pipeline.propose.standing import Location, standing
from pipeline.records import Case, CaseType, Kind, Source

BEGUN = datetime(2026, 3, 2, 9, tzinfo=UTC)
TYPES = [kind for kind in CaseType if kind is not CaseType.OTHER]


def case(text: str = "You forgot it.", tool: str = "", gist: str = "", n: int = 0) -> Case:
    at = BEGUN + timedelta(days=n)
    return Case(
        id=f"{n:012x}", at=at, day=at.date(), session=f"s{n}", repo="loom",
        type=CaseType.MISSED_ITEM, source=Source.HUMAN, state="open", decided_by="rule",
        rule_id="x", text=mask(text).text, tool=tool, gist=mask(gist).text, said=mask("").text,
        kind=Kind.TYPED, row="U1", lang="en", interrupted=False, named=True, admitted=False,
        file="f", number=1, inferred_at=False,
    )  # fmt: skip


def proposal(kind: CaseType = CaseType.MISSED_ITEM) -> Proposal:
    counts = Counts(3, 3, 4, date(2026, 2, 1), date(2026, 2, 9), (4, 0, 0, 0))
    return Proposal(1, "loom", kind, State.RAISED, counts, BEGUN)


@pytest.mark.parametrize("kind", TYPES)
def test_a_draft_of_each_type_passes_its_own_checks(kind: CaseType) -> None:
    cases = [case("You forgot the quokka.", "Bash", "make", n) for n in range(2)]
    for known, files in [(cases, ()), (cases, ("src/api/**",)), ([], ())]:
        text = draft.worded(replace(proposal(), type=kind), known, files)
        assert draft.checked(text) == text
        assert "quokka" not in text
        assert draft.echoes(text, known) == []


def test_a_draft_claims_no_more_than_its_cases() -> None:
    text = draft.worded(proposal(), [case(tool="Bash", n=n) for n in range(2)], ())
    assert "in loom, go" in text
    assert "2 times in 2 sessions, each time after Bash (2026-03-02 to 2026-03-03)" in text
    text = draft.worded(proposal(), [case(tool="Bash"), case(tool="Edit", n=1)], ())
    assert "Bash" not in text
    text = draft.worded(proposal(), [], ())
    assert "4 times in 3 sessions (2026-02-01 to 2026-02-09)" in text


def test_a_models_sentence_says_what_it_rests_on() -> None:
    cases = [case(tool="Edit", n=n) for n in range(2)]
    for written in ("Keep {braces}.", "Keep {braces}"):
        assert draft.worded(proposal(), cases, ("src/**",), written) == (
            "Keep {braces}. It was corrected in loom under `src/**` 2 times in 2 sessions,"
            " each time after Edit (2026-03-02 to 2026-03-03)."
        )


@given(text=st.text(max_size=200))
def test_what_is_checked_is_one_inert_line(text: str) -> None:
    try:
        sentence = draft.checked(text)
    except UsageError as error:
        assert len(text) < 5 or text not in error.message
        return
    assert "\n" not in sentence and "\r" not in sentence
    assert draft.checked(sentence) == sentence


ECHOES = [
    (
        "five words",
        "Never forget the zanzibar tests for",
        "You forget the zanzibar tests for it",
        1,
    ),
    ("four words", "Check the zanzibar tests always", "You forgot the zanzibar tests", 0),
    ("other case and signs", "THE ZANZIBAR, TESTS: FOR IT!", "the zanzibar tests for it", 1),
    (
        "Korean",
        "항상 결제 검증 테스트를 빠뜨리지 않는다",
        "또 결제 검증 테스트를 빠뜨리지 말랬지",
        1,
    ),
    ("short Korean", "결제 검증을 확인한다", "결제 검증을 빠뜨렸어", 0),
    ("Japanese", "支払いの検証テストを必ず追加する", "また支払いの検証テストを忘れた", 0),
    ("long Japanese", "支払いの検証テストを必ず追加する", "支払いの検証テストを必ず足して", 1),
    ("Chinese", "每次提交之前必须运行全部测试用例", "我说过每次提交之前必须运行全部测试", 1),
    ("too short", "no", "no", 0),
]


@pytest.mark.parametrize(
    ("sentence", "said", "number"), [e[1:] for e in ECHOES], ids=[e[0] for e in ECHOES]
)
def test_copied_runs(sentence: str, said: str, number: int) -> None:
    assert len(draft.echoes(sentence, [case(said)])) == number


SCOPES = [
    ("one folder", [("Edit", "TOP/src/a.ts"), ("Write", "TOP/src/b.ts")], ("src/**",)),
    ("a deeper one", [("Edit", "TOP/src/api/a.ts"), ("Read", "TOP/src/api/b.ts")], ("src/api/**",)),
    ("up to the shared one", [("Edit", "TOP/src/api/a.ts"), ("Edit", "TOP/src/b.ts")], ("src/**",)),
    ("relative", [("Edit", "src/a.ts"), ("Edit", "src/b.ts")], ("src/**",)),
    ("one file at the top", [("Edit", "TOP/Makefile"), ("Edit", "TOP/Makefile")], ("Makefile",)),
    ("two at the top", [("Edit", "TOP/Makefile"), ("Edit", "TOP/README")], ()),
    ("no common folder", [("Edit", "TOP/src/a.ts"), ("Edit", "TOP/docs/a.md")], ()),
    ("one without a file", [("Edit", "TOP/src/a.ts"), ("Bash", "make")], ()),
    ("outside", [("Edit", "/etc/hosts"), ("Edit", "/etc/fstab")], ()),
    ("upwards", [("Edit", "src/../../x"), ("Edit", "src/../../x")], ()),
    ("a folder that is not there", [("Edit", "lib/a.ts"), ("Edit", "lib/b.ts")], ()),
    ("signs of globs", [("Edit", "TOP/src/[id].ts"), ("Edit", "TOP/src/[id].ts")], ()),
    ("nothing", [], ()),
]  # fmt: skip


@pytest.mark.parametrize(("acts", "expected"), [s[1:] for s in SCOPES], ids=[s[0] for s in SCOPES])
def test_globs(tmp_path: Path, acts: list[tuple[str, str]], expected: tuple[str, ...]) -> None:
    for name in ("src/api", "docs"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("Makefile", "README", "src/[id].ts"):
        (tmp_path / name).touch()
    cases = [
        case(tool=tool, gist=gist.replace("TOP", str(tmp_path)), n=n)
        for n, (tool, gist) in enumerate(acts)
    ]
    assert scope.globs(cases, tmp_path) == expected


def test_globs_below_a_masked_folder(tmp_path: Path) -> None:
    """Paths in the store are masked; the top of the tree is compared in the same form."""
    top = tmp_path / "jane@example.com" / "loom"
    (top / "api").mkdir(parents=True)
    cases = [case(tool="Edit", gist=f"{top}/api/{n}.ts", n=n) for n in range(2)]
    assert "jane" not in cases[0].gist
    assert scope.globs(cases, top) == ("api/**",)


MAIN = "not to push to main"
STANDING = [
    ("the same", ["I told you not to push to main."] * 2, "- Never push to main.\n", 1),
    ("with more words", ["don't push directly to main"] * 2, "Never push straight to main.\n", 1),
    ("plural", ["I said run the parser tests"] * 2, "x\n\n* Always run parser test suites\n", 3),
    ("Korean", ["main 브랜치에 푸시하지 말라고"] * 2, "main 브랜치에 푸시하지 않는다\n", 1),
    ("in a code span", ["I told you to use pnpm install"] * 2, "Use `pnpm install` here\n", 1),
    ("one word", ["I told you not to push"] * 2, "Push notifications are sent by hermes.\n", 0),
    ("generic words", ["I told you to always keep it"] * 2, "Always keep the code right.\n", 0),
    ("two of many", [MAIN] * 2, "The main menu has items to push, pull, drag, drop.\n", 0),
    ("only one case", [MAIN, "use tabs"], "Never push to main.\n", 0),
    ("in a fence", [MAIN] * 2, "```\nNever push to main.\n```\n", 0),
    ("other things", ["I told you to use tabs for indentation"] * 2, "Never push to main.\n", 0),
    ("words in every line", ["push the webshop main"] * 2, "push webshop main a\n" * 12, 0),
    ("no cases", [], "Never push to main.\n", 0),
]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "text", "line"), [s[1:] for s in STANDING], ids=[s[0] for s in STANDING]
)
def test_exists_not_kept(tmp_path: Path, said: list[str], text: str, line: int) -> None:
    (tmp_path / "CLAUDE.md").write_text(text)
    cases = [case(words, n=n) for n, words in enumerate(said)]
    found = standing(cases, instructions(tmp_path, ()))
    assert found == (Location(tmp_path / "CLAUDE.md", line) if line else None)


def names(top: Path, *claude: Path) -> list[str]:
    return [file.path.name for file in instructions(top, claude)]


def test_instructions_are_followed_four_hops(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("See @a/1.md.\n")
    (tmp_path / "a").mkdir()
    for n in range(1, 7):
        (tmp_path / "a" / f"{n}.md").write_text(f"@{n + 1}.md and @../CLAUDE.md\n")
    assert names(tmp_path) == ["CLAUDE.md", "1.md", "2.md", "3.md", "4.md"]


def test_what_is_no_import(tmp_path: Path) -> None:
    for name in ("x.md", "y.md", "z.md"):
        (tmp_path / name).write_text("x\n")
    (tmp_path / "CLAUDE.md").write_text("`@x.md`\n```\n@y.md\n```\nmail@z.md @none.md @~nobody/x\n")
    assert names(tmp_path) == ["CLAUDE.md"]


def test_all_places_are_read(tmp_path: Path, own_home: Path) -> None:
    claude = tmp_path / "claude"
    top = tmp_path / "top"
    for path in (
        claude / "CLAUDE.md", claude / "rules" / "u.md", top / "CLAUDE.local.md",
        top / ".claude" / "CLAUDE.md", top / ".claude" / "rules" / "deep" / "r.md",
        own_home / "home.md", tmp_path / "absolute.md",
    ):  # fmt: skip
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    (top / "CLAUDE.md").write_text(f"@~/home.md @{tmp_path}/absolute.md\n")
    assert names(top, claude) == [
        "CLAUDE.md", "u.md", "CLAUDE.md", "home.md", "absolute.md", "CLAUDE.md",
        "CLAUDE.local.md", "r.md",
    ]  # fmt: skip


def test_an_import_of_a_pipe_or_device_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "CLAUDE.md").write_text("@pipe @/dev/zero @/dev/stdin @. x\n")
    assert names(tmp_path) == ["CLAUDE.md"]
