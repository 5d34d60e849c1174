"""Puts what was mined into the store: a file's record and its turns in one transaction."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from pipeline.cases.copies import refresh
from pipeline.cases.read import free_name
from pipeline.cases.rows import FileRow, MinedFile, RepoRow, TurnRow
from pipeline.cases.store import Store
from pipeline.cases.tombstones import buried_keys
from pipeline.clock import microseconds


def put_files(store: Store, batch: Sequence[MinedFile], now: datetime) -> None:
    """Replaces what some files said, in one transaction with their records.

    A turn whose line has vanished from its file stays as it was; one that was withdrawn, or whose
    line is read differently now, does not.
    """
    with store.transaction():
        for repo in {repo.key: repo for mined in batch for repo in mined.repos}.values():
            _put_repo(store, repo)
        _put_places(store, [repo for mined in batch for repo in mined.repos])
        buried = buried_keys(store, [turn.key for mined in batch for turn in mined.turns])
        turns = [
            (mined.file.key, turn)
            for mined in batch
            for turn in mined.turns
            if turn.key not in buried
        ]
        stale = _delete_standing(store, batch)
        _insert(store, "turns", [(file, *_values(turn)) for file, turn in turns])
        _put_records(store, [mined.file for mined in batch])
        _put_tallies(store, batch)
        _put_acted(store, turns)
        refresh(store, {*stale, *(turn.key for _, turn in turns)}, now)


def _put_repo(store: Store, repo: RepoRow) -> None:
    if store.rows("SELECT 1 FROM repos WHERE key = ?", [repo.key]):
        return
    name = free_name(store, repo.key, repo.base_name)
    store.con.execute("INSERT INTO repos VALUES (?, ?, ?)", [repo.key, name, repo.base_name])


def _put_places(store: Store, repos: Sequence[RepoRow]) -> None:
    """Folders and working trees. The last word on one counts: a repository can move into it."""
    for table, places in (
        ("folders", {folder: repo.key for repo in repos for folder in repo.folders}),
        ("trees", {tree: repo.key for repo in repos for tree in repo.trees}),
    ):
        if places:
            store.con.execute(
                f"INSERT INTO {table} SELECT unnest(?), unnest(?)"
                " ON CONFLICT DO UPDATE SET repo = excluded.repo",
                [list(places), list(places.values())],
            )


def _delete_standing(store: Store, batch: Sequence[MinedFile]) -> list[str]:
    """Removes what the files said before of lines that they still hold; the turns' keys."""
    known = {
        row[0]
        for row in store.rows(
            "SELECT DISTINCT file FROM turns WHERE file IN (SELECT unnest(?))",
            [[mined.file.key for mined in batch]],
        )
    }
    standing = [
        (mined.file.key, uuid)
        for mined in batch
        if mined.file.key in known
        for uuid in {*mined.seen, *(turn.uuid for turn in mined.turns)}
    ]
    if not standing:
        return []
    files, uuids = map(list, zip(*standing, strict=True))
    rows = store.rows(
        "DELETE FROM turns USING (SELECT unnest($files) AS file, unnest($uuids) AS uuid) AS s"
        " WHERE turns.file = s.file AND turns.uuid = s.uuid RETURNING turns.key",
        {"files": files, "uuids": uuids},
    )
    return [row[0] for row in rows]


def _insert(store: Store, table: str, rows: Sequence[tuple[Any, ...]], rest: str = "") -> None:
    """All rows in one statement. `rest`: its values for further columns, and what else follows."""
    if rows:
        columns = [list(column) for column in zip(*rows, strict=True)]
        places = ", ".join("unnest(?)" for _ in columns)
        store.con.execute(f"INSERT INTO {table} SELECT {places}{rest}", columns)


def _values(turn: TurnRow) -> tuple[Any, ...]:
    """In the order of the table's columns, without the file."""
    place = (
        turn.key, turn.id, turn.uuid, turn.session, microseconds(turn.at), turn.day,
        turn.inferred_at, turn.repo, turn.source.value, turn.kind.value, turn.row, turn.number,
        turn.headless, int(turn.fate), turn.answered, turn.interrupted,
    )  # fmt: skip
    case = turn.correction
    if case is None:
        return (*place, None, "", "", "", "", "", "", False, False, "")
    return (
        *place, case.type.value, case.rule_id, case.lang, case.text, case.tool, case.gist,
        case.said, case.admitted, case.named, case.masked_by,
    )  # fmt: skip


def _put_records(store: Store, files: Sequence[FileRow]) -> None:
    rows = [
        (
            file.key, file.subagent, file.device, file.inode, file.size,
            file.mtime_ns, file.settings, file.script,
        )
        for file in files
    ]  # fmt: skip
    _insert(
        store,
        "files",
        rows,
        ", true, NULL ON CONFLICT DO UPDATE SET subagent = excluded.subagent,"
        " device = excluded.device, inode = excluded.inode, size = excluded.size,"
        " mtime_ns = excluded.mtime_ns, settings = excluded.settings, script = excluded.script,"
        " present = true, own_us = NULL",
    )


def _put_tallies(store: Store, batch: Sequence[MinedFile]) -> None:
    """What a file tells beside its turns is counted anew with every reading of it."""
    files = [mined.file.key for mined in batch]
    hits = [
        (mined.file.key, hit.day, hit.rule_id, hit.fired, hit.alone)
        for mined in batch
        for hit in mined.shadows
    ]
    shown = {
        (mined.file.key, showing.uuid, showing.session, microseconds(showing.at))
        for mined in batch
        for showing in mined.showings
    }
    for table, rows in (("shadow_hits", hits), ("showings", sorted(shown))):
        store.con.execute(f"DELETE FROM {table} WHERE file IN (SELECT unnest(?))", [files])
        _insert(store, table, rows)


def _put_acted(store: Store, turns: Sequence[tuple[str, TurnRow]]) -> None:
    """After which of these turns the agent acted; what vanished from a file stays as it was."""
    for sql, rows in (
        ("DELETE FROM acted USING (SELECT unnest(?) AS file, unnest(?) AS id) AS s"
         " WHERE acted.file = s.file AND acted.id = s.id", turns),
        ("INSERT OR IGNORE INTO acted SELECT unnest(?), unnest(?)",
         [pair for pair in turns if pair[1].worked]),
    ):  # fmt: skip
        if rows:
            store.con.execute(sql, [[file for file, _ in rows], [turn.id for _, turn in rows]])


def set_present(store: Store, keys: Iterable[str]) -> None:
    """Notes which transcripts exist now; cases outlive them."""
    with store.transaction():
        store.con.execute(
            "UPDATE files SET present = (key IN (SELECT unnest($keys)))"
            " WHERE present <> (key IN (SELECT unnest($keys)))",
            {"keys": list(keys)},
        )
