"""The doctor on the judge: off, ready, or what is missing."""

from typing import Any

import pytest

from tests.doctor.conftest import Person
from tests.install.calls import program

ROWS: list[tuple[str, str, dict[str, str], str, str]] = [
    ("off", "", {}, "ok", "off;"),
    ("set up, but off", 'backend = "anthropic"', {}, "ok", "off;"),
    ("no backend", "enabled = true", {}, "red", "no backend is named"),
    ("no key", 'enabled = true\nbackend = "anthropic"', {}, "red", "$ANTHROPIC_API_KEY"),
    ("no key of that name", 'enabled = true\nbackend = "anthropic-batch"\nkey_env = "MINE"',
     {"ANTHROPIC_API_KEY": "x"}, "red", "$MINE"),
    ("ready", 'enabled = true\nbackend = "anthropic"', {"ANTHROPIC_API_KEY": "x"}, "ok",
     "anthropic at https://api.anthropic.com: claude-haiku-5-5, then claude-sonnet-5-5"),
    ("elsewhere", 'enabled = true\nbackend = "anthropic"\nbase_url = "http://127.0.0.1:9"',
     {"ANTHROPIC_API_KEY": "x"}, "ok", "http://127.0.0.1:9"),
    ("a model that ends",
     'enabled = true\nbackend = "anthropic"\nfirst_model = "claude-sonnet-4-5"\n'
     "first_usd_in = 3\nfirst_usd_out = 15", {"ANTHROPIC_API_KEY": "x"}, "warn", "ends on"),
    ("no program", 'enabled = true\nbackend = "claude-cli"', {}, "red", "no claude on the PATH"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "environ", "state", "words"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_states(
    well: Person, monkeypatch: pytest.MonkeyPatch, text: str, environ: dict[str, str], state: str,
    words: str,
) -> None:  # fmt: skip
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    (well.home / "config.toml").write_text(f"[judge]\n{text}\n")
    found: dict[str, Any] = well.doctor()["judge"]
    assert (found["state"], words in found["detail"]) == (state, True), found
    assert well.ill() == ({} if state == "ok" else {"judge": state})


def test_the_program_is_found(well: Person) -> None:
    (well.home / "config.toml").write_text('[judge]\nenabled = true\nbackend = "claude-cli"\n')
    claude = program(well.programs, "claude", "")
    assert str(claude) in well.doctor()["judge"]["detail"]
