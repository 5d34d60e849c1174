"""Puts what was mined into the store: a file's record and its turns in one transaction."""

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from pipeline.cases.read import free_name
from pipeline.cases.rows import FileRow, MinedFile, RepoRow, TurnRow
from pipeline.cases.store import Store
from pipeline.clock import local_day

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_COPIED = """id, key, file, session, at_us, day, inferred_at, repo, source, kind, "row", number,
    interrupted, type, rule_id, lang, text, tool, gist, said, admitted, named, masked_by"""


WORDS = "sha256(concat_ws(chr(31), c.text, c.tool, c.gist, c.said))"
"""Names all that a case says; masked text holds no control."""


def microseconds(at: datetime) -> int:
    """An instant as the store keeps it, exact."""
    delta = at - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


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
        _insert(store, turns)
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


def _insert(store: Store, turns: Sequence[tuple[str, TurnRow]]) -> None:
    if turns:
        rows = ((file, *_values(turn)) for file, turn in turns)
        columns = [list(column) for column in zip(*rows, strict=True)]
        places = ", ".join("unnest(?)" for _ in columns)
        store.con.execute(f"INSERT INTO turns SELECT {places}", columns)


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
    columns = [
        list(column)
        for column in zip(
            *(
                (
                    file.key, file.subagent, file.device, file.inode, file.size,
                    file.mtime_ns, file.settings, file.script,
                )
                for file in files
            ),
            strict=True,
        )
    ]  # fmt: skip
    places = ", ".join("unnest(?)" for _ in columns)
    store.con.execute(
        f"INSERT INTO files SELECT {places}, true, NULL"
        " ON CONFLICT DO UPDATE SET subagent = excluded.subagent,"
        " device = excluded.device, inode = excluded.inode, size = excluded.size,"
        " mtime_ns = excluded.mtime_ns, settings = excluded.settings, script = excluded.script,"
        " present = true, own_us = NULL",
        columns,
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
        if rows:
            columns = [list(column) for column in zip(*rows, strict=True)]
            places = ", ".join("unnest(?)" for _ in columns)
            store.con.execute(f"INSERT INTO {table} SELECT {places}", columns)


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


def refresh(store: Store, keys: Iterable[str], now: datetime) -> None:
    """Chooses anew, for these turns, the copy that stands for all of them: heard, perhaps a case.

    A person's copy beats a headless one, the main transcript a subagent's; then the original: the
    file whose oldest line that no other file holds is oldest (a file without one comes first).
    """
    store.con.execute("CREATE OR REPLACE TEMP TABLE touched (key VARCHAR PRIMARY KEY)")
    store.con.execute("INSERT INTO touched SELECT unnest(?)", [list(keys)])
    store.con.execute(
        "CREATE OR REPLACE TEMP TABLE before AS SELECT id, type, rule_id FROM cases"
        " WHERE key IN (SELECT key FROM touched)"
    )
    for table in ("cases", "heard"):
        store.con.execute(f"DELETE FROM {table} WHERE key IN (SELECT key FROM touched)")
    store.con.execute("""
        CREATE OR REPLACE TEMP TABLE chosen AS SELECT * FROM (
            SELECT turns.*, bool_or(fate = 2) OVER copies
                OR (bool_or(fate = 1) OVER copies AND NOT bool_or(answered) OVER copies) AS dead
            FROM turns WHERE key IN (SELECT key FROM touched)
            WINDOW copies AS (PARTITION BY key)
        ) AS t JOIN (SELECT key AS file_key, subagent, own_us, present FROM files) AS f
            ON f.file_key = t.file
        WHERE NOT dead
        QUALIFY row_number() OVER (
            PARTITION BY key ORDER BY headless, subagent, own_us NULLS LAST, NOT present, file
        ) = 1""")
    store.con.execute(f"INSERT INTO cases SELECT {_COPIED} FROM chosen WHERE type IS NOT NULL")
    store.con.execute(
        "INSERT INTO heard SELECT key, id, session, at_us, day, repo FROM chosen"
        " WHERE source = 'human' AND NOT headless"
    )
    store.con.execute(
        """INSERT INTO verdicts SELECT c.id, $now, 'rule', c.type, c.rule_id FROM cases AS c
        LEFT JOIN before AS b ON b.id = c.id
        WHERE c.key IN (SELECT key FROM touched)
          AND (b.id IS NULL OR b.type <> c.type OR b.rule_id <> c.rule_id)""",
        {"now": microseconds(now)},
    )
    drop_stale_verdicts(store, "c.key IN (SELECT key FROM touched)")


def drop_stale_verdicts(store: Store, which: str = "true") -> None:
    """A verdict of the judge falls with the words it was about. `which`: a condition on cases."""
    store.con.execute(
        f"DELETE FROM judged USING cases AS c"
        f" WHERE c.id = judged.id AND judged.words <> {WORDS} AND {which}"
    )


def set_present(store: Store, keys: Iterable[str]) -> None:
    """Notes which transcripts exist now; cases outlive them."""
    with store.transaction():
        store.con.execute(
            "UPDATE files SET present = (key IN (SELECT unnest($keys)))"
            " WHERE present <> (key IN (SELECT unnest($keys)))",
            {"keys": list(keys)},
        )


def unsettled_files(store: Store, there: Iterable[str]) -> list[list[str]]:
    """Groups of main transcripts with copies of the same human turns and no known original.

    One of them, which is `there`, was read since: by this run or by one that was killed.
    """
    pairs = store.rows(
        """SELECT DISTINCT a.file, b.file FROM turns AS a JOIN turns AS b USING (key)
        JOIN files AS fa ON fa.key = a.file JOIN files AS fb ON fb.key = b.file
        WHERE a.file < b.file AND a.source = 'human' AND NOT fa.subagent AND NOT fb.subagent"""
    )
    groups: dict[str, set[str]] = {}
    for left, right in pairs:
        merged = groups.get(left, {left}) | groups.get(right, {right})
        for member in merged:
            groups[member] = merged
    rows = store.rows("SELECT key FROM files WHERE own_us IS NULL")
    wanted = {row[0] for row in rows} & set(there)
    unique = {id(group): group for group in groups.values() if group & wanted}
    return sorted(sorted(group) for group in unique.values())


def set_own(store: Store, own: dict[str, int | None], now: datetime) -> None:
    """Records when the oldest line of its own was written in each file; None: as it was."""
    with store.transaction():
        for file, at_us in own.items():
            if at_us is not None:
                store.con.execute("UPDATE files SET own_us = ? WHERE key = ?", [at_us, file])
        keys = store.rows(
            "SELECT DISTINCT key FROM turns WHERE file IN (SELECT unnest(?))", [list(own)]
        )
        refresh(store, [row[0] for row in keys], now)


def flag_scripts(store: Store, sessions: int, now: datetime) -> None:
    """Takes back the unmarked turns of files that begin with the same long prompt again and again.

    From `sessions` files on, a program wrote it; what was kept of it is dropped.
    """
    with store.transaction():
        keys = store.rows(
            """UPDATE turns SET headless = true, type = NULL, rule_id = '', lang = '', text = '',
                tool = '', gist = '', said = '', admitted = false, named = false
            WHERE "row" = 'U12' AND NOT headless AND file IN (
                SELECT key FROM files WHERE script IN (
                    SELECT script FROM files WHERE script <> '' GROUP BY script
                    HAVING count(*) >= ?))
            RETURNING key""",
            [sessions],
        )
        if keys:
            refresh(store, {row[0] for row in keys}, now)


def keep_zone(store: Store, zone: ZoneInfo) -> None:
    """Counts all days anew when the person's time zone has changed, so that no unit is split."""
    known = store.rows("SELECT value FROM meta WHERE name = 'zone'")
    if known and known[0][0] == zone.key:
        return
    with store.transaction():
        instants = [row[0] for row in store.rows("SELECT DISTINCT at_us FROM turns")]
        days = [local_day(_EPOCH + timedelta(microseconds=at), zone) for at in instants]
        store.con.execute("CREATE OR REPLACE TEMP TABLE days (at_us BIGINT PRIMARY KEY, day DATE)")
        store.con.execute("INSERT INTO days SELECT unnest(?), unnest(?)", [instants, days])
        for table in ("turns", "cases", "heard"):
            store.con.execute(
                f"UPDATE {table} SET day = days.day FROM days WHERE days.at_us = {table}.at_us"
            )
        store.con.execute("INSERT OR REPLACE INTO meta VALUES ('zone', ?)", [zone.key])


def note_collected(store: Store, at: datetime) -> None:
    """When the transcripts were read last: the hook tells when that is long ago."""
    value = str(microseconds(at))
    store.con.execute("INSERT OR REPLACE INTO meta VALUES ('collected_us', ?)", [value])


def put_run(store: Store, at: datetime, lines: int, turns: int, new_cases: int) -> None:
    """Remembers what a run found, for the watch over format drift."""
    store.con.execute(
        "INSERT INTO runs VALUES (?, ?, ?, ?)", [microseconds(at), lines, turns, new_cases]
    )


def machine_id(store: Store) -> str:
    """Names this home in ledgers, 16 hex digits; drawn at first use, kept by exports."""
    found = store.rows("SELECT value FROM meta WHERE name = 'machine'")
    if found:
        return str(found[0][0])
    drawn = secrets.token_hex(8)
    store.con.execute("INSERT INTO meta VALUES ('machine', ?)", [drawn])
    return drawn


def tombstone_key(store: Store) -> bytes:
    """The secret under which forgotten turns are remembered; made at first use."""
    found = store.rows("SELECT value FROM meta WHERE name = 'tombstone_key'")
    if found:
        return bytes.fromhex(found[0][0])
    secret = secrets.token_bytes(32)
    store.con.execute("INSERT INTO meta VALUES ('tombstone_key', ?)", [secret.hex()])
    return secret


def tombstone(secret: bytes, key: str) -> str:
    """The mark of a forgotten turn: nobody without the secret can tell what it stood for."""
    message = key.encode("utf-8", "surrogatepass")
    return hmac.new(secret, message, hashlib.sha256).hexdigest()


def buried_keys(store: Store, keys: Sequence[str]) -> frozenset[str]:
    """Those of the keys that were forgotten and must not come back."""
    marks = {row[0] for row in store.rows("SELECT mark FROM tombstones")}
    if not marks:
        return frozenset()
    secrets_known = [
        bytes.fromhex(row[0])
        for row in store.rows("SELECT value FROM meta WHERE starts_with(name, 'tombstone_key')")
    ]
    return frozenset(
        key for key in keys if any(tombstone(secret, key) in marks for secret in secrets_known)
    )
