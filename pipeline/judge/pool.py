"""A few threads that ask; the main one draws the questions and takes the replies."""

from collections.abc import Callable, Iterable, Iterator
from queue import Empty, SimpleQueue
from threading import Thread

from pipeline.judge.labels import Silence
from pipeline.judge.request import Reply, Request

THREADS = 4


def answered(
    requests: Iterable[Request],
    ask: Callable[[Request], Reply],
    patience_seconds: float,
    threads: int = THREADS,
) -> Iterator[list[Reply]]:
    """Groups of replies as they arrive. A request is drawn when a thread is free, so that who draws
    knows of all replies so far; after a reply that says stop, none is.

    A server that sends a byte now and then passes every time-out of a socket: when nothing at all
    comes for so long, that is a stop too. Threads are daemons: nobody waits for them.
    """
    todo: SimpleQueue[Request | None] = SimpleQueue()
    done: SimpleQueue[Reply | BaseException] = SimpleQueue()
    for _ in range(threads):
        Thread(target=_work, args=(ask, todo, done), daemon=True).start()
    source, flying, stopped = iter(requests), 0, False
    try:
        while True:
            while not stopped and flying < threads:
                request = next(source, None)
                if request is None:
                    break
                todo.put(request)
                flying += 1
            if not flying:
                return
            try:
                group = [_taken(done, patience_seconds)]
            except Empty:
                yield [Reply("", Silence.FAILED, 0, stop="no answer in time", blameless=True)]
                return
            while not done.empty():
                group.append(_taken(done))
            flying -= len(group)
            stopped = stopped or any(reply.stop for reply in group)
            yield group
    finally:
        for _ in range(threads):
            todo.put(None)


def _work(
    ask: Callable[[Request], Reply],
    todo: "SimpleQueue[Request | None]",
    done: "SimpleQueue[Reply | BaseException]",
) -> None:
    while (request := todo.get()) is not None:
        try:
            done.put(ask(request))
        except BaseException as error:  # handed over to the thread that waits for it
            done.put(error)


def _taken(done: "SimpleQueue[Reply | BaseException]", wait_seconds: float = 0.0) -> Reply:
    """Raises queue.Empty, or what an asking thread raised."""
    reply = done.get(timeout=wait_seconds)
    if isinstance(reply, BaseException):
        raise reply
    return reply
