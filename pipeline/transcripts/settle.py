"""What the whole file tells of its turns: copies, prompts taken back, what stood before each."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pipeline.records import Fate, Source
from pipeline.transcripts import action, withdrawn
from pipeline.transcripts.counts import Counts
from pipeline.transcripts.fields import FIELD_MAX_CHARS, name_field
from pipeline.transcripts.heard import Heard
from pipeline.transcripts.scan import Scan
from pipeline.transcripts.spine import Spine

ANSWER_WITHIN_LINES = 400


def one_of_each(heard: Iterable[Heard], counts: Counts) -> list[Heard]:
    """In file order; of lines that stand twice (after a compaction) a person's copy, else the
    first. Counts the others of a person's words."""
    best: dict[str, Heard] = {}
    for copy in sorted(heard, key=_in_file_order):
        held = best.get(copy.turn.key)
        if held is None:
            best[copy.turn.key] = copy
            continue
        if copy.turn.source is Source.HUMAN:
            counts.duplicates += 1
        if held.turn.headless and not copy.turn.headless:
            best[copy.turn.key] = copy
    return sorted(best.values(), key=_in_file_order)


def _in_file_order(heard: Heard) -> tuple[int, str]:
    return heard.turn.number, heard.turn.key


def set_fates(heard: Sequence[Heard], spine: Spine, record: Scan) -> None:
    """Which prompts were taken back, and which the agent answered."""
    prompts = [
        withdrawn.Prompt(
            h.turn.uuid, h.parent, h.position, h.turn.session_id, h.turn.at, h.turn.text
        )
        for h in heard
        if h.prompt and h.turn.source is Source.HUMAN
    ]
    places = {h.turn.uuid: h.place for h in heard}
    answered: dict[str, bool] = {}

    def is_answered(uuid: str) -> bool:
        if uuid not in answered:
            answered[uuid] = _is_answered(spine, uuid, places[uuid])
        return answered[uuid]

    found = withdrawn.fates(prompts, is_answered)
    prompts_at = sorted(h.place for h in heard if h.prompt)
    for one in heard:
        uuid = one.turn.uuid
        if one.prompt and uuid in answered:
            fate = found.get(uuid, Fate.SENT)
            one.turn = replace(one.turn, fate=fate, answered=answered[uuid])
        elif one.prompt:
            after = bisect_right(prompts_at, one.place)
            end = prompts_at[after] if after < len(prompts_at) else len(spine)
            one.turn = replace(one.turn, answered=_spoke_between(record, one.place, end))


def _is_answered(spine: Spine, uuid: str, place: int) -> bool:
    """The agent spoke or acted in a line that hangs on this one."""
    below = {uuid}
    for data in spine.forwards(place, ANSWER_WITHIN_LINES):
        if name_field(data, "parentUuid") in below:
            if action.is_agent(data):
                return True
            below.add(name_field(data, "uuid"))
    return False


def _spoke_between(record: Scan, first: int, last: int) -> bool:
    """The agent spoke or acted between a prompt and the next: enough for one without a rival."""
    return any(
        (at := bisect_right(places, first)) < len(places) and places[at] < last
        for places in (record.calls, record.talk)
    )


def set_contexts(heard: Sequence[Heard], stops: Sequence[tuple[int, str]], record: Scan) -> None:
    """What stood before each turn in its session: a stop, a tool call, the person's words.

    `stops`: place and session of each time the person stopped the agent, in file order.
    """
    before: dict[str, Heard] = {}
    end = len(record.offsets) + 1
    waiting = iter([*stops, (end, "")])
    stop = next(waiting)
    stopped: set[str] = set()
    for one in heard:
        turn, session = one.turn, one.turn.session_id
        while stop[0] < one.place:
            stopped.add(stop[1])
            stop = next(waiting)
        earlier = before.get(session)
        one.since = earlier.place if earlier else -1
        one.turn = replace(
            turn,
            interrupted=session in stopped and turn.source is Source.HUMAN,
            acted=bool(one.tool_use_id) or _called_between(record, one.since, one.place),
            previous=earlier.turn.text[:FIELD_MAX_CHARS] if earlier else "",
            answers=earlier.turn.uuid if earlier and turn.source is Source.SELF else "",
        )
        if turn.source is Source.HUMAN:
            if earlier:
                _set_worked(earlier, record, one.place)
            before[session] = one
            stopped.discard(session)
    for one in before.values():
        _set_worked(one, record, end)


def _set_worked(heard: Heard, record: Scan, end: int) -> None:
    heard.turn = replace(heard.turn, worked=_called_between(record, heard.place, end))


def _called_between(record: Scan, first: int, last: int) -> bool:
    at = bisect_left(record.calls, first)
    return at < len(record.calls) and record.calls[at] < last
