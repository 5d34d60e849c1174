"""The schedule: which scheduler is taken, what stands in it afterwards, what stays untouched.

The schedulers are small programs on PATH that keep what they are told in files.
"""

import json
import plistlib
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.install import launchd, systemd
from pipeline.resources import folder
from tests.install.calls import Run, ours, program

CRONTAB = """
import os, sys
from pathlib import Path
table = Path(__file__).with_name("table")
match sys.argv[1:]:
    case ["-l"]:
        if not table.exists():
            sys.exit("no crontab for jane")
        refusal = Path(__file__).with_name("refuses")
        if refusal.exists():
            sys.exit("crontab: " + refusal.read_text())
        sys.stdout.buffer.write(table.read_bytes())
        if Path(__file__).with_name("somebody").exists():
            table.write_bytes(table.read_bytes() + b"# and one more\\n")
    case ["-"] if Path(__file__).with_name("forgets").exists():
        sys.stdin.buffer.read()
    case ["-"]:
        data = sys.stdin.buffer.read()
        if data and not data.endswith(b"\\n"):
            sys.exit("new crontab file is missing newline before EOF, can't install.")
        table.write_bytes(data)
    case ["-r"]:
        table.unlink()
    case _:
        sys.exit(64)
"""
SYSTEMCTL = """
import os, sys
from pathlib import Path
here = Path(__file__).parent
state = here / "timer"
words = sys.argv[1:]
with (here / "orders").open("a") as orders:
    orders.write(" ".join(words) + "\\n")
if words[0] != "--user" or (here / "unreachable").exists():
    sys.exit("Failed to connect to bus: No medium found")
units = Path(os.environ["HOME"]) / ".config" / "systemd" / "user"
loaded = here / "loaded-units"
match words[1:]:
    case ["daemon-reload"]:
        loaded.write_text("\\n".join(sorted(path.name for path in units.iterdir())))
    case ["is-enabled" | "is-active", name]:
        sys.exit(0 if state.exists() else 1)
    case ["enable" | "restart", name]:
        if not loaded.exists() or name not in loaded.read_text():
            sys.exit(f"Unit {name} not found.")
        state.touch()
    case ["disable", "--now", name]:
        if not (units / name).exists():
            sys.exit(f"Failed to disable unit: Unit file {name} does not exist.")
        state.unlink(missing_ok=True)
    case ["show", name, *_]:
        print("Tue 2026-12-01 03:17:00 UTC" if state.exists() else "")
"""
LAUNCHCTL = """
import os, plistlib, sys
from pathlib import Path
state = Path(__file__).with_name("loaded")
going = Path(__file__).with_name("going")
code = going.read_text()[:1] if going.exists() else ""
match sys.argv[1:]:
    case ["print", domain]:
        sys.exit(0 if "/com." not in domain or state.exists() else 113)
    case ["bootstrap", _, _] if code:
        going.write_text(going.read_text()[1:])
        error = {"5": "5: Input/output error", "7": "37: Operation already in progress"}[code]
        print("Bootstrap failed: " + error, file=sys.stderr)
        sys.exit(int(error.partition(":")[0]))
    case ["bootstrap", domain, path]:
        assert not state.exists()
        plistlib.loads(Path(path).read_bytes())
        state.touch()
    case ["bootout", domain]:
        state.unlink()
        slow = Path(__file__).with_name("slow")
        if slow.exists():
            slow.rename(going)
"""
"""`slow` and `going` hold one digit for each refusal that a bootstrap after a bootout meets."""
OTHERS = (
    b"# mine\n\nMAILTO=jane@example.com\n*/5 * * * *\techo 50\\% '\xff'\n"
    b"17 3 * * * /other # BEGIN twice-told\n"
)


@pytest.fixture
def crontab(programs: Path) -> Path:
    """The table behind `crontab`; not there yet."""
    program(programs, "crontab", CRONTAB)
    return programs / "table"


@pytest.fixture
def units(programs: Path, own_home: Path) -> Path:
    program(programs, "systemctl", SYSTEMCTL)
    return own_home / ".config" / "systemd" / "user"


