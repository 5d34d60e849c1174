"""Opens the backend that the settings name."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from pipeline.config import Backend as Name
from pipeline.config import Config, JudgeConfig
from pipeline.errors import ModelError
from pipeline.files import private_dir
from pipeline.judge.backends.api import Api
from pipeline.judge.backends.batch import Batch
from pipeline.judge.backends.client import Client
from pipeline.judge.request import Backend

NO_BACKEND = "no backend is named, so `other` waits"


def opened(config: Config, environ: Mapping[str, str] = os.environ) -> Backend:
    """Raises ModelError when none is named, or its key is missing."""
    judge = config.judge
    match judge.backend:
        case None:
            raise ModelError(
                NO_BACKEND, 'set backend in [judge] of config.toml, as in "claude-cli"'
            )
        case Name.API:
            return Api(judge, key(judge, environ))
        case Name.BATCH:
            return Batch(judge, key(judge, environ))
        case Name.CLIENT:
            return Client(judge, private_dir(config.judge_folder), environ)
        case _:
            assert_never(judge.backend)


def direct(config: Config, environ: Mapping[str, str] = os.environ) -> Backend:
    """The same, for those who wait for the answers: a batch may take a day. Raises ModelError."""
    if config.judge.backend is Name.BATCH:
        config = replace(config, judge=replace(config.judge, backend=Name.API))
    return opened(config, environ)


def key(judge: JudgeConfig, environ: Mapping[str, str]) -> str:
    """The key, from the one variable that is named. Raises ModelError."""
    found = environ.get(judge.key_env, "").strip()
    if not found:
        raise ModelError(
            f"${judge.key_env} holds no key", "set it, or name another in judge.key_env"
        )
    return found
