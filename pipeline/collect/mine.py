"""One transcript in, rows for the store out: read, classified and masked. Keeps no raw text."""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from pathlib import Path

from pipeline import __version__, clock
from pipeline.cases.rows import (
    Correction,
    FileRow,
    MinedFile,
    RepoRow,
    ShadowHits,
    Showing,
    TurnRow,
    file_key,
)
from pipeline.classify import engine, objects
from pipeline.classify.rule import Packs
from pipeline.config import Config
from pipeline.masking.masker import mask
from pipeline.masking.stored import table_digest
from pipeline.records import Finding, MaskedText, Message, Source, Turn
from pipeline.transcripts.discover import TranscriptFile
from pipeline.transcripts.history import paste_displays
from pipeline.transcripts.reader import READER_VERSION, Options, Transcript, open_transcript
from pipeline.transcripts.repository import Repositories, Repository, folder_key

_TOOL_NAME = re.compile(r"[^\w:.-]+")


class Miner:
    """Everything that mining a file depends on. One per process."""

    def __init__(self, packs: Packs, config: Config, repositories: Repositories) -> None:
        self.packs = packs
        self.settings = settings_digest(packs, config)
        self._config = config
        self._repositories = repositories
        self._displays: dict[Path, dict[str, list[str]]] = {}
        self._admissions = admissions(packs) if config.noticed else ()
        self._excluded = (*config.exclude, str(config.judge_folder))

    def options(self, root: Path, everything: bool = False) -> Options:
        """How the transcripts below a Claude folder are read."""
        if root not in self._displays:
            self._displays[root] = paste_displays(root)
        return Options(
            include_headless=self._config.include_headless,
            excluded=self.is_excluded,
            displays=self._displays[root],
            admissions=self._admissions,
            noticed=self._config.noticed,
            everything=everything,
        )

    def is_excluded(self, cwd: str) -> bool:
        """The folder, or one above it, is on the exclude list."""
        path = os.path.normpath(cwd)
        return any(path == folder or path.startswith(folder + "/") for folder in self._excluded)

    def mine(self, file: TranscriptFile) -> MinedFile:
        """Raises SourceError when the file cannot be read."""
        with open_transcript(file, self.options(file.root)) as transcript:
            places = self.places(transcript.turns)
            findings = {turn.key: self._classify(transcript, turn) for turn in transcript.turns}
            humans = {
                turn.uuid
                for turn in transcript.turns
                if turn.source is Source.HUMAN and findings[turn.key] is not None
            }
            admitted = {turn.answers for turn in transcript.turns if turn.answers in humans}
            rows = tuple(
                self._row(transcript, turn, findings[turn.key], places[turn.key], admitted)
                for turn in transcript.turns
                if not (turn.source is not Source.HUMAN and turn.answers in humans)
                and (turn.source is Source.HUMAN or findings[turn.key] is not None)
            )
            return MinedFile(
                file=self._record(file, transcript.first_prompt),
                turns=rows,
                seen=frozenset(transcript.seen),
                repos=_repos(transcript.turns, places),
                counts=transcript.counts,
                shadows=self._shadows(transcript, findings),
                showings=tuple(
                    Showing(uuid, session_name(session), at)
                    for uuid, session, at in transcript.showings
                ),
            )

    def places(self, turns: Sequence[Turn]) -> dict[str, Repository]:
        """The repository of each turn, by key."""
        first: dict[str, str] = {}
        places = {}
        for turn in turns:
            begun = first.setdefault(turn.session_id, turn.cwd)
            places[turn.key] = self._repositories.of(turn.cwd, begun)
        return places

    def _classify(self, transcript: Transcript, turn: Turn) -> Finding | None:
        """Headless turns are not classified unless they count: nothing of them is kept."""
        if turn.headless and not self._config.include_headless:
            return None
        if turn.source is Source.REVIEW:
            action = transcript.action(turn)
            if not objects.is_review(self.packs, action.gist if action else ""):
                return None
        return engine.classify(self.packs, message(transcript, turn))

    def _shadows(
        self, transcript: Transcript, findings: dict[str, Finding | None]
    ) -> tuple[ShadowHits, ...]:
        """What rules on trial would have said of a person's words, by day."""
        fired: Counter[tuple[date, str]] = Counter()
        alone: Counter[tuple[date, str]] = Counter()
        for turn in transcript.turns if self.packs.has_shadow else ():
            if turn.source is not Source.HUMAN or turn.headless:
                continue
            verdict = findings[turn.key]
            for found in engine.shadows(self.packs, message(transcript, turn)):
                place = (clock.local_day(turn.at, self._config.timezone), found.rule_id)
                fired[place] += 1
                alone[place] += verdict is None or not verdict.decided
        return tuple(
            ShadowHits(day, rule, number, alone[day, rule])
            for (day, rule), number in sorted(fired.items())
        )

    def _row(
        self,
        transcript: Transcript,
        turn: Turn,
        finding: Finding | None,
        place: Repository,
        admitted: set[str],
    ) -> TurnRow:
        return TurnRow(
            key=turn.key,
            uuid=turn.uuid,
            session=session_name(turn.session_id),
            at=turn.at,
            day=clock.local_day(turn.at, self._config.timezone),
            inferred_at=turn.inferred_at,
            repo=place.key,
            source=turn.source,
            kind=turn.kind,
            row=turn.row,
            number=turn.number,
            headless=turn.headless and not self._config.include_headless,
            fate=turn.fate,
            answered=turn.answered,
            interrupted=turn.interrupted,
            correction=_correction(self.packs, transcript, turn, finding, turn.uuid in admitted)
            if finding
            else None,
            worked=turn.worked and turn.source is Source.HUMAN,
        )

    def _record(self, file: TranscriptFile, first_prompt: str) -> FileRow:
        script = hashlib.sha256(first_prompt.encode("utf-8", "replace")).hexdigest()
        return FileRow(
            key=file_key(file.path),
            subagent=file.subagent,
            device=file.device,
            inode=file.inode,
            size=file.size,
            mtime_ns=file.mtime_ns,
            settings=self.settings,
            script=script if first_prompt else "",
        )