@pytest.mark.parametrize("before", [None, b"", OTHERS, b"1 2 3 4 5 x\n", b"1 2 3 4 5 x\r\n"])
def test_crontab(run: Run, crontab: Path, own_home: Path, before: bytes | None) -> None:
    if before is not None:
        crontab.write_bytes(before)
    done = run("install", "schedule", "--yes")
    assert done.code == 0
    assert re.search(r"next night: \d{4}-\d\d-\d\dT03:17", done.out)
    after = crontab.read_bytes()
    assert after.endswith(before or b"# END twice-told\n")
    begin, line, end = after.removesuffix(before or b"").decode().splitlines()
    assert (begin[:18], end) == ("# BEGIN twice-told", "# END twice-told")
    assert line.startswith("17 3 * * * /bin/sh ")
    assert shlex.split(line)[6:9] == [
        str(folder("cron") / "nightly.sh"),
        sys.executable,
        str(own_home / "twice-told"),
    ]
    assert run("install", "schedule").out.startswith("crontab: unchanged")
    assert crontab.read_bytes() == after
    assert run("schedule", "status").out.startswith("crontab: next night ")
    assert run("uninstall", "schedule", "--yes").code == 0
    assert (crontab.read_bytes() if crontab.exists() else None) == before
    assert run("uninstall", "schedule").out.startswith("schedule: absent")
    assert "no schedule" in run("schedule").out


def test_an_empty_crontab_stays_through_changes(run: Run, crontab: Path, tmp_path: Path) -> None:
    crontab.touch()
    for home in ("one", "two"):
        assert run("install", "schedule", "--yes", "--home", tmp_path / home).code == 0
    assert run("uninstall", "schedule", "--yes", "--home", tmp_path / "one").code == 0
    assert crontab.read_bytes() == b""


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_our_lines_with_other_line_ends_are_ours(run: Run, crontab: Path, command: str) -> None:
    """As an editor of another system saves the table."""
    run("install", "schedule", "--yes")
    block = crontab.read_bytes()
    crontab.write_bytes((block + OTHERS).replace(b"\n", b"\r\n"))
    others = OTHERS.replace(b"\n", b"\r\n")
    assert run("schedule").out.startswith("crontab: next night ")
    assert run(command, "schedule", "--yes").code == 0
    assert crontab.read_bytes() == (block if command == "install" else b"") + others


def test_crontab_of_another_home_is_replaced(run: Run, crontab: Path, tmp_path: Path) -> None:
    crontab.write_bytes(OTHERS)
    run("install", "schedule", "--yes", "--home", tmp_path / "one")
    done = run("install", "schedule", "--yes", "--home", tmp_path / "it's two")
    assert "replaced" in done.out
    text = crontab.read_bytes()
    assert b"/one" not in text
    assert text.count(b"# END twice-told\n") == 1
    assert text.endswith(OTHERS)


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_crontab_is_not_written_unasked(run: Run, crontab: Path, command: str) -> None:
    if command == "uninstall":
        run("install", "schedule", "--yes")
    before = crontab.read_bytes() if crontab.exists() else None
    assert run(command, "schedule", "--dry-run").code == 0
    assert run(command, "schedule").code == 2
    assert (crontab.read_bytes() if crontab.exists() else None) == before


REFUSALS = ["you are not allowed to use this program", "cannot open /tmp/x: No such file"]


@pytest.mark.parametrize("words", REFUSALS)
def test_a_crontab_that_cannot_be_read_is_not_overwritten(
    run: Run, crontab: Path, words: str
) -> None:
    crontab.write_bytes(OTHERS)
    crontab.with_name("refuses").write_text(words)
    done = run("install", "schedule", "--yes")
    assert done.code == 3
    assert words in done.err
    assert crontab.read_bytes() == OTHERS


def test_a_crontab_that_changes_in_the_meantime_is_not_overwritten(run: Run, crontab: Path) -> None:
    crontab.write_bytes(OTHERS)
    crontab.with_name("somebody").touch()
    done = run("install", "schedule", "--yes")
    assert done.code == 3
    assert "in the meantime" in done.err
    assert crontab.read_bytes().startswith(OTHERS)


def test_a_crontab_that_does_not_take_is_said(run: Run, crontab: Path) -> None:
    crontab.write_bytes(OTHERS)
    crontab.with_name("forgets").touch()
    done = run("install", "schedule", "--yes")
    assert done.code == 3
    assert "not taken" in done.err


def test_a_block_without_its_end_is_not_guessed_at(run: Run, crontab: Path) -> None:
    broken = b"# BEGIN twice-told\n17 3 * * * x\n" + OTHERS
    crontab.write_bytes(broken)
    for command in ("install", "uninstall"):
        done = run(command, "schedule", "--yes")
        assert (done.code, crontab.read_bytes()) == (3, broken)
        assert "END" in done.err


@pytest.mark.parametrize(("name", "word"), [("50%", "%"), ("x" * 240 + "/" + "y" * 240, None)])
def test_what_cron_would_take_apart_is_refused(
    run: Run, crontab: Path, tmp_path: Path, name: str, word: str | None
) -> None:
    homes = tmp_path / ("z" * 240) / ("z" * 240) if word is None else tmp_path
    done = run("install", "schedule", "--yes", "--home", homes / name)
    assert done.code == 3
    assert (word or "too long") in done.err
    assert not crontab.exists()


