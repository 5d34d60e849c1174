"""Maps the reading of a file over all of them, in this process or in several. Nothing is written.

This is the seam for another way of spreading the work: a file goes in, its rows come out.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

from pipeline.cases.rows import MinedFile
from pipeline.classify import packs
from pipeline.classify.rule import Packs
from pipeline.collect.mine import Miner
from pipeline.config import Config
from pipeline.errors import SourceError
from pipeline.transcripts.discover import TranscriptFile
from pipeline.transcripts.repository import Repositories, Repository

UNREADABLE = "unreadable"


def mined(
    config: Config,
    loaded: Packs,
    folders: dict[str, Repository],
    chosen: Sequence[TranscriptFile],
    jobs: int,
) -> Generator[tuple[TranscriptFile, MinedFile | str]]:
    """Each file with what was mined from it, or why not; in the given order.

    `folders`: the repositories of folders that were seen before. Whoever may stop before the end
    closes this. Raises SourceError when one of several processes is ended from outside.
    """
    if jobs < 2 or len(chosen) < 2:
        miner = Miner(loaded, config, Repositories(folders))
        for file in chosen:
            yield file, _mine(miner, file)
    else:
        yield from _in_processes(config, folders, chosen, jobs)


def _in_processes(
    config: Config, folders: dict[str, Repository], chosen: Sequence[TranscriptFile], jobs: int
) -> Generator[tuple[TranscriptFile, MinedFile | str]]:
    fresh = get_context("spawn")  # a fork would copy DuckDB's threads in mid-work
    try:
        with ProcessPoolExecutor(jobs, fresh, _start_worker, (config, folders)) as pool:
            with _interrupts_later():
                found = pool.map(_mine_in_worker, chosen, chunksize=4)
            try:
                yield from zip(chosen, found, strict=True)
            finally:  # who stops early wants none of the rest, and would have to wait for it
                pool.shutdown(cancel_futures=True)
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
