"""cron/nightly.sh in bare environments, really run."""

import itertools
import os
import shutil
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pipeline.resources import folder

SCRIPT = folder("cron") / "nightly.sh"
VARIABLES = {
    "PATH": "/nowhere",
    "HOME": "/nowhere",
    "USER": "jane",
    "LANG": "C",
    "LC_ALL": "xx_YY.latin1",
    "TERM": "dumb",
    "PYTHONHOME": "/nowhere",
    "PYTHONPATH": "/nowhere:.",
    "TWICE_TOLD_HOME": "/nowhere/home",
    "CLAUDE_CONFIG_DIR": "/nowhere/claude",
}
SHELLS = [shell for shell in ("/bin/sh", shutil.which("bash"), shutil.which("dash")) if shell]


def subsets(number: int) -> list[dict[str, str]]:
    """None, each alone, all, and then those of three, evenly drawn."""
    names = list(VARIABLES)
    chosen: list[tuple[str, ...]] = [(), *((name,) for name in names), tuple(names)]
    threes = list(itertools.combinations(names, 3))
    step = len(threes) // (number - len(chosen))
    chosen += threes[::step]
    return [{name: VARIABLES[name] for name in names} for names in chosen[:number]]


def night(
    home: Path, *words: str, env: dict[str, str] | None = None, python: str = sys.executable,
    shell: str = "/bin/sh",
) -> subprocess.CompletedProcess[bytes]:  # fmt: skip
    return subprocess.run(
        [shell, str(SCRIPT), python, str(home), *words],
        env=env or {}, stdin=subprocess.DEVNULL, capture_output=True, check=False, cwd="/",
    )  # fmt: skip


def log(home: Path) -> str:
    return (home / "local_cases" / "runs" / "nightly.log").read_text(encoding="utf-8")


def test_forty_environments(tmp_path: Path) -> None:
    """Each ends with 0 and says nothing; the log adds up and names what was missing."""
    claude = tmp_path / "claude"
    shutil.copytree(Path(folder("pipeline")) / "sample", claude)
    environments = subsets(40)
    assert len({tuple(env) for env in environments}) == 40

    def one(number: int) -> None:
        home, env = tmp_path / f"집 {number}", environments[number]
        done = night(home, "--claude-dir", str(claude), env=env)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), env
        text = log(home)
        assert "files: 3 seen, 3 read" in text, env
        assert "the night ended well" in text
        missing = [name for name in ("PATH", "HOME", "USER", "LANG") if name not in env]
        words = " ".join(["preflight: missing from the environment:", *missing])
        assert (f"{words}; " in text) == bool(missing), env
        assert (home / "local_cases" / "runs" / "last_run.json").exists()

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one, range(40)))


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell(tmp_path: Path, shell: str) -> None:
    assert night(tmp_path / "it's $HOME", shell=shell).returncode == 0
    text = log(tmp_path / "it's $HOME")
    assert "missing from the environment: PATH HOME USER LANG;" in text


def test_what_it_writes_is_private(tmp_path: Path) -> None:
    home = tmp_path / "home"
    night(home)
    for path in (home / "local_cases").rglob("*"):
        assert stat.S_IMODE(path.lstat().st_mode) & 0o077 == 0, path


def python_that(tmp_path: Path, does: str) -> str:
    """An interpreter that passes the preflight and then does something else than the night."""
    path = tmp_path / "python"
    path.write_text(f'#!/bin/sh\n[ "$1" = -I ] && exit 0\n{does}\n', encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("code", [0, 1, 2, 3, 4, 75, 130])
def test_the_exit_code_is_passed_on(tmp_path: Path, code: int) -> None:
    home = tmp_path / "home"
    done = night(home, python=python_that(tmp_path, f"echo said; exit {code}"))
    assert done.returncode == code
    assert "said\n" in log(home)
    assert bool(done.stderr) == (code not in (0, 75))
    if done.stderr:
        assert str(home / "local_cases" / "runs" / "nightly.log") in done.stderr.decode()


def test_a_killed_night_is_a_failure(tmp_path: Path) -> None:
    done = night(tmp_path / "home", python=python_that(tmp_path, "kill -9 $$"))
    assert done.returncode == 137


def test_a_real_failure_is_passed_on(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text("nonsense = 1\n", encoding="utf-8")
    assert night(home).returncode == 3
    assert "unknown key" in log(home)


def test_the_log_stays_small(tmp_path: Path) -> None:
    home = tmp_path / "home"
    python = python_that(tmp_path, "yes 'a line of some length, again and again' | head -c 3000000")
    for _ in range(20):
        assert night(home, python=python).returncode == 0
    files = list((home / "local_cases" / "runs").iterdir())
    assert sorted(path.name for path in files) == ["nightly.log", "nightly.log.1"]
    assert all(path.stat().st_size < 600_000 for path in files)


@pytest.mark.parametrize("python", ["/nowhere/python", "/bin/false", "/"])
def test_a_missing_interpreter_is_named(tmp_path: Path, python: str) -> None:
    done = night(tmp_path / "home", python=python)
    assert done.returncode == 3
    assert python in done.stderr.decode()
    assert python in log(tmp_path / "home")


def test_missing_words_and_unusable_homes(tmp_path: Path) -> None:
    assert subprocess.run(["/bin/sh", str(SCRIPT)], capture_output=True).returncode == 2
    file = tmp_path / "file"
    file.touch()
    done = night(file)
    assert done.returncode == 3
    assert str(file) in done.stderr.decode()


def test_packaged_as_in_a_wheel(tmp_path: Path) -> None:
    """There the files of cron/ lie inside the package."""
    site = tmp_path / "site"
    package = folder("pipeline")
    shutil.copytree(package, site / "pipeline", ignore=shutil.ignore_patterns("__pycache__"))
    for kind in ("cron", "rules", "prompts"):
        shutil.copytree(folder(kind), site / "pipeline" / "_data" / kind)
    script = site / "pipeline" / "_data" / "cron" / "nightly.sh"
    home = tmp_path / "home"
    done = subprocess.run(
        ["/bin/sh", str(script), sys.executable, str(home)], env={}, capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b""), log(home)
    assert "the night ended well" in log(home)