def test_systemd(run: Run, units: Path, programs: Path) -> None:
    done = run("install", "schedule", "--yes")
    assert done.code == 0
    assert "next night: Tue 2026-12-01 03:17:00 UTC" in done.out
    service = (units / "twice-told-nightly.service").read_text(encoding="utf-8")
    timer = (units / "twice-told-nightly.timer").read_text(encoding="utf-8")
    assert "SuccessExitStatus=75" in service
    assert "Persistent=true" in timer
    assert "@" not in service + timer
    assert (units / "twice-told-nightly.timer").stat().st_mode & 0o777 == 0o644
    again = run("install", "schedule")
    assert (again.code, again.out.count("unchanged")) == (0, 2)
    status = run("schedule", "status", "--json").json
    assert status == {
        "installed": True,
        "by": "systemd",
        "next_run": "Tue 2026-12-01 03:17:00 UTC",
    }
    assert run("uninstall", "schedule", "--yes").code == 0
    assert not list(units.iterdir())
    assert not (programs / "timer").exists()
    assert (programs / "loaded-units").read_text(encoding="utf-8") == ""
    assert run("schedule", "status", "--json").json["installed"] is False


def test_systemd_that_was_switched_off_is_switched_on(
    run: Run, units: Path, programs: Path
) -> None:
    run("install", "schedule", "--yes")
    (programs / "timer").unlink()
    assert "not running" in run("schedule", "status").out
    assert run("install", "schedule", "--yes").code == 0
    assert (programs / "timer").exists()


def test_an_uninstall_that_was_cut_short_can_be_finished(
    run: Run, units: Path, programs: Path
) -> None:
    """The timer's file is gone and the service's is not; systemd knows no such timer then."""
    run("install", "schedule", "--yes")
    (programs / "timer").unlink()
    (units / "twice-told-nightly.timer").unlink()
    assert run("uninstall", "schedule", "--yes").code == 0
    assert not list(units.iterdir())


def test_a_barred_crontab_does_not_bar_systemd(run: Run, units: Path, crontab: Path) -> None:
    crontab.write_bytes(OTHERS)
    crontab.with_name("refuses").write_text(REFUSALS[0])
    assert run("schedule", "status").code == 0
    assert run("install", "schedule", "--yes").code == 0
    assert (units / "twice-told-nightly.timer").exists()
    assert run("uninstall", "schedule", "--yes").code == 0
    assert not list(units.iterdir())
    assert crontab.read_bytes() == OTHERS


def test_without_a_user_manager_cron_is_taken(
    run: Run, units: Path, crontab: Path, programs: Path
) -> None:
    (programs / "unreachable").touch()
    assert run("install", "schedule", "--yes").code == 0
    assert crontab.exists()
    assert not units.exists()


def test_the_night_runs_once_when_the_scheduler_changes(
    run: Run, units: Path, crontab: Path, programs: Path
) -> None:
    crontab.write_bytes(OTHERS)
    (programs / "unreachable").touch()
    run("install", "schedule", "--yes")
    (programs / "unreachable").unlink()
    assert run("install", "schedule", "--yes").code == 0
    assert (units / "twice-told-nightly.timer").exists()
    assert crontab.read_bytes() == OTHERS


def test_units_are_removed_even_when_the_manager_is_gone(
    run: Run, units: Path, programs: Path
) -> None:
    run("install", "schedule", "--yes")
    (programs / "unreachable").touch()
    assert run("uninstall", "schedule", "--yes").code == 0
    assert not list(units.iterdir())


def test_launchd(run: Run, programs: Path, own_home: Path, tmp_path: Path) -> None:
    program(programs, "launchctl", LAUNCHCTL)
    home = tmp_path / "a <b> & 'c' \"d\""
    assert run("install", "schedule", "--yes", "--home", home).code == 0
    path = own_home / "Library" / "LaunchAgents" / "com.twice-told.nightly.plist"
    found = plistlib.loads(path.read_bytes())
    assert found["ProgramArguments"][:2] == ["/bin/sh", str(folder("cron") / "nightly.sh")]
    assert found["ProgramArguments"][3] == str(home)
    assert found["StartCalendarInterval"] == {"Hour": 3, "Minute": 17}
    assert found["Umask"] == 0o077
    again = run("install", "schedule", "--home", home)
    assert (again.code, again.out.count("unchanged")) == (0, 1)
    assert run("install", "schedule", "--yes").code == 0
    assert run("schedule").out.startswith("launchd: next night ")
    assert run("uninstall", "schedule", "--yes").code == 0
    assert not path.exists()
    assert not (programs / "loaded").exists()


