"""A collecting run: which files to read, reading them (`pool`), storing, the sums at the end.

Only this process writes, a batch of files in a transaction.
"""

import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pipeline import clock
from pipeline.cases import copies, earlier, meta, write
from pipeline.cases.rows import FileRow, MinedFile, file_key
from pipeline.cases.store import Store
from pipeline.classify import packs
from pipeline.classify.rule import Packs
from pipeline.collect import drift, pool
from pipeline.collect.mine import settings_digest
from pipeline.collect.summary import Summary
from pipeline.config import Config
from pipeline.records import Source
from pipeline.transcripts.discover import Found, TranscriptFile, discover
from pipeline.transcripts.lineage import oldest_own
from pipeline.transcripts.repository import Repository

SCRIPT_SESSIONS = 5
"""So many sessions with the same unmarked first prompt were run by a script."""
BATCH_FILES = 64
"""Files that share a transaction: a killed run reads at most so many again."""

Progress = Callable[[int, int], None]
"""Called with bytes read so far and bytes to read."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run may read."""

    start: datetime | None = None
    """Only files that changed since; None for all."""
    jobs: int = 1
    rebuild: bool = False
    """Read unchanged files too."""


def collect(store: Store, config: Config, plan: Plan, progress: Progress | None = None) -> Summary:
    """Reads what has changed and stores what was found. The caller holds the lock."""
    begun, now = time.monotonic(), clock.now()
    summary = Summary(warnings=list(store.warnings))
    found = discover(config.claude_dirs)
    loaded = packs.load(config.rule_folders)
    records = earlier.file_records(store)
    chosen = _choose(records, found, settings_digest(loaded, config), plan, summary)
    meta.keep_zone(store, config.timezone)
    _read_all(store, config, loaded, found.files, chosen, plan, summary, now, progress)
    meta.note_collected(store, now)
    write.set_present(store, [file_key(file.path) for file in found.files])
    _passed_over(found, summary)
    if records and not found.files:
        summary.warnings.append(
            f"no transcripts found where earlier runs read {len(records)}: has the folder moved?"
        )
    summary.seconds = time.monotonic() - begun
    summary.peak_rss_mb = _peak_rss_mb()
    return summary


def preview(store: Store | None, config: Config, plan: Plan) -> Summary:
    """Which files `collect` would read. Writes nothing, so it needs no lock and no store."""
    summary = Summary()
    found = discover(config.claude_dirs)
    settings = settings_digest(packs.load(config.rule_folders), config)
    records = earlier.file_records(store) if store else {}
    summary.files["to_read"] = len(_choose(records, found, settings, plan, summary))
    _passed_over(found, summary)
    return summary


def _choose(
    records: Mapping[str, FileRow], found: Found, settings: str, plan: Plan, summary: Summary
) -> list[TranscriptFile]:
    """Files whose record differs from what the directory says, within the window."""
    chosen = []
    for file in found.files:
        summary.files["seen"] += 1
        record = records.get(file_key(file.path))
        same = (
            record is not None and record.stat_key == file.stat_key and record.settings == settings
        )
        if same and not plan.rebuild:
            summary.files["unchanged"] += 1
        elif plan.start and file.mtime_ns < plan.start.timestamp() * 1e9:
            summary.files["outside"] += 1
        else:
            chosen.append(file)
    return chosen


def _read_all(
    store: Store,
    config: Config,
    loaded: Packs,
    files: Sequence[TranscriptFile],
    chosen: Sequence[TranscriptFile],
    plan: Plan,
    summary: Summary,
    now: datetime,
    progress: Progress | None,
) -> None:
    known = earlier.case_ids(store)
    total, done = sum(file.size for file in chosen), 0
    heard: dict[str, int] = {}
    batch: list[MinedFile] = []
    folders = {
        folder: Repository(key, name, certain=True)
        for folder, (key, name) in earlier.known_folders(store).items()
    }
    with closing(pool.mined(config, loaded, folders, chosen, plan.jobs)) as all_mined:
        for file, mined in all_mined:
            done += file.size
            if progress:
                progress(done, total)
            if isinstance(mined, str):
                _note_failure(mined, summary)
                continue
            batch.append(mined)
            if len(batch) == BATCH_FILES:
                write.put_files(store, batch, now)
                batch = []
            summary.files["read"] += 1
            summary.bytes_read += file.size
            summary.counts.add(mined.counts)
            _count_copies(mined, heard)
    if batch:
        write.put_files(store, batch, now)
    _settle_originals(store, files, now)
    if not config.include_headless:
        copies.flag_scripts(store, SCRIPT_SESSIONS, now)
    _sum_up(store, heard, known, summary)
    summary.check()
    drift.watch(store, summary, now)


def _note_failure(why: str, summary: Summary) -> None:
    summary.files["failed"] += 1
    if why != pool.UNREADABLE:
        summary.warnings.append(f"a bug kept a transcript from being read: {why}")


def _count_copies(mined: MinedFile, heard: dict[str, int]) -> None:
    """Adds, for each turn, how many copies of it a person typed: none of what was noticed."""
    for turn in mined.turns:
        if turn.source is not Source.HUMAN:
            heard.setdefault(turn.key, 0)
        elif not turn.headless:
            heard[turn.key] = heard.get(turn.key, 0) + 1


def _settle_originals(store: Store, files: Sequence[TranscriptFile], now: datetime) -> None:
    """Where files share turns, finds out which one is the original."""
    paths = {file_key(file.path): file.path for file in files}
    for group in copies.unsettled_files(store, paths):
        own = oldest_own([paths[key] for key in group if key in paths])
        times = {file_key(path): clock.microseconds(at) for path, at in own.items()}
        copies.set_own(store, {key: times.get(key) for key in group}, now)


def _sum_up(store: Store, heard: Mapping[str, int], known: set[str], summary: Summary) -> None:
    """Each turn of this run once: a case, no case, or taken back. `heard` as `_count_copies`."""
    keys = list(heard)
    dead = copies.dead_keys(store, keys)
    headless = copies.headless_keys(store, keys)
    found = earlier.types_of(store, keys)
    for key, times in heard.items():
        if times and key in dead:
            summary.withdrawn += 1
            continue
        if key in headless:
            continue
        if times:
            summary.turns += 1
            summary.counts.duplicates += times - 1
        if key not in found:
            summary.no_case += bool(times)
            continue
        identity, kind, source = found[key]
        summary.by_type[kind.value] += 1
        summary.by_source[source.value] += 1
        summary.known += identity in known
        summary.new += identity not in known


def _passed_over(found: Found, summary: Summary) -> None:
    for reason, number in found.passed_over.items():
        summary.files[f"passed_over_{reason}"] += number
    if number := summary.files["passed_over_link"]:
        summary.warnings.append(f"{number} links under projects/ were not followed")
    if number := summary.files["passed_over_denied"] + summary.files["failed"]:
        summary.warnings.append(f"{number} files or folders could not be read")


def _peak_rss_mb() -> int:
    """Of this program: what getrusage tells on Linux includes the process that started it."""
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) >> 10
    except (OSError, ValueError, IndexError):
        pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak >> (20 if sys.platform == "darwin" else 10)
