"""The way in for commands that write."""

import contextlib
from collections.abc import Iterator

from pipeline import clock
from pipeline.cases import rulings
from pipeline.cases.store import Store, Writer
from pipeline.config import Config
from pipeline.files import lock, private_dir
from pipeline.inject.snapshots import render


@contextlib.contextmanager
def held(config: Config) -> Iterator[Writer]:
    """The home's lock, and its store when it is asked for. On the way out what was forgotten leaves
    every file, also when the run that forgot it was killed before that."""
    folder = private_dir(config.local_cases)
    with lock(folder / "lock"):
        with Writer(folder) as writer:
            yield writer
            due = rulings.due(writer.store)
        if due:
            rulings.sweep(folder, due, clock.now())


@contextlib.contextmanager
def working(config: Config) -> Iterator[Writer]:
    """As `held`; on the way out the hook's files are rendered anew."""
    with held(config) as writer:
        yield writer
        render(writer.store, config.local_cases, clock.now())


@contextlib.contextmanager
def writing(config: Config) -> Iterator[Store]:
    """The store, under the home's lock, from the beginning to the end; else as `working`."""
    with working(config) as writer:
        yield writer.store
