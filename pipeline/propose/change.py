"""One change of a file of instructions: made up first, shown, then carried out."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline import documents
from pipeline.documents import Document
from pipeline.errors import PipelineError
from pipeline.files import is_folder
from pipeline.ledger.fold import Proposal
from pipeline.propose import block, target
from pipeline.propose.block import Rule
from pipeline.propose.target import Target, is_rules


@dataclass(frozen=True, slots=True)
class Change:
    """What a file would become."""

    document: Document
    """As it was read; it is written to only while it is still so."""
    data: bytes | None
    """None: the file goes."""

    @property
    def diff(self) -> list[str]:
        """Unified, without line ends."""
        path = str(self.document.path)
        return list(
            difflib.unified_diff(
                _shown(self.document.data), _shown(self.data), path, path, lineterm=""
            )
        )

    def make(self) -> None:
        """With a repository's last file of rules goes the folder that was made for it.

        Raises ConfigError when the file is no longer what was read, StoreError.
        """
        documents.write(self.document, self.data)
        if self.data is None and self.document.within and is_rules(self.document.path):
            documents.drop_folder(self.document)


@dataclass(frozen=True, slots=True)
class Found:
    """A rule of ours in a file."""

    document: Document
    rule: Rule


def bundle_of(proposal: Proposal) -> str:
    """As it stands in a rule's marker."""
    return f"{proposal.repo}/{proposal.type}"


def addition(
    document: Document, into: Target, proposal: Proposal, sentence: str, globs: Sequence[str]
) -> Change:
    """Puts a rule into a file. Raises ConfigError where its markers are damaged."""
    assert proposal.number is not None
    data = block.add(
        document.data, proposal.number, bundle_of(proposal), sentence, str(document.path),
        target.head(into, globs),
    )  # fmt: skip
    return Change(document, data)


def removal(found: Found) -> Change:
    """Takes a rule out of its file, and the file away when it was made for it."""
    data = found.document.data or b""
    head = target.head_of(data) if is_rules(found.document.path) else b""
    return Change(found.document, block.remove(data, found.rule, str(found.document.path), head))


def others(found: Found, proposal: Proposal) -> list[int]:
    """Lines with more rules of the same bundle: two people accepted it, and a merge kept both."""
    parsed = block.parse(found.document.data or b"", str(found.document.path))
    return [
        rule.line
        for rule in (parsed.rules if parsed else ())
        if rule.bundle == bundle_of(proposal) and rule.line != found.rule.line
    ]


def left_behind(places: Iterable[Target], proposal: Proposal) -> Found | None:
    """The rule of an acceptance that was cut off before it came to the ledger."""
    assert proposal.number is not None
    for document, parsed in _blocks(places, []):
        rule = block.standing(parsed, proposal.number, bundle_of(proposal))
        if rule:
            return Found(document, rule)
    return None


def accepted(places: Iterable[Target], proposal: Proposal, faults: list[str]) -> Found | None:
    """The rule that a proposal became. What could not be searched is added to `faults`."""
    assert proposal.number is not None
    for document, parsed in _blocks(places, faults):
        rule = block.find(parsed, proposal.number, bundle_of(proposal), proposal.rule)
        if rule:
            return Found(document, rule)
    return None


def _blocks(
    places: Iterable[Target], faults: list[str]
) -> Iterable[tuple[Document, block.Block | None]]:
    seen: set[Path] = set()
    for place in places:
        if place.path in seen or not is_folder(place.path.parent):
            continue
        seen.add(place.path)
        try:
            document = place.read()
            yield document, block.parse(document.data or b"", str(place.path))
        except PipelineError as error:
            faults.append(error.message)


def _shown(data: bytes | None) -> list[str]:
    return [line.decode("utf-8", "replace") for line in (data or b"").splitlines()]
