"""What every test stands on: no real home is touched, and random tests repeat themselves."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no fault of the code: neither a deadline nor "too slow" may fail a test.
settings.register_profile(
    "repeatable",
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("explore", settings.get_profile("repeatable"), derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # In the background of a shell ^C is ignored, and so it would be in the programs under test.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that is empty, so that a test neither reads nor writes anything of the person's."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "claude"))
    monkeypatch.setenv("TWICE_TOLD_HOME", str(home / "twice-told"))
    for name in (
        "XDG_DATA_HOME", "XDG_CONFIG_HOME", "GIT_DIR", "GIT_WORK_TREE", "NO_COLOR", "TZ",
        "VISUAL", "EDITOR",
    ):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    return home
