"""The table of docs/rules.md: how many rules each language has, counted from the packs."""

from collections.abc import Iterable

from pipeline.classify.rule import Packs, Rule, Status
from pipeline.errors import UsageError
from pipeline.records import CaseType, Source

BEGIN = "<!-- rules table: begin, made by `twice-told rules table docs/rules.md` -->"
END = "<!-- rules table: end -->"

_NOTICED = (Source.REVIEW, Source.GUARD, Source.SELF)
_TYPES = tuple(CaseType)
_HEAD = (
    "language", *(t.value for t in _TYPES if t is not CaseType.OTHER), "cues", "exclusions",
    "harmless", *(source.value for source in _NOTICED),
)  # fmt: skip


def rows(loaded: Packs) -> list[tuple[str, ...]]:
    """One row a language, sorted, after the row of the heads. `3+1`: three active, one shadow."""
    langs = sorted({lang for _, lang in loaded.by_key if lang != "any"})
    table = [_HEAD]
    for lang in langs:
        pack = loaded.by_key.get((Source.HUMAN, lang))
        if pack is None or not pack.rules:
            continue
        own = [exclusion for rule in pack.rules for exclusion in rule.exclude]
        noticed = [loaded.by_key.get((source, lang)) for source in _NOTICED]
        table.append((
            lang,
            *(_count(rule for rule in pack.rules if rule.type is kind) for kind in _TYPES),
            str(len(pack.excludes) + len(own)),
            str(len(pack.harmless)),
            *(_count(found.rules) if found else "–" for found in noticed),
        ))  # fmt: skip
    return table


def _count(rules: Iterable[Rule]) -> str:
    states = [rule.status for rule in rules]
    shadow = states.count(Status.SHADOW)
    return f"{states.count(Status.ACTIVE)}{f'+{shadow}' if shadow else ''}"


def markdown(loaded: Packs) -> str:
    """The table between its marks."""
    head, *body = rows(loaded)
    lines = [head, ("---",) * len(head), *body]
    return "\n".join([BEGIN, *(f"| {' | '.join(line)} |" for line in lines), END])


def replaced(document: str, loaded: Packs) -> str:
    """The document with a fresh table. Raises UsageError when it has no marks."""
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise UsageError("the file has no marks of a rules table", f"it needs a line {BEGIN}")
    return before + markdown(loaded) + after
