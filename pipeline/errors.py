"""What can go wrong in a way that its reader can act on.

Each error carries a message (what failed, and where) and a hint (what to do next). Neither ever
holds words that a person typed: ids, paths, line numbers and lengths only.
"""


class PipelineError(Exception):
    """A known fault. `exit_code` is what the command line ends with."""

    exit_code = 3

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(PipelineError):
    """The command was called with words that it does not take."""

    exit_code = 2


class ConfigError(PipelineError):
    """The configuration file or the environment is unusable."""


class SourceError(PipelineError):
    """A transcript cannot be opened or read."""


class RuleError(PipelineError):
    """A rule pack is broken. One broken pack stops the run: half a rule set gives wrong numbers."""


class MaskError(PipelineError):
    """The masker failed; the text it was given must be dropped."""


class StoreError(PipelineError):
    """The store of cases cannot be opened, read or written."""


class OlderStoreError(StoreError):
    """The store was made by an older version; the next writer brings it up to date."""


class LedgerError(PipelineError):
    """The ledger of proposals cannot be read or written."""


class ModelError(PipelineError):
    """A model cannot be asked, or a prompt is broken. The cases stay as they were."""


class NotBuiltError(PipelineError):
    """A command of the contract whose part does not exist yet."""


class Busy(PipelineError):
    """Another run holds the lock of this home."""

    exit_code = 75
