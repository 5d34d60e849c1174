"""A collecting run: which files to read, reading them, one transaction a file, the sums at the end.

Reading and classifying a file is a pure function that is mapped over the files, in this process or
in several; only this process writes.
"""

import contextlib
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from datetime import datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from statistics import median

from pipeline import clock
from pipeline.cases import read, write
from pipeline.cases.rows import FileRow, MinedFile, file_key
from pipeline.cases.store import Store
from pipeline.classify import packs
from pipeline.classify.rule import Packs
from pipeline.collect.mine import Miner, settings_digest
from pipeline.collect.summary import Summary
from pipeline.config import Config
from pipeline.errors import SourceError
from pipeline.records import Source
from pipeline.transcripts.discover import Found, TranscriptFile, discover
from pipeline.transcripts.lineage import oldest_own
from pipeline.transcripts.repository import Repositories, Repository

UNREADABLE = "unreadable"
SCRIPT_SESSIONS = 5
"""So many sessions with the same unmarked first prompt were run by a script."""
BATCH_FILES = 64
"""Files that share a transaction: a killed run reads at most so many again."""
DRIFT_SHARE = 0.01
DRIFT_FALL = 0.5
DRIFT_MIN_LINES = 500
DRIFT_DAYS = 14

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
    records = read.file_records(store)
    chosen = _choose(records, found, settings_digest(loaded, config), plan, summary)
    write.keep_zone(store, config.timezone)
    _read_all(store, config, loaded, found.files, chosen, plan, summary, now, progress)
    write.note_collected(store, now)
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
    records = read.file_records(store) if store else {}
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
    known = read.case_ids(store)
    total, done = sum(file.size for file in chosen), 0
    heard: dict[str, int] = {}
    batch: list[MinedFile] = []
    for file, mined in _mined(store, config, loaded, chosen, plan.jobs):
        done += file.size
        if progress:
            progress(done, total)
        if isinstance(mined, str):
            summary.files["failed"] += 1
            if mined != UNREADABLE:
                summary.warnings.append(f"a bug kept a transcript from being read: {mined}")
            continue
        batch.append(mined)
        if len(batch) == BATCH_FILES:
            write.put_files(store, batch, now)
            batch = []
        summary.files["read"] += 1
        summary.bytes_read += file.size
        summary.counts.add(mined.counts)
        for turn in mined.turns:
            if turn.source is not Source.HUMAN:
                heard.setdefault(turn.key, 0)
            elif not turn.headless:
                heard[turn.key] = heard.get(turn.key, 0) + 1
    if batch:
        write.put_files(store, batch, now)
    _settle_originals(store, files, now)
    if not config.include_headless:
        write.flag_scripts(store, SCRIPT_SESSIONS, now)
    _sum_up(store, heard, known, summary)
    summary.check()
    _watch_drift(store, summary, now)


def _mined(
    store: Store,
    config: Config,
    loaded: Packs,
    chosen: Sequence[TranscriptFile],
    jobs: int,
) -> Iterator[tuple[TranscriptFile, MinedFile | str]]:
    """Each file with what was mined from it, or why not; in the given order."""
    folders = {
        folder: Repository(key, name, certain=True)
        for folder, (key, name) in read.known_folders(store).items()
    }
    if jobs < 2 or len(chosen) < 2:
        miner = Miner(loaded, config, Repositories(folders))
        for file in chosen:
            yield file, _mine(miner, file)
        return
    fresh = get_context("spawn")  # a fork would copy DuckDB's threads in mid-work
    try:
        with ProcessPoolExecutor(jobs, fresh, _start_worker, (config, folders)) as pool:
            with _interrupts_later():
                found = pool.map(_mine_in_worker, chosen, chunksize=4)
            yield from zip(chosen, found, strict=True)
    except BrokenProcessPool as error:
        raise SourceError(
            "a reading process was ended from outside", "run it again with --jobs 1"
        ) from error


@contextlib.contextmanager
def _interrupts_later() -> Iterator[None]:
    """Processes that are started meanwhile never see a ^C, not even in their first moments, in
    which it would leave a traceback; this one sees it afterwards."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_worker: Miner


def _start_worker(config: Config, folders: dict[str, Repository]) -> None:
    global _worker
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker = Miner(packs.load(config.rule_folders), config, Repositories(folders))


def _end_with_parent() -> None:
    """Workers share the lock of a run: were it killed, they would hold it for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _mine_in_worker(file: TranscriptFile) -> MinedFile | str:
    return _mine(_worker, file)


def _mine(miner: Miner, file: TranscriptFile) -> MinedFile | str:
    """What was mined, or why not: neither a barred file nor an odd one stops the others."""
    try:
        return miner.mine(file)
    except SourceError:
        return UNREADABLE
    except Exception as error:  # one odd session must not cost all others
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}"


def _settle_originals(store: Store, files: Sequence[TranscriptFile], now: datetime) -> None:
    """Where files share turns, finds out which one is the original."""
    paths = {file_key(file.path): file.path for file in files}
    for group in write.unsettled_files(store, paths):
        own = oldest_own([paths[key] for key in group if key in paths])
        times = {file_key(path): write.microseconds(at) for path, at in own.items()}
        write.set_own(store, {key: times.get(key) for key in group}, now)


def _sum_up(store: Store, heard: dict[str, int], known: set[str], summary: Summary) -> None:
    """Each turn of this run once: a case, no case, or taken back."""
    keys = list(heard)
    dead = read.dead_keys(store, keys)
    headless = read.headless_keys(store, keys)
    found = read.types_of(store, keys)
    for key, copies in heard.items():
        if copies and key in dead:
            summary.withdrawn += 1
            continue
        if key in headless:
            continue
        if copies:
            summary.turns += 1
            summary.counts.duplicates += copies - 1
        if key not in found:
            summary.no_case += bool(copies)
            continue
        identity, kind, source = found[key]
        summary.by_type[kind.value] += 1
        summary.by_source[source.value] += 1
        summary.known += identity in known
        summary.new += identity not in known


def _watch_drift(store: Store, summary: Summary, now: datetime) -> None:
    """A new client version must show up as a warning, never as a silent zero."""
    counts, lines = summary.counts, summary.counts.lines
    if lines < DRIFT_MIN_LINES:
        return
    for share, what in (
        (counts.skipped.total() / lines, "could not be read; see `skipped`"),
        (counts.unknown.total() / lines, "are of unknown types; see `unknown`"),
        (counts.not_human["unmarked"] / lines, "are prompts without a known mark"),
    ):
        if share > DRIFT_SHARE:
            summary.warnings.append(f"{share:.1%} of the lines {what}")
    before = read.turns_per_line(store, now - timedelta(days=DRIFT_DAYS), DRIFT_MIN_LINES)
    if before and summary.turns / lines < DRIFT_FALL * median(before):
        summary.warnings.append(
            "far fewer turns per line than in the last 14 days: the transcripts may have a new form"
        )
    write.put_run(store, now, lines, summary.turns, summary.new)


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
