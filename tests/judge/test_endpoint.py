"""Text and key go to the configured address alone, whatever environment and disk say (T29)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.config import Config, JudgeConfig
from pipeline.errors import ModelError
from pipeline.judge.backends.api import connect
from pipeline.judge.backends.choose import opened
from tests.collect.homes import environment
from tests.judge.conftest import KEY, Court, Serve
from tests.judge.test_kills import written

STANDARD = {
    "accept", "accept-encoding", "authorization", "connection", "content-length", "content-type",
    "host", "user-agent", "anthropic-version", "x-api-key",
}  # fmt: skip


def hostile(other: str, home: Path) -> dict[str, str]:
    """Everything that the SDK is known to obey."""
    profile = {"base_url": other, "authentication": {"type": "user_oauth"}}
    for folder in (home / ".config" / "anthropic", home / ".anthropic"):
        (folder / "configs").mkdir(parents=True)
        (folder / "configs" / "evil.json").write_text(json.dumps(profile))
        (folder / "active_config").write_text("evil")
    return {
        "ANTHROPIC_BASE_URL": other,
        "ANTHROPIC_AUTH_TOKEN": "foreign-token",
        "ANTHROPIC_API_KEY": "foreign-key",
        "ANTHROPIC_PROFILE": "evil",
        "ANTHROPIC_CONFIG_DIR": str(home / ".config" / "anthropic"),
        "ANTHROPIC_CUSTOM_HEADERS": "X-Evil: 1\nAuthorization: Bearer foreign\nx-api-key: foreign"
        f"\nHost: {other}\nanthropic-version: 1999-01-01",
        "ANTHROPIC_LOG": "debug",
        "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE": "content",
        "ANTHROPIC_FEDERATION_RULE_ID": "evil",
        "ANTHROPIC_IDENTITY_TOKEN": "evil",
        "HOME": str(home),
    }


@pytest.mark.parametrize("backend", ["anthropic", "anthropic-batch"])
def test_a_hostile_environment(court: Serve, backend: str, tmp_path: Path) -> None:
    here, other = court(lambda case, model: "missed-item"), court(lambda case, model: "x")
    here.ask(3)
    written(here, backend)  # type: ignore[arg-type]
    more = hostile(other.server.url, tmp_path / "evil")
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-m", "pipeline", "nightly"],
            env=environment(here.config, MADE_UP_KEY=KEY, **more),
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), "no log of the SDK either"
    assert (other.server.received, other.server.elsewhere, other.server.batches) == ([], [], {})
    assert here.server.received
    assert {case.decided_by for case in here.cases()} == {"judge"}
    for request in here.server.received:
        names = {n for n in request.headers if not n.startswith("x-stainless")}
        assert names <= STANDARD
        assert request.headers["authorization"] == f"Bearer {KEY}"
        assert request.headers["x-api-key"] == KEY
        assert request.headers["anthropic-version"] == "2023-06-01"
        assert "foreign" not in json.dumps(dict(request.headers))


def test_a_redirect_is_not_followed(court: Serve) -> None:
    here, other = court(lambda case, model: "redirect"), court(lambda case, model: "x")
    here.server.redirect_to = other.server.url
    here.ask(2)
    assert "status 307" in here.night().warnings[0]
    assert (other.server.received, other.server.elsewhere) == ([], [])


def test_the_environment_is_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "mine")
    before = dict(os.environ)
    standard = connect(JudgeConfig(), KEY)
    assert dict(os.environ) == before
    assert str(standard.base_url) == "https://api.anthropic.com"
    assert standard.api_key == KEY
    assert standard.max_retries == 0
    assert "x-api-key" not in {name.lower() for name in standard.default_headers}


def test_the_key_comes_from_the_named_variable_alone(config: Config) -> None:
    from dataclasses import replace

    from pipeline.config import Backend

    config = replace(config, judge=JudgeConfig(backend=Backend.API, key_env="MADE_UP_KEY"))
    with pytest.raises(ModelError, match="MADE_UP_KEY") as refused:
        opened(config, {"ANTHROPIC_API_KEY": "mine"})
    assert "mine" not in refused.value.message + refused.value.hint
    opened(config, {"MADE_UP_KEY": KEY}).close()


def test_the_standard_server_gets_the_newest_form(court: Serve) -> None:
    """Effort and no old headers; a compatible one gets neither effort nor any temperature."""
    from pipeline.judge.backends.api import parameters
    from pipeline.judge.request import Request

    model = JudgeConfig().first
    request = Request("a1", model, "s", "u", {"type": "object"})
    body = parameters(request, JudgeConfig())
    assert body["output_config"]["effort"] == "low"
    assert body["max_tokens"] >= 2000
    here: Court = court(lambda case, model: "x")
    assert parameters(request, here.config.judge)["output_config"].keys() == {"format"}
    for found in (body, parameters(request, here.config.judge)):
        assert not {"temperature", "top_p", "top_k", "tool_choice", "tools"} & found.keys()
