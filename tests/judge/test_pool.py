"""The threads that ask: drawn one by one, stopped, never waited for without end."""

from collections.abc import Iterator
from threading import Event

import pytest

from pipeline.config import Model
from pipeline.judge.labels import Silence
from pipeline.judge.pool import answered, in_time
from pipeline.judge.request import Reply, Request


def requests(number: int, drawn: list[str]) -> Iterator[Request]:
    for n in range(number):
        drawn.append(f"a{n}")
        yield Request(f"a{n}", Model("m", 1, 1), "", "", {})


def test_all_come_back_once() -> None:
    drawn: list[str] = []
    groups = answered(requests(50, drawn), lambda r: Reply(r.name, {}), 30.0)
    assert sorted(r.name for group in groups for r in group) == sorted(drawn)


def test_a_stop_ends_the_drawing_and_keeps_what_is_under_way() -> None:
    drawn: list[str] = []

    def ask(request: Request) -> Reply:
        return Reply(request.name, Silence.FAILED, stop="busy" if request.name == "a5" else "")

    names = [r.name for group in answered(requests(50, drawn), ask, 30.0) for r in group]
    assert sorted(names) == sorted(drawn)
    assert "a5" in names
    assert len(drawn) < 15


def test_a_server_that_trickles_for_ever_ends_the_night() -> None:
    never = Event()

    def ask(request: Request) -> Reply:
        if request.name == "a1":
            never.wait()
        return Reply(request.name, {})

    replies = [r for group in answered(requests(3, []), ask, 0.2) for r in group]
    never.set()
    assert {r.name for r in replies if not r.stop} == {"a0", "a2"}
    assert [(r.name, r.stop, r.blameless) for r in replies if r.stop] == [
        ("a1", "no answer in time", False)
    ], "it counts as a try: else every night would begin with it"


def test_a_bug_in_a_thread_comes_out() -> None:
    def ask(request: Request) -> Reply:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(answered(requests(3, []), ask, 30.0))


def test_one_piece_of_work_in_time_or_not() -> None:
    never = Event()
    assert in_time(lambda: "done", 30.0) == "done"
    assert in_time(never.wait, 0.05) is None
    never.set()
    with pytest.raises(ZeroDivisionError):
        in_time(lambda: str(1 // 0), 30.0)
