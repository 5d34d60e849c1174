"""Which file a rule goes to, and which it may go to."""

import json
from pathlib import Path

import pytest

from pipeline.config import Config
from pipeline.ledger.fold import State
from pipeline.propose import target
from pipeline.records import CaseType
from tests.collect.homes import command, put, run
from tests.propose.raised import DAY, SENTENCE, exchange, raise_, states, told_twice

SAID = "You forgot the zanzibar tests for the parser."
RULES = b"# Rules\n"


@pytest.fixture
def raised(config: Config, root: Path, repo: Path) -> Config:
    told_twice(config, root, repo, SAID, SAID)
    raise_(config)
    return config


def lay(top: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text.startswith("->"):
            path.symlink_to(text[2:])
        else:
            path.write_text(text)


OURS = ".claude/rules/twice-told.md"
DEFAULTS = {
    "nothing": ({}, "CLAUDE.md"),
    "CLAUDE.md": ({"CLAUDE.md": "x"}, "CLAUDE.md"),
    "an empty one": ({"CLAUDE.md": ""}, "CLAUDE.md"),
    "the inner one": ({".claude/CLAUDE.md": "x"}, ".claude/CLAUDE.md"),
    "both": ({"CLAUDE.md": "x", ".claude/CLAUDE.md": "x"}, "CLAUDE.md"),
    "rules alone": ({".claude/rules/a.md": "x"}, "CLAUDE.md"),
    "AGENTS.md alone": ({"AGENTS.md": "x"}, OURS),
    "AGENTS.md and rules": ({"AGENTS.md": "x", OURS: "mine\n"}, OURS),
    "AGENTS.md and an empty CLAUDE.md": ({"AGENTS.md": "x", "CLAUDE.md": " \n"}, OURS),
    "AGENTS.md and CLAUDE.md": ({"AGENTS.md": "x", "CLAUDE.md": "x"}, "CLAUDE.md"),
    "AGENTS.md imported": ({"AGENTS.md": "x", "CLAUDE.md": "@AGENTS.md\n"}, "CLAUDE.md"),
    "AGENTS.md linked": ({"AGENTS.md": "x", "CLAUDE.md": "->AGENTS.md"}, OURS),
    "AGENTS.md and an inner one": (
        {"AGENTS.md": "x", ".claude/CLAUDE.md": "x"},
        ".claude/CLAUDE.md",
    ),
    "ours bound to other files": (
        {"AGENTS.md": "x", OURS: '---\npaths:\n  - "src/**"\n---\n'},
        ".claude/rules/twice-told-2.md",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("files", "expected"), DEFAULTS.values(), ids=DEFAULTS)
def test_where_a_rule_goes_by_itself(
    raised: Config, repo: Path, files: dict[str, str], expected: str
) -> None:
    lay(repo, files)
    before = {path: path.read_bytes() for path in repo.rglob("*") if ".git" not in path.parts
              and path.is_file()}  # fmt: skip
    done = command(raised, "accept", "1", "--text", SENTENCE, "--yes")
    assert done.returncode == 0, done.stderr
    assert SENTENCE in (repo / expected).read_text()
    assert ("AGENTS.md" in done.stderr) == (expected.startswith(".claude/rules"))
    assert command(raised, "retire", "1", "--yes").returncode == 0
    assert before == {path: path.read_bytes() for path in repo.rglob("*")
                      if ".git" not in path.parts and path.is_file()}  # fmt: skip


NAMED = [
    "CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", ".claude/rules/style.md", "./CLAUDE.md",
    "docs/../CLAUDE.md",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_what_may_be_named(raised: Config, repo: Path, name: str) -> None:
    done = command(raised, "accept", "1", "--text", SENTENCE, "--yes", "--target", name)
    assert done.returncode == 0, done.stderr
    (file,) = (p for p in repo.rglob("*.md"))
    assert SENTENCE in file.read_text()
    assert command(raised, "retire", "1", "--yes").returncode == 0
    assert not file.exists()
    assert not (repo / ".claude" / "rules").exists(), "nor the folder that was made for it"


def test_a_folder_of_rules_with_something_in_it_stays(raised: Config, repo: Path) -> None:
    lay(repo, {"AGENTS.md": "x", ".claude/rules/deep/mine.txt": "x"})
    assert command(raised, "accept", "1", "--text", SENTENCE, "--yes").returncode == 0
    assert command(raised, "retire", "1", "--yes").returncode == 0
    assert [p.name for p in (repo / ".claude" / "rules").iterdir()] == ["deep"]


@pytest.mark.parametrize("name", ["CLAUDE.md", "rules/mine.md"])
def test_the_users_own(raised: Config, repo: Path, root: Path, name: str) -> None:
    (root / "rules").mkdir()
    own = str(root / name)
    done = command(raised, "accept", "1", "--text", SENTENCE, "--yes", "--target", own)
    assert done.returncode == 0, done.stderr
    assert "every repository" in done.stderr
    assert (root / name).stat().st_mode & 0o777 == 0o600
    assert command(raised, "retire", "1", "--yes").returncode == 0
    assert not (root / name).exists()
    assert (root / "rules").is_dir(), "the person's own"


REFUSED = [
    "AGENTS.md", "README.md", "src/CLAUDE.md", "/etc/passwd", "../CLAUDE.md", "~/.bashrc",
    "~nobody-of-this-name/CLAUDE.md", ".claude/rules/../../../CLAUDE.md", ".claude/rules/x.txt",
    ".claude/rules/deep/x.md", ".claude/settings.json", ".git/CLAUDE.md", ".claude/rules/.md", "",
    "a\x00b", "CLAUDE.md/x", ".claude/rules/a b.md",
]  # fmt: skip


@pytest.mark.parametrize("name", REFUSED, ids=[ascii(name) for name in REFUSED])
def test_what_may_not(raised: Config, repo: Path, name: str) -> None:
    (repo / "src").mkdir()
    done = command(raised, "accept", "1", "--text", SENTENCE, "--yes", "--target", name)
    assert done.returncode == 2, done
    assert "  next: " in done.stderr
    assert list(repo.rglob("*.md")) == []
    assert states(raised)[0].state is State.RAISED


def test_a_named_file_that_switches_agents_md_off_is_warned_of(raised: Config, repo: Path) -> None:
    lay(repo, {"AGENTS.md": "x"})
    for name, warned in [("CLAUDE.md", True), ("CLAUDE.local.md", True),
                         (".claude/rules/x.md", False)]:  # fmt: skip
        done = command(raised, "accept", "1", "--text", SENTENCE, "--dry-run", "--target", name)
        assert ("will not be read any more" in done.stderr) is warned, name
    lay(repo, {"CLAUDE.md": "x"})
    done = command(raised, "accept", "1", "--text", SENTENCE, "--dry-run")
    assert "AGENTS" not in done.stderr


def test_a_file_of_rules_is_bound_to_the_files_of_the_cases(
    config: Config, root: Path, repo: Path
) -> None:
    lay(repo, {"AGENTS.md": "x", "src/api/a.ts": "", "src/api/v2/b.ts": "", "docs/x.md": ""})
    for n, name in enumerate(("src/api/a.ts", "src/api/v2/b.ts")):
        records = exchange(
            f"f{n}", repo, SAID, "Edit", n * DAY, file_path=str(repo / name), old_string="a"
        )
        put(root, f"f{n}", records)
    run(config)
    raise_(config)
    dry = command(config, "accept", "1", "--dry-run")
    assert "under `src/api/**`" in dry.stdout
    assert command(config, "accept", "1", "--text", SENTENCE, "--yes").returncode == 0
    file = repo / OURS
    assert file.read_text().startswith('---\npaths:\n  - "src/api/**"\n---\n\n<!-- twice-told:')
    raise_(config, 2, kind=CaseType.WRONG_RESULT)
    second = command(config, "accept", "2", "--text", "Other.", "--yes")
    assert second.returncode == 0
    assert (repo / ".claude/rules/twice-told-2.md").exists(), "not bound to the first one's files"
    third = command(config, "retire", "2", "--yes")
    assert third.returncode == 0
    warned = command(config, "accept", "2", "--text", "Other.", "--dry-run", "--target", OURS)
    assert "only read along with" in warned.stderr
    assert command(config, "retire", "1", "--yes").returncode == 0
    assert not file.exists()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", None),
        (b"# x\n---\npaths: a\n---\n", None),
        (b"---\ntitle: x\n---\n", None),
        (b"---\r\npaths:\r\n  - a\r\n---\r\n", "- a"),
        (b'---\npaths:\n  - "src/**"\n---\ntext', '- "src/**"'),
        (b"---\npaths: never closed\n", None),
    ],
)
def test_front_matter(data: bytes, expected: str | None) -> None:
    bound = target.paths_of(data)
    assert bound == expected


def test_the_json_names_the_target(raised: Config, repo: Path) -> None:
    lay(repo, {"AGENTS.md": "x"})
    done = command(raised, "accept", "1", "--text", SENTENCE, "--yes", "--json")
    assert json.loads(done.stdout)["target"] == str(repo / OURS)
