"""The words that proposals are worded with: prompts/proposals.toml, and the packs' stop words."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from pipeline import resources
from pipeline.errors import RuleError
from pipeline.records import CaseType


@dataclass(frozen=True, slots=True)
class Words:
    """What the file holds."""

    drafts: Mapping[CaseType, str]
    """A sentence for each of the four types."""
    parts: Mapping[str, str]
    """What is put into it."""
    generic: frozenset[str]
    """Lower case; they tell nothing about what an instruction is about."""


@cache
def words() -> Words:
    """Raises RuleError when the file is not as it should be."""
    path = resources.folder("prompts") / "proposals.toml"
    try:
        data = tomllib.loads(path.read_text("utf-8"))
        kinds: list[CaseType] = [kind for kind in CaseType if kind is not CaseType.OTHER]
        drafts = {kind: str(data["drafts"][kind.value]) for kind in kinds}
        generic = frozenset(data["standing"]["generic"].split()) | _stop_words()
        return Words(drafts, data["parts"], generic)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RuleError(f"{path} cannot be used: {error!r}", "install the product again") from error


def _stop_words() -> frozenset[str]:
    found: set[str] = set()
    for path in sorted(resources.folder("rules").glob("*/stopwords.txt")):
        lines = path.read_text("utf-8").splitlines()
        found.update(line.strip().casefold() for line in lines if not line.startswith("#"))
    return frozenset(found)
