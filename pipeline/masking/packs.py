"""Reads rules/mask/*.toml into detectors.

A file holds `format = 1` and [[detector]] tables:

    id = "secret.github-token"      # group.slug, stable for ever
    kind = "github-token"           # what the marker shows
    action = "marker"               # marker: the sentence goes; replace: only the value, in place
    keywords = ["ghp_"]             # lower case; one must occur in the lower-cased text
    digits = 8                      # optional, how many digits the text must hold at least
    pattern = '''…'''               # on `regex`; a group named `value` narrows what is hidden
    validator = "luhn"              # optional, a name of validators.BY_NAME
    match, reject = ["…"], ["…"]    # samples, see samples.py

A table [parts] names pieces of patterns; `@{name}` stands for the piece.
Keywords are matched in lower case, patterns are case-sensitive unless they say (?i). One broken
file stops everything with RuleError: half a table would let text out.
"""

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import regex

from pipeline import resources
from pipeline.errors import RuleError
from pipeline.masking import validators
from pipeline.masking.detectors import Detector, Do, Table, indexed

_REQUIRED = {"id", "kind", "action", "keywords", "pattern", "match", "reject"}
_OPTIONAL = {"digits", "validator"}
_PART = regex.compile(r"@\{(\w+)\}")
_FLAGS = regex.ASCII
"""`\\b` and `\\w` know ASCII only: beside Korean, Japanese and Chinese a value has no space."""


@functools.cache
def table() -> Table:
    """All detectors that ship, in the order of files and rows. Raises RuleError."""
    return load(resources.folder("rules") / "mask")


def load(folder: Path) -> Table:
    """The detectors of one folder. Raises RuleError for anything that is not as it should be."""
    found: dict[str, Detector] = {}
    for path in sorted(folder.glob("*.toml")):
        parts, rows = _content(path)
        for row in rows:
            detector = _detector(path, parts, row)
            if detector.id in found:
                raise RuleError(f"{path}: {detector.id} stands there twice", "rename one of them")
            found[detector.id] = detector
    if not found:
        raise RuleError(f"{folder} holds no mask detectors", "install the product again")
    return indexed(found.values())


def _content(path: Path) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """The parts, each with the parts before it put in, and the rows."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise RuleError(f"{path} cannot be read: {error}", "mend the file") from error
    if data.get("format") != 1 or not isinstance(data.get("detector"), list):
        raise RuleError(f"{path}: no format = 1 with [[detector]] tables", "mend the file")
    parts: dict[str, str] = {}
    for name, piece in data.get("parts", {}).items():
        parts[name] = _whole(piece, parts, f"{path}: part {name}")
    return parts, data["detector"]


def _whole(pattern: str, parts: Mapping[str, str], where: str) -> str:
    """The pattern with its parts put in."""
    try:
        return str(_PART.sub(lambda part: parts[part[1]], pattern))
    except KeyError as error:
        raise RuleError(f"{where} names the unknown part {error}", "define it above") from error


def _detector(path: Path, parts: Mapping[str, str], row: dict[str, Any]) -> Detector:
    where = f"{path}: {row.get('id', 'a detector without id')}"
    if not _REQUIRED <= row.keys() <= _REQUIRED | _OPTIONAL:
        wrong = sorted((row.keys() ^ _REQUIRED) - _OPTIONAL)
        raise RuleError(f"{where}: missing or unknown keys {', '.join(wrong)}", "mend the row")
    pattern = _whole(row["pattern"], parts, where)
    try:
        return Detector(
            id=row["id"],
            kind=row["kind"],
            action=Do(row["action"]),
            keywords=tuple(row["keywords"]),
            digits=row.get("digits", 0),
            pattern=pattern,
            is_valid=validators.BY_NAME[row["validator"]] if "validator" in row else None,
            match=tuple(row["match"]),
            reject=tuple(row["reject"]),
            compiled=functools.cache(functools.partial(regex.compile, pattern, _FLAGS)),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise RuleError(f"{where}: {error!r}", "mend the row") from error
