"""All turns of all transcripts, read afresh: what a run decides, without the store."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from pipeline.classify import packs
from pipeline.collect.mine import Miner, session_name
from pipeline.collect.run import SCRIPT_SESSIONS, Progress
from pipeline.config import Config
from pipeline.errors import SourceError
from pipeline.masking.inert import inert
from pipeline.masking.masker import mask
from pipeline.records import Fate, MaskedText, Source, Turn
from pipeline.transcripts.discover import TranscriptFile, discover
from pipeline.transcripts.lineage import oldest_own
from pipeline.transcripts.reader import Other, open_transcript
from pipeline.transcripts.repository import Repositories

_NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Said:
    """One turn, or with `human` False another line of a conversation."""

    uuid: str
    session: str
    at: datetime
    repo: str
    kind: str
    text: MaskedText
    human: bool = True
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Copy:
    turn: Turn
    file: TranscriptFile
    repo: str
    script: str


def all_turns(
    config: Config,
    others: bool = False,
    start: datetime | None = None,
    progress: Progress | None = None,
) -> Iterator[Said]:
    """In order of time. `others` adds all other conversation lines, `start` drops what is older.

    A file that cannot be read is passed over, as in a run.
    """
    loaded = packs.load(config.rule_folders)
    miner = Miner(loaded, config, Repositories())
    copies: dict[str, list[_Copy]] = {}
    rest: list[Said] = []
    files = discover(config.claude_dirs).files
    total, done = sum(file.size for file in files), 0
    for file in files:
        done += file.size
        if not start or file.mtime_ns >= start.timestamp() * 1e9:
            _read(miner, file, others, copies, rest)
        if progress:
            progress(done, total)
    spoken = _choose(copies, config.include_headless, others)
    found = [said for said in chain(spoken, rest) if not start or said.at >= start]
    yield from sorted(found, key=lambda said: said.at)


def _read(
    miner: Miner,
    file: TranscriptFile,
    others: bool,
    copies: dict[str, list[_Copy]],
    rest: list[Said],
) -> None:
    try:
        with open_transcript(file, miner.options(file.root, everything=others)) as transcript:
            places = miner.places(transcript.turns)
            for turn in transcript.turns:
                if turn.source is Source.HUMAN:
                    copy = _Copy(turn, file, places[turn.key].base_name, transcript.first_prompt)
                    copies.setdefault(turn.key, []).append(copy)
            rest += [_other(other) for other in transcript.others]
    except SourceError:
        return


def _choose(copies: dict[str, list[_Copy]], include_headless: bool, others: bool) -> Iterator[Said]:
    own = _origins(copies)
    scripts = Counter(
        script
        for script, _ in {(c.script, c.file.path) for group in copies.values() for c in group}
        if script
    )
    for group in copies.values():
        best = min(
            group,
            key=lambda c: (
                c.turn.headless,
                c.file.subagent,
                own.get(c.file.path, _NEVER),
                str(c.file.path),
            ),
        )
        scripted = best.turn.row == "U12" and scripts[best.script] >= SCRIPT_SESSIONS
        reason = "withdrawn" if _is_dead([c.turn for c in group]) else ""
        if not include_headless and (best.turn.headless or scripted):
            reason = "headless"
        if not reason or others:
            yield _said(best, reason)


def _origins(copies: dict[str, list[_Copy]]) -> dict[Path, datetime]:
    """For each file that shares turns with others, the age of what only it holds."""
    groups: dict[Path, set[Path]] = {}
    for group in copies.values():
        paths = {copy.file.path for copy in group if not copy.file.subagent}
        if len(paths) > 1:
            merged = set().union(*(groups.get(path, {path}) for path in paths))
            for path in merged:
                groups[path] = merged
    unique = {id(group): sorted(group) for group in groups.values()}
    own: dict[Path, datetime] = {}
    for paths_of_group in unique.values():
        own |= oldest_own(paths_of_group)
    return own


def _is_dead(turns: Sequence[Turn]) -> bool:
    """The strongest word of any file counts; an answer in any file saves an unanswered prompt."""
    worst = max(turn.fate for turn in turns)
    return worst is Fate.WITHDRAWN or (
        worst is Fate.UNANSWERED and not any(turn.answered for turn in turns)
    )


def _said(copy: _Copy, reason: str) -> Said:
    turn = copy.turn
    return Said(
        uuid=turn.uuid,
        session=session_name(turn.session_id),
        at=turn.at,
        repo=copy.repo,
        kind=turn.kind.value,
        text=mask(turn.text).text,
        human=not reason,
        reason=reason,
    )


def _other(other: Other) -> Said:
    return Said(
        uuid=other.uuid,
        session=session_name(other.session_id),
        at=other.at,
        repo="",
        kind=inert(other.kind),
        text=mask(other.text).text,
        human=False,
        reason=other.reason,
    )
