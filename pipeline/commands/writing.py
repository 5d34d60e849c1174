"""The way in for commands that write."""

import contextlib
from collections.abc import Iterator

from pipeline import clock
from pipeline.cases import rulings
from pipeline.cases.store import Store, open_writer
from pipeline.config import Config
from pipeline.files import lock, private_dir


@contextlib.contextmanager
def writing(config: Config) -> Iterator[Store]:
    """The store, under the home's lock. On the way out what was forgotten leaves every file,
    also when the run that forgot it was killed before that."""
    folder = private_dir(config.local_cases)
    with lock(folder / "lock"):
        with open_writer(folder) as store:
            yield store
            due = rulings.due(store)
        if due:
            rulings.sweep(folder, due, clock.now())
