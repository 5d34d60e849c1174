"""What every command is given."""

from dataclasses import dataclass

from pipeline.config import Config
from pipeline.screen import Screen


@dataclass(frozen=True, slots=True)
class Context:
    """Settings, streams and the flags that all commands share."""

    config: Config
    screen: Screen
    json: bool = False
    dry_run: bool = False
    yes: bool = False
