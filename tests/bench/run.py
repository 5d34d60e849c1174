"""`make bench`: what the work costs, in ratios to what the machine itself needs. No timed test.

Every row is measured in this one run, side by side, on logs that `logs.py` makes. Use the ratios.
"""

import argparse
import compileall
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pipeline
from pipeline.cases import write
from pipeline.cases.rows import Correction, FileRow, MinedFile, RepoRow, TurnRow
from pipeline.cases.store import open_writer
from pipeline.ledger.event import Happening, line
from pipeline.masking.masker import mask
from pipeline.masking.stored import table_digest
from pipeline.records import CaseType, Fate, Kind, Source
from pipeline.transcripts.counts import Counts
from tests.bench import hooks, logs, verdicts
from tests.ledger import repos
from tests.ledger.made import FULL, event

PYTHON = sys.executable
READ = """
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from pipeline.transcripts.discover import discover
from pipeline.transcripts.reader import Options, open_transcript
def read(file):
    with open_transcript(file, Options(noticed=False)) as transcript:
        return len(transcript.turns)
if __name__ == "__main__":
    files = discover([Path(sys.argv[1])]).files
    if sys.argv[2] == "1":
        print(sum(map(read, files)))
    else:
        with ProcessPoolExecutor(int(sys.argv[2])) as pool:
            print(sum(pool.map(read, files, chunksize=8)))
"""
IDLE = """
import duckdb
duckdb.connect(':memory:').execute('select 1')
print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))
"""
STAT = """
import os, sys
for folder in os.scandir(sys.argv[1] + "/projects"):
    for entry in os.scandir(folder): entry.stat()
"""
VERIFY = """
import sys
from pathlib import Path
from pipeline.ledger.verify import verify
report = verify(Path(sys.argv[1]), Path(sys.argv[2]))
assert not report.problems, report.problems[:3]
print(report.events, "events in", report.commits, "versions")
"""
CONNECT = "import duckdb, sys; duckdb.connect(sys.argv[1], read_only=True)"


class Cost:
    """What a child process used, and what it printed."""

    def __init__(self, cpu: float, wall: float, out: str) -> None:
        self.cpu, self.wall, self.out = cpu, wall, out

    @property
    def rss_mb(self) -> int:
        """Peak memory as a collecting run tells it."""
        return int(json.loads(self.out)["peak_rss_mb"])


def run(*words: str, stdout: int = subprocess.PIPE) -> Cost:
    """Runs a child to its end."""
    begun = time.perf_counter()
    child = subprocess.Popen(words, stdout=stdout, stderr=subprocess.DEVNULL, text=True)
    out = child.stdout.read() if child.stdout else ""
    _, status, used = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{words[0]} ended with {status}: {' '.join(words[1:4])}")
    return Cost(used.ru_utime + used.ru_stime, time.perf_counter() - begun, out)


def best(measure: Callable[[], Cost], times: int = 3) -> Cost:
    """The cheapest of several: everything else is the neighbours' noise."""
    return min((measure() for _ in range(times)), key=lambda cost: cost.cpu)


def collect(home: Path, claude: Path, *words: str) -> Cost:
    """A collecting run in a process of its own."""
    home.mkdir(exist_ok=True)
    return run(PYTHON, "-m", "pipeline", "collect", "-q", "--json", "--home", str(home),
               "--claude-dir", str(claude), *words)  # fmt: skip


class Table:
    """Prints a row at a time. A missed ratio is told, a prompt that was lost is an error."""

    def __init__(self) -> None:
        self.broken = False

    def row(self, what: str, figure: float, goal: float, detail: str, law: bool = False) -> None:
        """`law`: what no neighbour's noise excuses."""
        missed = figure > goal
        self.broken |= missed and law
        mark = "missed  " if missed else ""
        print(f"{what:<64}{figure:>8.2f}  <= {goal:<7g}{mark}{detail}", flush=True)