def test_launchd_that_is_slow_to_let_go(run: Run, programs: Path, tmp_path: Path) -> None:
    """`bootout` comes back before the old job is gone."""
    program(programs, "launchctl", LAUNCHCTL)
    assert run("install", "schedule", "--yes").code == 0
    (programs / "slow").write_text("577", encoding="utf-8")
    assert run("install", "schedule", "--yes", "--home", tmp_path / "two").code == 0
    assert (programs / "loaded").exists()
    assert (programs / "going").read_text(encoding="utf-8") == ""


def test_launchd_that_never_lets_go(
    run: Run, programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(programs, "launchctl", LAUNCHCTL)
    (programs / "going").write_text("5", encoding="utf-8")
    done = run("install", "schedule", "--yes")
    assert (done.code, "5: Input/output error" in done.err) == (3, True), "nothing was to go"
    assert run("install", "schedule", "--yes").code == 0
    monkeypatch.setattr(launchd, "GONE_WITHIN_SECONDS", 0.5)
    (programs / "slow").write_text("7" * 1000, encoding="utf-8")
    done = run("install", "schedule", "--yes", "--home", tmp_path / "two")
    assert (done.code, "37: Operation already" in done.err) == (3, True)


def test_without_any_scheduler(run: Run, programs: Path, settings: Path) -> None:
    done = run("install", "schedule", "--yes")
    assert done.code == 3
    assert "no scheduler" in done.err
    assert not settings.exists()


def test_the_hook_is_set_up_where_there_is_no_scheduler(
    run: Run, programs: Path, settings: Path
) -> None:
    dry = run("install", "--dry-run")
    assert (dry.code, settings.exists()) == (3, False)
    assert "UserPromptSubmit" in dry.out
    done = run("install", "--yes")
    assert done.code == 3
    assert "no scheduler" in done.err
    assert ours(settings.read_bytes())


def test_all_is_both(run: Run, crontab: Path, settings: Path) -> None:
    found = run("install", "--yes", "--json").json
    assert [change["part"] for change in found["changes"]] == ["hook", "schedule"]
    assert settings.exists()
    assert crontab.exists()
    assert run("uninstall", "--yes").code == 0
    assert not settings.exists()
    assert not crontab.exists()


def test_the_night_is_told_what_its_environment_will_not_say(
    run: Run, crontab: Path, own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """$CLAUDE_CONFIG_DIR is not there at night; what is the default anyway is not written down."""
    run("install", "schedule", "--yes")
    assert f"--claude-dir {own_home / 'claude'}" in crontab.read_text(encoding="utf-8")
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    config = tmp_path / "other.toml"
    config.write_text("", encoding="utf-8")
    run("install", "schedule", "--yes", "--config", config)
    text = crontab.read_text(encoding="utf-8")
    assert "--claude-dir" not in text
    assert f"--config {config}" in text


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze")
def test_systemd_accepts_the_units(tmp_path: Path, run: Run, units: Path) -> None:
    home, claude = tmp_path / "a 'b' \"c\" %h $HOME ${x}; d", tmp_path / "e \\ f"
    words = ("--home", home, "--claude-dir", claude)
    assert run("install", "schedule", "--yes", *words).code == 0
    analyze = shutil.which("systemd-analyze", path="/usr/bin:/bin")
    assert analyze
    for name in (systemd.SERVICE, systemd.TIMER):
        done = subprocess.run(
            [analyze, "--user", "verify", "--man=no", str(units / name)],
            capture_output=True, text=True, check=False,
            env={"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)},
        )  # fmt: skip
        assert name not in done.stderr, done.stderr
    text = units.joinpath(systemd.SERVICE).read_text(encoding="utf-8")
    (command,) = (line for line in text.splitlines() if line.startswith("ExecStart="))
    started = shlex.split(command.removeprefix("ExecStart="))
    assert started[3] == str(home).replace("%", "%%").replace("$", "$$")
    assert started[-1] == str(claude)


def test_templates_and_program_agree_on_the_hour() -> None:
    cron = folder("cron")
    assert "\n17 3 * * * @COMMAND@\n" in (cron / "crontab").read_text(encoding="utf-8")
    timer = (cron / "twice-told-nightly.timer").read_text(encoding="utf-8")
    assert "OnCalendar=*-*-* 03:17:00\n" in timer
    assert json.dumps("@COMMAND@") not in timer
