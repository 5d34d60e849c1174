"""Is a ledger sound? Its lines, their order, their history in git, and what was verified before.

Evidence of tampering, not prevention: whoever may write can add an event of good form.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from pipeline import clock, git
from pipeline.errors import LedgerError, StoreError
from pipeline.ledger import anchor, history
from pipeline.ledger.anchor import Anchor
from pipeline.ledger.book import Reading, content, read_bytes
from pipeline.ledger.event import Event, line
from pipeline.ledger.history import Place, lines, missing
from pipeline.ledger.order import out_of_order
from pipeline.ledger.report import Problem, Report


def verify(path: Path, state_folder: Path, remember: bool = True) -> Report:
    """Everything that can be known of one ledger, whether its file exists or not.

    A sound state is remembered in the state folder unless `remember` is False. Problems come as
    values, in the order of the checks; raises StoreError when the state cannot be written.
    """
    file = anchor.file_of(state_folder, path)
    try:
        known = anchor.load(file)
        data = content(path) or b""
        place = history.place(path)
        if place is None:
            report, commit = _alone(path, data, known, file), ""
        else:
            report, commit = _within(place, path, data, known, file)
    except LedgerError as error:
        fault = Problem(str(path), error.message, error.hint)
    except OSError:
        fault = Problem(str(path), "git ended before it was done", f"git -C {path.parent} fsck")
    else:
        if report.problems or not remember:
            return report
        try:
            _remember(file, known, commit, read_bytes(data))
        except StoreError as error:  # what was found holds all the same
            note = f"the next check will not know of this one: {error.message}"
            return replace(report, notes=(*report.notes, note))
        return report
    return Report(path, 0, 0, (fault,), ())


def _alone(path: Path, data: bytes, known: Anchor, file: Path) -> Report:
    reading = read_bytes(data)
    problems = (*_form(path, data, reading), *_forgotten(path, known, reading, (), file))
    notes = ("outside git: the file alone was checked", *_odd(data, reading))
    return Report(path, len(reading.events), 0, problems, notes)


def _within(place: Place, path: Path, data: bytes, known: Anchor, file: Path) -> tuple[Report, str]:
    """And the present commit, "" before the first one."""
    reading, commit = read_bytes(data), history.head(place)
    with git.objects(place.top) as objects:
        versions = history.versions(place, objects) if commit else {}
        problems = [*history.check(place, versions, objects)]
        problems += _uncommitted(place, path, data, commit, objects)
        others = history.elsewhere(place, objects) if _open(known, reading) else ()
    problems += _form(path, data, reading, others)
    problems += _forgotten(path, known, reading, others, file)
    commits = sum(blob is not None for blob, _ in versions.values())
    notes = [*_limits(place, commits), *_odd(data, reading)]
    away = (known.ids - reading.ids) & {event.id for event in others}
    if away and not problems:
        notes.append(f"{lines(sorted(away))} verified before: on another branch only")
    return Report(path, len(reading.events), commits, tuple(problems), tuple(notes)), commit


def _open(known: Anchor, reading: Reading) -> bool:
    """The other branches may have the answer."""
    return bool(known.ids - reading.ids) or any(out_of_order(reading.events))


def file_problems(path: Path) -> list[Problem]:
    """Of the file alone: cheap, without git. Raises LedgerError."""
    data = content(path) or b""
    return list(_form(path, data, read_bytes(data)))


def ahead_of(events: Sequence[Event], now: datetime) -> list[Event]:
    """Those that a clock dated more than a day too late; what follows on their bundles is too."""
    return [event for event in events if event.at > now + timedelta(days=1)]


def forgotten(path: Path, state_folder: Path) -> list[str]:
    """Ids that were verified before and do not stand in the file now, without a look at git's other
    branches. Raises LedgerError."""
    known = anchor.load(anchor.file_of(state_folder, path))
    return sorted(known.ids - read_bytes(content(path) or b"").ids)


def _form(
    path: Path, data: bytes, reading: Reading, others: Sequence[Event] = ()
) -> Iterator[Problem]:
    for bad in reading.bad:
        yield Problem(
            f"{path}:{bad.number}", f"no event: {bad.reason}",
            "git blame tells who wrote it; remove a torn line, put an edited one back",
        )  # fmt: skip
    for event, wrong in out_of_order(reading.events, others):
        yield Problem(
            f"{path}:{_number(data, event)}", f"{event.id}: {wrong}",
            "git blame tells who wrote it; ask whether that machine did, on another branch perhaps",
        )  # fmt: skip


def _number(data: bytes, event: Event) -> int:
    return data.split(b"\n").index(line(event)[:-1]) + 1


def _uncommitted(
    place: Place, path: Path, data: bytes, commit: str, objects: git.Objects
) -> Iterator[Problem]:
    """HEAD, the index and the file: each holds all of the one before."""
    if not commit:
        return
    committed = objects.blob(f"{commit}:{place.name}") or b""
    blob = history.staged(place)
    index = committed if blob == "" else objects.blob(blob) if blob else b""
    for what, old, new, of in (
        ("the index", committed, index or b"", "the last commit"),
        ("the file", committed, data, "the last commit"),
        ("the file", index or b"", data, "the index"),
    ):
        if gone := missing(old, new):
            yield Problem(
                str(path), f"{what} lacks {lines(gone)} of {of}",
                f"git -C {place.top} diff HEAD -- {place.name}  # bring them back, in any order",
            )  # fmt: skip
            return


def _forgotten(
    path: Path, known: Anchor, reading: Reading, others: Sequence[Event], file: Path
) -> Iterator[Problem]:
    gone = sorted(known.ids - reading.ids - {event.id for event in others})
    if gone:
        yield Problem(
            f"commit {known.commit}" if known.commit else str(path),
            f"{lines(gone)} verified there are gone, from all branches too",
            f"take them from a clone or git reflog; if they were taken out on purpose: rm {file}",
        )


def _odd(data: bytes, reading: Reading) -> Iterator[str]:
    """What is no fault of the file, and is to be known."""
    texts = [text for text in data.split(b"\n") if text]
    if doubled := len(texts) - len(set(texts)):
        yield f"{doubled} doubled by git's union, each counts once"
    if ahead := ahead_of(reading.events, clock.now()):
        machines = ", ".join(sorted({event.machine[:8] for event in ahead}))
        yield f"{len(ahead)} from the future: the clock of {machines} was wrong"


def _limits(place: Place, commits: int) -> Iterator[str]:
    if not commits:
        yield "nothing is committed yet: the file alone was checked"
    if history.is_shallow(place):
        yield "a shallow clone: older commits were not checked (git fetch --unshallow)"


def _remember(file: Path, known: Anchor, commit: str, reading: Reading) -> None:
    now = Anchor(commit, known.ids | reading.ids)
    if now.ids and now != known:
        anchor.save(file, now)
