"""Runs a command once for each place at which it can be killed; run as a process of its own.

Words: the stride, then the command. For each Nth place a copy of a home is made, a child runs
the command and kills itself before (odd) or after (even) that write, sync, rename, unlink,
statement or commit; another child runs a normal night; a third one tells what is stored. Ends when
a child has come through unharmed. Faults are put below our code, into os and the connection.
"""

import functools
import gzip
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

import pipeline.cli as cli
from pipeline import config
from pipeline.cases import read
from pipeline.cases.store import open_reader
from pipeline.classify import packs
from pipeline.masking.masker import mask

HOME = Path(os.environ["TWICE_TOLD_HOME"])
WORD = "zanzibar"
STATEMENTS = ("CHECKPOINT", "COPY", "DETACH", "ATTACH", "INSERT", "DELETE", "UPDATE", "CREATE")


class Killer:
    """Counts the places; at the chosen one the process dies."""

    def __init__(self, target: int) -> None:
        self.count, self.target = 0, target

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **more: Any) -> Any:
            self.pass_()
            result = call(*args, **more)
            self.pass_()
            return result

        return wrapped

    def pass_(self) -> None:
        self.count += 1
        if self.count == self.target:
            os.kill(os.getpid(), signal.SIGKILL)


class Connection:
    """A DuckDB connection whose writing calls are places."""

    def __init__(self, con: Any, killer: Killer) -> None:
        self._con, self._killer = con, killer

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._con, name)
        return self._killer.around(found) if name in ("commit", "close") else found

    def execute(self, sql: str, *rest: Any) -> Any:
        if sql.strip().startswith(STATEMENTS):
            return self._killer.around(self._con.execute)(sql, *rest)
        return self._con.execute(sql, *rest)


def arm(target: int) -> None:
    killer = Killer(target)
    for name in ("write", "fsync", "replace", "rename", "unlink", "link"):
        setattr(os, name, killer.around(getattr(os, name)))
    connect = duckdb.connect
    duckdb.connect = lambda *a, **k: Connection(connect(*a, **k), killer)  # type: ignore[assignment]


def child(work: Callable[[], int], quiet: bool = True) -> int:
    """Exit code of a forked process, negative for a signal."""
    pid = os.fork()
    if pid == 0:
        if quiet:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
        try:
            code = work()
        except BaseException:
            code = 99
        sys.stdout.flush()
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def look(home: Path, place: Path) -> int:
    """Writes what is stored."""
    with open_reader(home / "local_cases") as store:
        found = read.cases(store, read.Wanted(hidden=True)) if store else None
    rows = None if found is None else sorted([c.id, c.text, c.session, c.repo] for c in found)
    place.write_text(json.dumps(rows), encoding="utf-8")
    return 0


def looked(home: Path) -> str:
    place = home.with_name("state.json")
    code = child(lambda: look(home, place))
    return place.read_text(encoding="utf-8") if code == 0 else f'"unreadable {code}"'


def leaks(home: Path) -> list[str]:
    found = []
    for path in home.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            if path.suffix == ".gz":
                data = gzip.decompress(data)
            if WORD.encode() in data:
                found.append(path.name)
    return found


def main() -> None:
    stride, words = int(sys.argv[1]), sys.argv[2:]
    home, base = HOME.with_name("home-n"), HOME.with_name("home-base")
    os.environ["TWICE_TOLD_HOME"] = str(base)
    if words[0] != "nightly":
        assert child(lambda: cli.main(["nightly"])) == 0
    os.environ["TWICE_TOLD_HOME"] = str(home)
    packs.load = functools.cache(packs.load)  # read once, here: every child inherits them
    packs.load(config.load().rule_folders)
    mask("warm")
    report: dict[str, Any] = {"killed": 0, "unharmed": False, "without_store": 0}
    codes, states, leaking = set(), set(), set()
    for target in range(1, 2000, stride):
        shutil.rmtree(home, ignore_errors=True)
        if base.exists():
            shutil.copytree(base, home)
        os.environ["TWICE_TOLD_HOME"] = str(home)
        export = next(iter(sorted((home / "local_cases" / "exports").glob("*.gz"))), "")
        said = [str(export) if word == "EXPORT" else word for word in words]

        def armed(number: int = target, said: list[str] = said) -> int:
            arm(number)
            return cli.main(said)

        code = child(armed)
        report["without_store"] += looked(home) == "null" and words[0] != "nightly"
        codes.add(child(lambda: cli.main(["nightly"])))
        stored = looked(home)
        states.add(stored)
        if words[0] == "forget" and stored == "[]":
            leaking |= {f"{target}: {name}" for name in leaks(home)}
        if code != -signal.SIGKILL:
            report["unharmed"] = code == 0
            break
        report["killed"] += 1
    report |= {"codes": sorted(codes), "states": sorted(states), "leaks": sorted(leaking)}
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
