"""The line itself, run by real shells: it starts the right hook, and no fault comes through."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.install.line import HOOK, guarded, interpreter
from tests.install.calls import Run, ours

SHELLS = [shell for shell in ("sh", "bash", "dash", "zsh") if shutil.which(shell)]
NAMES = {
    "plain": "home",
    "spaces": "my home  dir",
    "quotes": 'it\'s "mine"',
    "dollar": "$HOME ${x} $(touch pwned) `touch pwned`",
    "specials": "*[x]{a,b};&|<>()#!~=%",
    "letters": "집/日本/é",
    "dash": "-rf",
}
FORK = b'{"session_id": "s1", "hook_event_name": "SessionStart", "source": "fork", "cwd": "/"}'


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_the_installed_line_reaches_its_home(
    run: Run, settings: Path, tmp_path: Path, shell: str, name: str
) -> None:
    """A fork is marked as served in the very home that was given."""
    home = tmp_path / "homes" / name
    seen = home / "local_cases" / "seen"
    seen.mkdir(parents=True)
    assert run("install", "hook", "--yes", "--home", home).code == 0
    command = ours(settings.read_bytes())["SessionStart"][0]["hooks"][0]["command"]
    done = subprocess.run([shell, "-c", command], input=FORK, capture_output=True, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert len(list(seen.iterdir())) == 1
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("shell", SHELLS)
def test_backslashes_reach_the_script_too(tmp_path: Path, shell: str) -> None:
    """No home holds one, but the folder of the program may."""
    folder = tmp_path / "a\\b\\\\c\\"
    folder.mkdir()
    script = fault(folder, "import os; os.write(1, b'{\"hookSpecificOutput\":{}}')")
    line = guarded(interpreter(), str(script), str(tmp_path))
    done = subprocess.run([shell, "-c", line], input=FORK, capture_output=True, check=False)
    assert done.stdout == b'{"hookSpecificOutput":{}}'


@pytest.mark.parametrize(
    "name", ["a\nb", "a\rb", "a\tb", "a\x1bb", "a\udcffb", "a\u2028b"], ids=ascii
)
def test_what_no_line_can_hold_is_refused(
    run: Run, settings: Path, tmp_path: Path, name: str
) -> None:
    settings.write_text("{}", encoding="utf-8")
    done = run("install", "hook", "--yes", "--home", tmp_path / name)
    assert done.code == 3
    assert settings.read_text(encoding="utf-8") == "{}"


def test_the_interpreter_is_the_real_one(run: Run, settings: Path) -> None:
    run("install", "hook", "--yes")
    command = ours(settings.read_bytes())["UserPromptSubmit"][0]["hooks"][0]["command"]
    assert f'$("{interpreter()}" -I -S "{HOOK}" "' in command
    assert Path(interpreter()).is_file()
    assert not Path(interpreter()).is_symlink()
    done = subprocess.run(
        [interpreter(), "-I", "-S", "-c", "import sys; print(sys.version_info[:2])"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == str(sys.version_info[:2])


def fault(tmp_path: Path, source: str) -> Path:
    path = tmp_path / "hook.py"
    path.write_text(source, encoding="utf-8")
    return path


FAULTS = {
    "script missing": None,
    "syntax": "(",
    "exit 2": "raise SystemExit(2)",
    "exit 1 unread": "raise SystemExit(1)",
    "half an object": "import os; os.write(1, b'{\"a'); os._exit(2)",
    "killed half way": "import os; os.write(1, b'{\"a'); os.kill(os.getpid(), 9)",
    "complains": "import sys; sys.stderr.write('no'); sys.exit(2)",
}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("source", FAULTS.values(), ids=FAULTS)
def test_no_fault_costs_a_prompt(tmp_path: Path, shell: str, source: str | None) -> None:
    script = fault(tmp_path, source) if source else tmp_path / "missing.py"
    line = guarded(interpreter(), str(script), str(tmp_path))
    prompt = json.dumps({"prompt": "x" * 5_000_000}).encode()
    done = subprocess.run([shell, "-c", line], input=prompt, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_no_interpreter_costs_no_prompt(tmp_path: Path) -> None:
    line = guarded("/nowhere/python", str(HOOK), str(tmp_path))
    done = subprocess.run(["sh", "-c", line], input=FORK, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("end", ["raise SystemExit(1)", ""], ids=["exit 1", "empty"])
@pytest.mark.parametrize("python", [interpreter(), "/nowhere/python"], ids=["runs", "missing"])
def test_no_writer_breaks(tmp_path: Path, shell: str, python: str, end: str) -> None:
    """The prompt is read to its end even when the hook leaves it (host reports of EPIPE)."""
    script = fault(tmp_path, end)
    line = guarded(python, str(script), str(tmp_path))
    with subprocess.Popen([shell, "-c", line], stdin=subprocess.PIPE) as process:
        assert process.stdin
        left = memoryview(b"x" * 5_000_000)
        while left:
            left = left[os.write(process.stdin.fileno(), left) :]
    assert process.returncode == 0


def test_an_object_comes_through_whole(tmp_path: Path) -> None:
    text = json.dumps(
        {"hookSpecificOutput": {"a": "%s \\n 한국 $x `y` " + "z" * 5000}}, ensure_ascii=False
    )
    text = text.replace(": {", ":{", 1)
    script = fault(tmp_path, f"import os; os.write(1, {text.encode()!r})")
    line = guarded(interpreter(), str(script), str(tmp_path))
    done = subprocess.run(["sh", "-c", line], input=FORK, capture_output=True, check=False)
    assert done.stdout.decode() == text


@pytest.mark.parametrize("text", ["hello", "{bad", '{"a":1}', '{"hookSpecificOutput":{"a":1}'])
def test_what_is_not_our_object_is_dropped(tmp_path: Path, text: str) -> None:
    """At exit code 0 too: the client hands broken JSON to the model as it is (2.1.332)."""
    script = fault(tmp_path, f"import os; os.write(1, {text.encode()!r})")
    line = guarded(interpreter(), str(script), str(tmp_path))
    done = subprocess.run(["sh", "-c", line], input=FORK, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
