"""What an install must remember of a file, so that uninstall gives back its very bytes.

One small file for each of them, in `<home>/local_cases/install/`. Losing it costs nothing but an
empty container: our entries are recognised by themselves.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pipeline.errors import StoreError
from pipeline.files import private_dir, write_private

FOLDER = "install"


@dataclass(frozen=True, slots=True)
class Memory:
    """How one file was before we came."""

    hollows: dict[str, str] = field(default_factory=dict)
    """Containers that were empty, and the space inside them."""
    made_file: bool = False
    made_folder: bool = False


def file(local_cases: Path, settings: Path) -> Path:
    """Where it is written down."""
    name = hashlib.sha256(str(settings).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return local_cases / FOLDER / f"{name}.json"


def recall(local_cases: Path, settings: Path) -> Memory:
    """What was remembered; nothing when there is none or it is damaged."""
    try:
        found = json.loads(file(local_cases, settings).read_bytes())
        hollows = {
            str(path): inner
            for path, inner in found["hollows"].items()
            if isinstance(inner, str) and not inner.strip(" \t\r\n")
        }
        return Memory(hollows, bool(found["made_file"]), bool(found["made_folder"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Memory()


def remember(local_cases: Path, settings: Path, memory: Memory) -> None:
    """Writes it down, before the settings file is changed. Raises StoreError."""
    path = file(local_cases, settings)
    private_dir(path.parent)
    write_private(path, json.dumps(asdict(memory)).encode() + b"\n")


def forget(local_cases: Path, settings: Path) -> None:
    """After an uninstall. Raises StoreError."""
    path = file(local_cases, settings)
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(
            f"cannot remove {path}: {error.strerror}", "mend its permissions"
        ) from error
