"""What accepting a proposal would do: which file, which sentence, what to think of before."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.cases.store import Store, open_reader
from pipeline.commands.context import Context
from pipeline.commands.matter import Matter, cwd, exists_not_kept, matter, places
from pipeline.documents import Document
from pipeline.errors import UsageError
from pipeline.ledger.event import Form, Happening, rule_hash
from pipeline.propose import block, change, draft, scope, target
from pipeline.propose.change import Change, Found
from pipeline.propose.target import Target
from pipeline.wording import counted


@dataclass(frozen=True, slots=True)
class Plan:
    """What accepting a proposal would do."""

    matter: Matter
    form: Form
    sentence: str = ""
    rule: str | None = None
    change: Change | None = None
    """None when no file is written: not a rule, or it stands there already."""
    path: Path | None = None
    warnings: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """False when the person left no sentence."""
        return self.form is not Form.RULE or self.rule is not None


def look(
    context: Context, number: int, wanted: str | None = None
) -> tuple[Matter, Target, Found | None]:
    """The proposal, the file for its rule, and what a cut-off acceptance has left in some file.

    Raises UsageError.
    """
    with open_reader(context.config.local_cases) as store:
        found = matter(context, store, number, Happening.ACCEPTED)
        into = place(found, context, store, wanted)
        where = [into, *places(found, context.config, store)]
    return found, into, change.left_behind(where, found.proposal)


def place(found: Matter, context: Context, store: Store | None, wanted: str | None) -> Target:
    """The file that is named, else the one that fits the repository. Raises UsageError."""
    repo = found.proposal.repo
    if wanted is not None:
        return target.named(wanted, cwd(), repo, store, context.config.claude_dirs)
    if found.tree is None:
        raise UsageError(
            f"proposal {found.proposal.number} is about {repo}, which is not here",
            f"run it inside {repo}, or name a file with --target",
        )
    return target.default(found.tree.top, globs(found))


def globs(found: Matter, into: Target | None = None) -> Sequence[str]:
    """The files that all its cases are about."""
    top = into.within if into else found.tree.top if found.tree else None
    return scope.globs(found.cases, top) if top else ()


def planned(context: Context, found: Matter, into: Target, document: Document, text: str) -> Plan:
    """The whole plan for a sentence. Raises UsageError, ConfigError."""
    sentence = draft.checked(text)
    files = globs(found, into)
    made = change.addition(document, into, found.proposal, sentence, files)
    warnings = [into.note] if into.note else []
    if into.is_rules and document.data is not None and target.paths_of(document.data):
        warnings.append(f"{into.path} is only read along with the files that its `paths:` name")
    if place_ := exists_not_kept(found, context.config, into.within):
        warnings.append(
            f"exists, not kept: {place_.path}:{place_.line} seems to say it already; sharpen that"
            " line, or make it a hook (--as hook), instead of adding another sentence"
        )
    if found.taken_back:
        warnings.append(
            "all its cases on this machine were taken back or say nothing by themselves;"
            f" `twice-told reject {found.proposal.number} --reason wrong` drops it"
        )
    elif found.thin:
        warnings.append(
            "some of its cases were taken back or say nothing by themselves: what is left on this"
            f" machine ({counted(len(found.cases), 'case')}) would not be raised any more"
        )
    if same := draft.echoes(sentence, found.cases):
        warnings.append(f"the sentence repeats words of {', '.join(same)}; say it in your own")
    warnings += _crowded(made, found)
    return Plan(found, Form.RULE, sentence, rule_hash(sentence), made, into.path, tuple(warnings))


def resumed(found: Matter, left: Found, is_other: bool) -> Plan:
    """Of an acceptance that was cut off: the file has the rule, the ledger does not. `is_other`:
    the person gave another sentence, or another file, by now."""
    where = f"{left.document.path}:{left.rule.line}"
    warnings = [
        f"the rule stands in {where} already; only the ledger does not know it",
        f"it says: {left.rule.sentence}",
    ]
    if is_other:
        warnings.append("the sentence or file given now is not used; `retire` it to give another")
    return Plan(
        found, Form.RULE, left.rule.sentence, left.rule.hash, None, left.document.path,
        tuple(warnings),
    )  # fmt: skip


def _crowded(made: Change, found: Matter) -> list[str]:
    """A block past its budget names the rules that have been quiet for longest."""
    parsed = block.parse(made.data or b"", str(made.document.path))
    quiet = block.over_budget(parsed, found.last) if parsed else []
    if not parsed or not quiet:
        return []
    names = ", ".join(
        f"{rule.number} ({rule.bundle}, last {found.last.get(rule.bundle, 'unknown')})"
        for rule in quiet[:3]
    )
    return [
        f"the block would have {parsed.lines} lines, more than {block.BUDGET_LINES};"
        f" without a recurrence for longest: {names}; `twice-told retire` takes one out"
    ]
