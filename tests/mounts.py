"""Commands behind real mounts, in a mount namespace of their own."""

import os
import subprocess
import sys

import pytest

from pipeline.config import Config
from tests.collect.homes import Done, environment

FULL = 'mount -t tmpfs -o size=10m none "$1"'
REMOTE = 'mount --bind "$2" /proc/$$/mountinfo'
READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"'
_NAMESPACE = ["unshare", "--mount", "--propagation", "private", "sh", "-c"]


def behind(mount: str, config: Config, command: str, table: str = "") -> Done:
    """A command of ours, its home behind a mount; `table`: the mounts that it is to believe in."""
    if os.getuid():
        pytest.skip("mounting is for root")
    line = f'{mount} || exit 99; exec "$0" -m pipeline {command}'
    done = subprocess.run(
        [*_NAMESPACE, line, sys.executable, str(config.home), table],
        env=environment(config), capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    if done.returncode == 99 or "unshare" in done.stderr:
        pytest.skip("this machine lets nobody mount")
    return done
