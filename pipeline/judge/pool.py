"""Threads that ask while the main one waits, and never longer than it wants to.

A server that sends a byte now and then passes every time-out of a socket, and the search for a name
has none. The threads are daemons: nobody waits for one that was given up.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

from pipeline.judge.labels import Silence
from pipeline.judge.request import Reply, Request

THREADS = 4
TOO_LATE = "no answer in time"
T = TypeVar("T")


def answered(
    requests: Iterable[Request],
    ask: Callable[[Request], Reply],
    patience_seconds: float,
    threads: int = THREADS,
) -> Iterator[list[Reply]]:
    """Groups of replies as they arrive. A request is drawn when a thread is free, so that who draws
    knows of all replies so far; after a reply that says stop, none is. When nothing at all comes
    for so long, what is under way has failed, and that is a stop too.
    """
    todo: SimpleQueue[Request | None] = SimpleQueue()
    done: SimpleQueue[Reply | BaseException] = SimpleQueue()
    for _ in range(threads):
        Thread(target=_work, args=(ask, todo, done), daemon=True).start()
    source, flying, stopped = iter(requests), set[str](), False
    try:
        while True:
            while not stopped and len(flying) < threads and (request := next(source, None)):
                todo.put(request)
                flying.add(request.name)
            if not flying:
                return
            try:
                group = [_taken(done, patience_seconds)]
            except Empty:
                yield [Reply(name, Silence.FAILED, stop=TOO_LATE) for name in sorted(flying)]
                return
            while not done.empty():
                group.append(_taken(done))
            flying -= {reply.name for reply in group}
            stopped = stopped or any(reply.stop for reply in group)
            yield group
    finally:
        for _ in range(threads):
            todo.put(None)


def in_time(work: Callable[[], T], patience_seconds: float) -> T | None:
    """What a piece of work comes to; None when that takes longer. Raises what it raises."""
    done: SimpleQueue[T | BaseException] = SimpleQueue()
    Thread(target=_put, args=(work, done), daemon=True).start()
    try:
        return _taken(done, patience_seconds)
    except Empty:
        return None


def _work(
    ask: Callable[[Request], Reply],
    todo: "SimpleQueue[Request | None]",
    done: "SimpleQueue[Reply | BaseException]",
) -> None:
    while (request := todo.get()) is not None:
        _put(partial(ask, request), done)


def _put(work: Callable[[], T], done: "SimpleQueue[T | BaseException]") -> None:
    try:
        done.put(work())
    except BaseException as error:  # handed over to the thread that waits for it
        done.put(error)


def _taken(done: "SimpleQueue[T | BaseException]", wait_seconds: float = 0.0) -> T:
    """Raises queue.Empty, or what the other thread raised."""
    found = done.get(timeout=wait_seconds)
    if isinstance(found, BaseException):
        raise found
    return found
