"""What earlier runs left to a collecting run: files, folders, cases."""

from pipeline.cases.last_word import RULED, TYPE
from pipeline.cases.rows import FileRow
from pipeline.cases.store import Store
from pipeline.records import CaseType, Source


def file_records(store: Store) -> dict[str, FileRow]:
    """The record of every file ever read, by key."""
    rows = store.rows(
        "SELECT key, subagent, device, inode, size, mtime_ns, settings, script FROM files"
    )
    return {row[0]: FileRow(*row) for row in rows}


def known_folders(store: Store) -> dict[str, tuple[str, str]]:
    """Key and base name of the repository of every folder that was seen, by folder key."""
    rows = store.rows(
        "SELECT f.key, r.key, r.base_name FROM folders AS f JOIN repos AS r ON r.key = f.repo"
    )
    return {folder: (repo, name) for folder, repo, name in rows}


def case_ids(store: Store) -> set[str]:
    """The ids of all cases."""
    return {row[0] for row in store.rows("SELECT id FROM cases")}


def types_of(store: Store, keys: list[str]) -> dict[str, tuple[str, CaseType, Source]]:
    """Id, type and source of those of the turns that are cases, by turn key."""
    rows = store.rows(
        f"SELECT c.key, c.id, {TYPE}, c.source FROM cases AS c {RULED}"
        " WHERE c.key IN (SELECT unnest(?))",
        [keys],
    )
    return {key: (id_, CaseType(type_), Source(source)) for key, id_, type_, source in rows}
