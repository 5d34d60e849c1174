"""Imports point downwards, and the few things that only one room may do are done only there.

Read from the syntax trees, imports inside functions too; a module that has no floor fails.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pipeline

PACKAGE = Path(pipeline.__file__).resolve().parent
FLOORS: tuple[tuple[str, ...], ...] = (
    ("__main__", "demo"),
    ("cli",),
    ("commands",),
    ("screen",),
    ("nightly",),
    ("doctor",),
    ("install", "report", "propose", "inject", "judge"),
    ("collect",),
    ("ledger",),
    ("cases",),
    ("masking",),
    ("classify",),
    ("transcripts",),
    ("config", "documents"),
    ("folders", "settings"),
    ("clock", "files", "git", "wording"),
    ("records", "errors", "resources"),
    ("__version__",),
)
"""From the top. Rooms on one floor do not import each other; the last is the package itself."""
LEVEL = {room: level for level, floor in enumerate(FLOORS) for room in floor}
GROUND = {"config", "clock", "files", "git", "records", "errors", "resources", "__version__"}
ALONE = {"hook", "run_hook"}
"""Must start in the time of a bare interpreter: they import nothing of the package."""
NARROW = {
    "screen": {"masking"},
    "ledger": {"masking", *GROUND},
    "masking": GROUND,
    "classify": GROUND,
    "transcripts": GROUND,
}
"""Rooms that may not use every floor below them."""
ONLY_IN = {
    "duckdb": {"cases"},
    "anthropic": {"judge"},
    "ijson": {"transcripts"},
    "rich": {"screen", "report", "demo"},
}
HEAVY = ("duckdb", "rich", "anthropic", "ijson", "tzdata")

Import = tuple[str, str, int]
"""Room that imports, dotted name that is imported, line."""


def modules() -> Iterator[tuple[str, str]]:
    """Room and source of every module."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts != ("__init__",):
            yield parts[0], path.read_text(encoding="utf-8")


def imports(room: str, source: str) -> Iterator[Import]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield room, alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{room}:{node.lineno}: imports are absolute"
            for alias in node.names:
                within = node.module in ("pipeline", None)
                yield room, f"pipeline.{alias.name}" if within else str(node.module), node.lineno


def is_upward(room: str, name: str) -> bool:
    """An import within the package that does not point down."""
    parts = name.split(".")
    if parts[0] != "pipeline" or len(parts) < 2 or parts[1] == room:
        return False
    other = parts[1]
    if room in ALONE or other in ALONE or room not in LEVEL or other not in LEVEL:
        return True
    return LEVEL[room] >= LEVEL[other] or other not in NARROW.get(room, {other})


def is_foreign(room: str, name: str) -> bool:
    """A library outside the one room that may know it."""
    return room not in ONLY_IN.get(name.split(".")[0], {room})


def masked_calls(source: str) -> Iterator[int]:
    """Lines that make MaskedText out of something, by call or by cast."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func).rpartition(".")[2]
        first = ast.unparse(node.args[0]).strip("'\"") if node.args else ""
        if called == "MaskedText" or (called == "cast" and first.endswith("MaskedText")):
            yield node.lineno


def test_every_module_has_a_floor() -> None:
    rooms = {room for room, _ in modules()}
    assert rooms - ALONE <= set(LEVEL)
    assert {"transcripts", "masking", "cases", "collect", "cli"} <= rooms


def test_imports_point_downwards() -> None:
    upward = [
        f"{room}:{line} imports {name}"
        for room, source in modules()
        for room, name, line in imports(room, source)
        if is_upward(room, name)
    ]
    assert upward == []


def test_libraries_stay_in_their_room() -> None:
    foreign = [
        f"{room}:{line} imports {name}"
        for room, source in modules()
        for room, name, line in imports(room, source)
        if is_foreign(room, name)
    ]
    assert foreign == []


def test_only_masking_makes_masked_text() -> None:
    """Privacy is a type: whoever could make it would not need the masker."""
    makers = {room for room, source in modules() if list(masked_calls(source))}
    assert makers == {"masking"}


@pytest.mark.parametrize(
    ("room", "name"),
    [
        ("transcripts", "pipeline.classify.engine"),
        ("classify", "pipeline.transcripts.reader"),
        ("masking", "pipeline.classify"),
        ("masking", "pipeline.transcripts"),
        ("cases", "pipeline.collect.run"),
        ("collect", "pipeline.commands.show"),
        ("collect", "pipeline.screen"),
        ("judge", "pipeline.report"),
        ("records", "pipeline.errors"),
        ("files", "pipeline.clock"),
        ("screen", "pipeline.config"),
        ("hook", "pipeline.records"),
        ("commands", "pipeline.hook"),
        ("surprise", "pipeline.records"),
        ("cli", "pipeline.surprise"),
    ],
)
def test_the_check_finds(room: str, name: str) -> None:
    assert is_upward(room, name)


@pytest.mark.parametrize(
    ("room", "name"),
    [
        ("collect", "pipeline.cases.store"),
        ("commands", "pipeline.screen"),
        ("screen", "pipeline.masking.inert"),
        ("transcripts", "pipeline.transcripts.scan"),
        ("transcripts", "json"),
        ("hook", "json"),
    ],
)
def test_the_check_allows(room: str, name: str) -> None:
    assert not is_upward(room, name)


def test_the_other_checks_find() -> None:
    assert is_foreign("collect", "duckdb")
    assert is_foreign("commands", "anthropic.types")
    assert not is_foreign("cases", "duckdb")
    seeded = "x = records.MaskedText('a')\ny = cast('MaskedText', 'b')\nz = cast(r.MaskedText, c)\n"
    assert list(masked_calls(seeded)) == [1, 2, 3]
    hidden = "def f():\n    from pipeline import cli\n"
    assert list(imports("masking", hidden)) == [("masking", "pipeline.cli", 2)]


HELP = """
import runpy, sys
sys.argv = ["twice-told", "--help"]
try:
    runpy.run_module("pipeline", run_name="__main__")
except SystemExit as end:
    assert end.code in (0, None), end.code
print(sorted({name.split(".")[0] for name in sys.modules}), file=sys.stderr)
"""


def test_help_loads_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HELP],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "twice-told" in done.stdout
    loaded = set(ast.literal_eval(done.stderr.strip().splitlines()[-1]))
    assert "argparse" in loaded
    assert not loaded & set(HEAVY)