def settings_digest(packs: Packs, config: Config) -> str:
    """All that decides what a file says beside the file itself; a change makes it be read again."""
    digest = hashlib.sha256(packs.digest.encode())
    rest = (
        table_digest(),
        __version__,
        READER_VERSION,
        config.include_headless,
        config.noticed,
        *config.exclude,
    )
    digest.update(repr(rest).encode())
    return digest.hexdigest()[:32]


@lru_cache(1024)
def session_name(session_id: str) -> MaskedText:
    """A session's id as it may leave the transcript: odd ones can hold anything."""
    return mask(session_id).text


def message(transcript: Transcript, turn: Turn) -> Message:
    """What the rules see of a turn."""
    return Message(
        text=turn.text,
        kind=turn.kind,
        source=turn.source,
        interrupted=turn.interrupted,
        acted=turn.acted,
        previous=turn.previous,
        said=transcript.said(turn),
    )


def _correction(
    packs: Packs, transcript: Transcript, turn: Turn, finding: Finding, admitted: bool
) -> Correction:
    action = transcript.action(turn)
    asked = Message(turn.text, kind=turn.kind, source=turn.source)
    return Correction(
        type=finding.type,
        rule_id=finding.rule_id,
        lang=finding.lang,
        text=mask(turn.text).text,
        tool=mask(_TOOL_NAME.sub("", action.tool) if action else "").text,
        gist=mask(_inside(action.gist, turn.cwd) if action else "").text,
        said=mask(action.said if action else "").text,
        admitted=admitted,
        named=objects.is_named(packs, asked, finding),
        masked_by=table_digest(),
    )


def _inside(gist: str, cwd: str) -> str:
    """Paths below the working folder without it: shorter, and the same on every machine."""
    return gist.replace(cwd.rstrip("/") + "/", "") if len(cwd) > 1 else gist


def _repos(turns: Sequence[Turn], places: dict[str, Repository]) -> tuple[RepoRow, ...]:
    folders: dict[Repository, set[str]] = {}
    for turn in turns:
        known = folders.setdefault(places[turn.key], set())
        if places[turn.key].certain:
            known.add(folder_key(turn.cwd))
    return tuple(
        RepoRow(
            place.key, place.base_name, tuple(sorted(known)), (place.tree,) if place.tree else ()
        )
        for place, known in folders.items()
    )


def admissions(packs: Packs) -> tuple[bytes, ...]:
    """The words that the rules for admissions look for first, as they stand in a transcript."""
    words = {
        word.casefold().encode()
        for (source, _), pack in packs.by_key.items()
        if source is Source.SELF
        for rule in pack.rules
        for word in rule.keywords
    }
    return tuple(sorted(words, key=lambda word: (not word.isascii(), word)))
