"""The folded state depends on cases and decisions, not on when, where and how often nights ran."""

import itertools
import random
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from pipeline.ledger.book import read, read_bytes
from pipeline.ledger.event import Happening, line
from pipeline.ledger.fold import State, fold
from pipeline.records import CaseType, Source
from tests.propose.worlds import BEGUN, Machine, Said, essence, merge

PHASE = timedelta(days=4)
ALLOWED = {
    Happening.REJECTED: {State.RAISED},
    Happening.ACCEPTED: {State.RAISED, State.REJECTED},
    Happening.RETIRED: {State.ACCEPTED},
}
TYPES = [CaseType.MISSED_ITEM, CaseType.MISSED_ITEM, CaseType.WRONG_RESULT, CaseType.OTHER]


@dataclass(frozen=True)
class Story:
    """What was said on each machine in each phase, and what was decided at the ends of phases."""

    phases: tuple[tuple[tuple[Said, ...], ...], ...]
    decisions: tuple[tuple[Happening, str, CaseType] | None, ...]
    seed: int


@st.composite
def said(draw: st.DrawFn, phase: int, machine: int) -> Said:
    day = draw(st.integers(0, 3)) + 4 * phase
    return Said(
        session=f"m{machine}-s{draw(st.integers(0, 2)) + draw(st.sampled_from([0, 2 * phase]))}",
        hour=24 * day + draw(st.integers(0, 20)) / 2,
        source=draw(st.sampled_from([Source.HUMAN, Source.HUMAN, Source.REVIEW])),
        type=draw(st.sampled_from(TYPES)),
        repo=draw(st.sampled_from(["loom", "loom", "weave"])),
        named=draw(st.booleans()),
        tool=draw(st.sampled_from(["", "Edit"])),
    )


@st.composite
def stories(draw: st.DrawFn) -> Story:
    machines, phases = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    decision = st.one_of(
        st.none(),
        st.tuples(
            st.sampled_from(list(ALLOWED)),
            st.sampled_from(["loom", "loom", "weave"]),
            st.sampled_from(TYPES[:3]),
        ),
    )
    return Story(
        tuple(
            tuple(
                tuple(draw(st.lists(said(phase, machine), max_size=7)))
                for machine in range(machines)
            )
            for phase in range(phases)
        ),
        tuple(draw(decision) for _ in range(phases)),
        draw(st.integers(0, 1 << 20)),
    )


def settle(machines: Sequence[Machine], now: datetime) -> None:
    """Everybody has a night with everybody's events: once to raise, once to count."""
    for _ in range(2):
        for machine in machines:
            merge(machine, machines)
            machine.sleep(now)
            assert machine.sleep(now).events == ()
    for machine in machines:
        merge(machine, machines)


def restless(
    machines: Sequence[Machine], told: Sequence[Sequence[Said]], now: datetime, dice: random.Random
) -> None:
    """Nights of anybody, with a part of what will have been said by the end of the phase, some of
    them with an eye on a few days only, before and after some of the ledgers were merged."""
    left = [dice.sample(list(words), len(words)) for words in told]
    for _ in range(dice.randint(0, 8)):
        now += timedelta(minutes=dice.randint(0, 300))
        place = dice.randrange(len(machines))
        part = dice.randint(0, len(left[place]))
        machines[place].hear(*left[place][:part])
        left[place] = left[place][part:]
        merge(machines[place], dice.sample(machines, dice.randint(0, len(machines))))
        until = now.date() - timedelta(days=dice.randint(-4, 9))
        machines[place].sleep_until(now, dice.choice([None, until]))
    for machine, words in zip(machines, left, strict=True):
        machine.hear(*words)


def live(story: Story, folder: Path, calm: bool) -> list[Machine]:
    """The whole story, with nights only when all was said, or with any others in between."""
    dice = random.Random(story.seed)
    machines = [Machine.new(folder, number) for number in range(len(story.phases[0]))]
    for number, (told, decision) in enumerate(zip(story.phases, story.decisions, strict=True), 1):
        end = BEGUN + number * PHASE
        if calm:
            for machine, words in zip(machines, told, strict=True):
                machine.hear(*words)
        else:
            restless(machines, told, end - PHASE, dice)
        order = machines if calm else dice.sample(machines, len(machines))
        settle(order, end - timedelta(minutes=1))
        if decision is not None:
            happening, repo, kind = decision
            states = [p.state for p in machines[0].fold() if p.bundle == (repo, kind)]
            if states and states[-1] in ALLOWED[happening]:
                machines[0].decide(happening, (repo, kind), end)
    settle(machines, BEGUN + 30 * PHASE)
    return machines


@settings(max_examples=40, phases=[Phase.generate])  # a story is long: shrinking takes minutes
@given(stories())
def test_neither_order_nor_overlap_of_nights_shows_in_the_state(story: Story) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        calm, other = (live(story, folder / name, name == "calm") for name in ("calm", "other"))
        assert essence(other[0].fold()) == essence(calm[0].fold())
        for machine in (*calm, *other):
            before = machine.path.read_bytes() if machine.path.exists() else b""
            for until in (None, BEGUN.date(), (BEGUN + 3 * PHASE).date()):
                again = machine.sleep_until(BEGUN + 40 * PHASE, until)
                assert again.events == ()
            assert (machine.path.read_bytes() if machine.path.exists() else b"") == before
        events = list(other[0].events)
        random.Random(story.seed).shuffle(events)
        data = b"".join(line(event) for event in [*events, *events[:3]])
        assert fold(read_bytes(data).events) == fold(read(other[0].path).events)
        parts = [[e for e in events if e.machine == machine.name] for machine in other]
        for order in itertools.permutations(parts):
            assert essence(fold(*order)) == essence(calm[0].fold())
    finally:
        shutil.rmtree(folder)
