"""Writes one setting into a person's settings file and leaves every other byte as it was."""

import json
import re
import tomllib
from collections.abc import Iterator

from pipeline.errors import ConfigError

_TABLE = re.compile(rb"^[ \t]*\[[ \t]*ledger[ \t]*\][ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)", re.MULTILINE)


def with_ledger(text: bytes, folder: str, where: str) -> bytes:
    """The settings with `[ledger] path`; as they were when they have it already. `where` names the
    file in errors.

    Raises ConfigError for another path, and for a form that only its writer should change.
    """
    value = json.dumps(folder, ensure_ascii=False)
    hint = f"write it yourself: [ledger] path = {value}"
    try:
        before = tomllib.loads(text.decode("utf-8"))
        entry = f"path = {value}".encode()
    except ValueError as error:
        raise ConfigError(f"{where} cannot take the ledger's path", hint) from error
    table = before.get("ledger", {})
    if table.get("path") == folder:
        return text
    if "path" in table:
        raise ConfigError(f"{where} names another ledger already", "take its [ledger] path out")
    wanted = before | {"ledger": table | {"path": folder}}
    for changed in _candidates(text, entry):
        if _parsed(changed) == wanted:
            return changed
    raise ConfigError(f"{where} has its [ledger] in an unusual form", hint)


def _candidates(text: bytes, entry: bytes) -> Iterator[bytes]:
    """Below each line that could be the table's head; else in a table of its own at the end."""
    end = b"\r\n" if b"\r\n" in text else b"\n"
    for found in _TABLE.finditer(text):
        head = text[: found.end()]
        yield head + (b"" if head.endswith(b"\n") else end) + entry + end + text[found.end() :]
    gap = b"" if not text else end if text.endswith(b"\n") else end + end
    yield text + gap + b"[ledger]" + end + entry + end


def _parsed(text: bytes) -> object:
    try:
        return tomllib.loads(text.decode("utf-8"))
    except ValueError:
        return None