def reading(table: Table, top: Path, mib: int) -> None:
    """The big tree: reading alone, collecting, memory."""
    claude = top / "big"
    turns = logs.make(claude, mib << 20, 400, huge=150 << 20)
    files = [str(path) for path in sorted((claude / "projects").glob("*/*.jsonl"))]
    cat = best(lambda: run("cat", *files, stdout=subprocess.DEVNULL))
    alone = best(lambda: run(PYTHON, "-c", READ, str(claude), "1"))
    pair = best(lambda: run(PYTHON, "-c", READ, str(claude), "2"))
    assert int(alone.out) == turns, (alone.out, turns)
    human = top / "human.toml"
    human.write_text("noticed = false\n", encoding="utf-8")
    plain = best(lambda: collect(top / "h1", claude, "--rebuild", "--config", str(human)), times=2)
    noticed = best(lambda: collect(top / "h2", claude, "--rebuild"), times=2)
    idle_mb = int(best(lambda: run(PYTHON, "-c", IDLE)).out) / 1024
    table.row("collect --rebuild, human words only: CPU / cat", plain.cpu / cat.cpu, 10,
              f"{plain.cpu:.2f} s, cat {cat.cpu:.2f} s")  # fmt: skip
    table.row("the same with the noticed sources", noticed.cpu / cat.cpu, 16,
              f"{noticed.cpu:.2f} s")  # fmt: skip
    table.row("reading and recognising alone: CPU / cat", alone.cpu / cat.cpu, 6,
              f"{alone.cpu:.2f} s for {turns} turns")  # fmt: skip
    table.row("the same with 2 jobs: wall / cat wall", pair.wall / cat.wall, 4,
              f"{pair.wall:.2f} s, cat {cat.wall:.2f} s")  # fmt: skip
    table.row("peak memory above idle with DuckDB, MB", noticed.rss_mb - idle_mb, 60,
              f"{noticed.rss_mb:.0f} MB, idle {idle_mb:.0f} MB")  # fmt: skip
    image = top / "image"
    logs.make(image, 8 << 20, 4, huge=150 << 20, huge_human=True)
    human_line = collect(top / "h3", image)
    table.row("the same with a person's line of 150 MB", human_line.rss_mb - idle_mb, 60,
              f"{human_line.rss_mb:.0f} MB")  # fmt: skip
    small = top / "small"
    logs.make(small, (mib << 20) // 10, 40)
    tenth = best(lambda: collect(top / "h4", small, "--rebuild"))
    start = best(lambda: collect(top / "h4", small))
    ratio = (noticed.cpu - start.cpu) / max(tenth.cpu - start.cpu, 0.01)
    size = sum(Path(f).stat().st_size for f in files) / sum(
        path.stat().st_size for path in (small / "projects").glob("*/*.jsonl")
    )
    table.row("cost growth over log growth", ratio / size, 1.05, f"{size:.1f} x the log")


def nights(table: Table, top: Path) -> None:
    """Ten thousand files: a night without news, and one with news in a hundredth."""
    claude, home = top / "many", top / "h5"
    logs.make(claude, 40 << 20, 10_000)
    full = collect(home, claude)
    start = best(lambda: run(PYTHON, "-m", "pipeline", "collect", "-q", "--home",
                             str(top / "h6"), "--claude-dir", str(top / "none")))  # fmt: skip
    bare = best(lambda: run(PYTHON, "-c", "pass"))
    stat = best(lambda: run(PYTHON, "-c", STAT, str(claude)))
    quiet = best(lambda: collect(home, claude))
    paths = sorted((claude / "projects").glob("*/*.jsonl"))
    for path in paths[:: len(paths) // 100]:
        os.utime(path, ns=(time.time_ns(), time.time_ns()))
    news = collect(home, claude)
    table.row("night without news over 10,000 files / scandir+stat",
              (quiet.cpu - start.cpu) / max(stat.cpu - bare.cpu, 0.001), 2,
              f"{quiet.cpu - start.cpu:.3f} s, {stat.cpu - bare.cpu:.3f} s")  # fmt: skip
    table.row("night with news in 1 % / full rebuild", (news.cpu - quiet.cpu) / full.cpu, 0.05,
              f"{news.cpu - quiet.cpu:.2f} s, {full.cpu:.2f} s")  # fmt: skip


def screens(table: Table, top: Path) -> None:
    """A store of 100,000 cases: what a person waits for."""
    home = top / "h7"
    _fill(home, cases=100_000)
    store = str(home / "local_cases" / "cases.duckdb")
    base = best(lambda: run(PYTHON, "-c", CONNECT, store), times=7)
    for words in (
        ["show"],
        ["show", "repo-3/missed-item"],
        ["stats"],
        ["proposals"],
        ["cases", "--repo", "repo-3"],
    ):
        cost = best(lambda w=words: run(PYTHON, "-m", "pipeline", *w, "--home", str(home)), times=7)
        table.row(f"{' '.join(words)} on 100,000 cases / import and connect", cost.cpu / base.cpu,
                  1.5, f"{cost.cpu:.2f} s, {base.cpu:.2f} s")  # fmt: skip


def prompts(table: Table, top: Path) -> None:
    """The hook line at a prompt, through sh as the client runs it: wall time."""
    took = hooks.cases(top)
    for way, what, base, goal in (
        ("shown", "hook, already shown / the line with `-c pass`", "empty", 1.25),
        ("first", "hook, first prompt / the line with `-c pass`", "empty", 1.25),
        ("long", "hook with a 200 KB prompt / with 200 B", "shown", 1.2),
    ):
        table.row(what, took[way] / took[base], goal,
                  f"{took[way] * 1e3:.1f} ms, {took[base] * 1e3:.1f} ms")  # fmt: skip


def blocked(table: Table, top: Path) -> None:
    """Thousands of prompts, most of them under a fault of the hook: none may be lost (C6)."""
    fared = hooks.fates(top)
    for what, figure in (
        ("blocked", fared.blocked), ("with words on standard error", fared.talked),
        ("with a broken object", fared.broken),
    ):  # fmt: skip
        table.row(f"prompts {what}, of {fared.prompts:,}", figure, 0, f"{fared.shown} shown",
                  law=True)  # fmt: skip


def ledgers(table: Table, top: Path) -> None:
    """A ledger of 2,000 commits, one line each."""
    clone = repos.started(top / "team")
    counted = [event(Happening.RAISED)]
    counted += [
        event(Happening.COUNTED, n, counts=replace(FULL, days=n % 2)) for n in range(1, 2000)
    ]
    rows = [line(one) for one in counted]
    repos.imported(clone, [b"".join(rows[:n]) for n in range(1, 2001)])
    words = (PYTHON, "-c", VERIFY, str(clone.ledger), str(top / "h8"))
    cost = min((run(*words) for _ in range(3)), key=lambda cost: cost.wall)
    table.row("ledger verify of 2,000 commits, seconds", cost.wall, 2,
              f"{cost.cpu:.2f} s of CPU; {cost.out.strip()}")  # fmt: skip


def _fill(home: Path, cases: int) -> None:
    now, kinds = datetime(2026, 1, 1, tzinfo=UTC), list(CaseType)
    nothing = mask("").text
    with open_writer(home / "local_cases") as store:
        batch = []
        for file in range(cases // 100):
            key, repo = f"{file:032x}", f"{file % 30:032x}"
            turns = tuple(_turn(file, place, repo, now, kinds, nothing) for place in range(300))
            row = FileRow(key, False, 1, file, 1, 1, "bench")
            repos = (RepoRow(repo, f"repo-{file % 30}", ()),)
            batch.append(MinedFile(row, turns, frozenset(), repos, Counts()))
        for first in range(0, len(batch), 64):
            write.put_files(store, batch[first : first + 64], now)


def _turn(file, place, repo, now, kinds, nothing) -> TurnRow:  # type: ignore[no-untyped-def]
    at = now + timedelta(hours=7 * file, minutes=place)
    words = mask(f"you forgot part {place} of {file}").text
    case = Correction(kinds[place % len(kinds)], f"bench.rule.{place % 40}", "en", words, "Edit",
                      nothing, nothing, False, True, table_digest())  # fmt: skip
    return TurnRow(
        f"{file}-{place}:0", f"{file}-{place}", f"session-{file}", at, at.date(), False, repo,
        Source.HUMAN, Kind.TYPED, "U7", place, False, Fate.SENT, True, False,
        case if place < 100 else None,
    )  # fmt: skip


def rules(table: Table, top: Path) -> None:
    """The packs of all languages."""
    seconds, messages = verdicts.judging()
    table.row("classification of a message, median in microseconds", seconds * 1e6, 60,
              f"{messages} samples of the packs")  # fmt: skip
    table.row("loading all packs, milliseconds of CPU", verdicts.loading() * 1e3, 150, "")


PARTS = {part.__name__: part for part in (nights, screens, ledgers, prompts, blocked, rules)}


def main() -> int:
    """Everything, or the parts that are named. Returns 1 when a prompt was lost."""
    names = ["reading", *PARTS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(names)} (all)")
    parser.add_argument("--mib", type=int, default=1024, help="size of the big tree")
    given = parser.parse_args()
    if unknown := set(given.parts) - set(names):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    compileall.compile_dir(Path(pipeline.__file__).parent, quiet=2)  # as pip leaves it
    table = Table()
    print(f"{'what':<64}{'figure':>8}  {'goal':<10}")
    with tempfile.TemporaryDirectory(prefix="twice-told-bench-") as folder:
        for name in given.parts or names:
            if name == "reading":
                reading(table, Path(folder), given.mib)
            else:
                PARTS[name](table, Path(folder))
    return int(table.broken)


if __name__ == "__main__":
    sys.exit(main())
