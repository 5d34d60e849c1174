"""Small files that are wholly ours: units of systemd, the plist of launchd."""

from pathlib import Path

from pipeline import clock, documents
from pipeline.errors import StoreError
from pipeline.install.change import Action, Change, files_shown

PART = "schedule"
MODE = 0o644


def change(path: Path, after: str | None, backups: Path) -> Change:
    """What gives a file this content, or (None) removes it. Raises ConfigError, writes nothing."""
    if not path.parent.is_dir():
        before, data = "", None
    else:
        found = documents.read(path)
        before, data = found.text, found.data
    wanted = None if after is None else after.encode()
    if data == wanted:
        return Change(PART, str(path), Action.ABSENT if after is None else Action.UNCHANGED)

    def make() -> Path | None:
        _make_folder(path.parent)
        document = documents.read(path)
        kept = documents.backup(document, backups, clock.now())
        if document.data is None:
            document = documents.Document(document.path, document.real, None, MODE)
        documents.write(document, wanted)
        return kept

    action = Action.REMOVED if after is None else Action.ADDED if data is None else Action.REPLACED
    return Change(PART, str(path), action, files_shown(str(path), before, after or ""), make)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"cannot make the folder {folder}: {error.strerror}", "mend the permissions"
        ) from error
