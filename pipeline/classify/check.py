"""`rules check`: runs every pack's own samples through the real engine.

Packs in, problems out; an empty list is a sound set. Printing is the command line's.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pipeline.classify import engine, hostile
from pipeline.classify.normalise import normalise
from pipeline.classify.pattern import Pattern
from pipeline.classify.rule import Exclusion, Fact, Pack, Packs, Rule, Status
from pipeline.errors import RuleError
from pipeline.records import Finding, Kind, Message, Source

_RUNNING = (Status.ACTIVE, Status.SHADOW)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with the packs."""

    id: str
    """Rule or exclusion, or the language for its harmless sentences."""
    check: str
    """Which check found it: compile, match, reject, keyword, stops, known-miss, cross, harmless,
    hidden, slow."""
    detail: str
    """The sample and what happened."""


def check(loaded: Packs) -> list[Problem]:
    """All problems, in the order of the packs."""
    broken = list(_compile(loaded))
    return broken or list(_behaviour(loaded))


def _compile(loaded: Packs) -> Iterator[Problem]:
    for pattern in patterns(loaded):
        try:
            pattern.compiled()
        except RuleError as error:
            yield Problem(pattern.owner, "compile", error.message)


def patterns(loaded: Packs) -> Iterator[Pattern]:
    """Every pattern that may run."""
    for pack in loaded.by_key.values():
        for rule in pack.rules:
            yield rule.pattern
            yield from (exclusion.pattern for exclusion in rule.exclude)
        yield from (exclusion.pattern for exclusion in pack.excludes)


def _behaviour(loaded: Packs) -> Iterator[Problem]:
    for key, pack in loaded.by_key.items():
        source, lang = key
        bench = _Bench(loaded, source, lang)
        for rule in pack.rules:
            if rule.status in _RUNNING:
                yield from _samples(bench, rule)
                yield from _rule_stops(bench, rule)
            if rule.status is Status.ACTIVE:
                yield from _among_others(bench, pack, rule)
        for exclusion in pack.excludes:
            yield from _pack_stops(bench, pack, exclusion)
        yield from _harmless(loaded, source, lang, pack)
    yield from _slow(loaded)


class _Bench:
    """Runs single texts with a chosen set of rules, the language forced."""

    def __init__(self, loaded: Packs, source: Source, lang: str) -> None:
        self.loaded = replace(loaded, signals=())
        self.source = source
        self.lang = lang

    def run(self, pack: Pack, text: str, needs: Iterable[Fact] = ()) -> Finding | None:
        loaded = replace(self.loaded, by_key={(self.source, self.lang): pack})
        return engine.classify(loaded, self.message(text, needs))

    def spans(self, rule: Rule, text: str) -> list[tuple[int, int]]:
        """Where the rule alone fires."""
        alone = Pack(rules=(replace(rule, status=Status.ACTIVE),))
        loaded = replace(self.loaded, by_key={(self.source, self.lang): alone})
        tried = engine.trace(loaded, self.message(text, rule.needs)).attempts
        return [attempt.span for attempt in tried if attempt.stopped_by is None]

    def message(self, text: str, needs: Iterable[Fact]) -> Message:
        needed = set(needs)
        return Message(
            text=text,
            source=self.source,
            kind=Kind.REJECTION if Fact.REJECTION in needed else Kind.TYPED,
            interrupted=Fact.INTERRUPTED in needed,
            said="?" if Fact.AGENT_ASKED in needed else "",
            lang=self.lang,
        )


def _samples(bench: _Bench, rule: Rule) -> Iterator[Problem]:
    for sample in rule.match:
        spans = bench.spans(rule, sample.text)
        found = [sample.text[start:end] for start, end in spans]
        if found != [sample.span]:
            yield Problem(rule.id, "match", f"{sample.text!r}: {found} instead of {sample.span!r}")
    for sample in rule.reject:
        folded = bench.loaded.fold(normalise(sample.text).text.casefold(), bench.lang)
        if not any(word in folded for word in rule.keywords):
            yield Problem(rule.id, "keyword", f"{sample.text!r}: no keyword, so it tests nothing")
        if bench.spans(rule, sample.text):
            yield Problem(rule.id, "reject", f"{sample.text!r}: fires")
    for sample in rule.known_miss:
        if bench.spans(rule, sample.text):
            yield Problem(rule.id, "known-miss", f"{sample.text!r}: fires now; make it a match")


def _rule_stops(bench: _Bench, rule: Rule) -> Iterator[Problem]:
    for exclusion in rule.exclude:
        others = tuple(other for other in rule.exclude if other is not exclusion)
        for text in exclusion.stops:
            if not bench.spans(replace(rule, exclude=others), text):
                yield Problem(exclusion.id, "stops", f"{text!r}: silent without the exclusion too")
            if bench.spans(rule, text):
                yield Problem(exclusion.id, "stops", f"{text!r}: fires in spite of it")


def _pack_stops(bench: _Bench, pack: Pack, exclusion: Exclusion) -> Iterator[Problem]:
    others = tuple(other for other in pack.excludes if other is not exclusion)
    for text in exclusion.stops:
        if bench.run(replace(pack, excludes=others), text) is None:
            yield Problem(exclusion.id, "stops", f"{text!r}: silent without the exclusion too")
        if bench.run(pack, text) is not None:
            yield Problem(exclusion.id, "stops", f"{text!r}: fires in spite of it")


def _among_others(bench: _Bench, pack: Pack, rule: Rule) -> Iterator[Problem]:
    """In the whole pack a match must stay a case, and a near miss must not become one."""
    for sample in rule.match:
        if bench.run(pack, sample.text, rule.needs) is None:
            yield Problem(
                rule.id, "hidden", f"{sample.text!r}: an exclusion of the language hides it"
            )
    for sample in rule.reject:
        found = bench.run(pack, sample.text, rule.needs)
        if found:
            yield Problem(rule.id, "cross", f"{sample.text!r}: {found.rule_id} fires")


def _harmless(loaded: Packs, source: Source, lang: str, pack: Pack) -> Iterator[Problem]:
    """Harmless sentences of noticed packs stand beside all their languages."""
    quiet = replace(loaded, signals=())
    forced = None if source is not Source.HUMAN else lang
    for text in pack.harmless:
        found = engine.classify(quiet, Message(text=text, source=source, lang=forced))
        if found:
            yield Problem(f"{source}/{lang}", "harmless", f"{text!r}: {found.rule_id} fires")


def _slow(loaded: Packs) -> Iterator[Problem]:
    for pack in loaded.by_key.values():
        for rule in pack.rules:
            words = (*rule.keywords, *(sample.text for sample in rule.match))
            for pattern in (rule.pattern, *(exclusion.pattern for exclusion in rule.exclude)):
                yield from _timed(pattern, words)
        for exclusion in pack.excludes:
            yield from _timed(exclusion.pattern, exclusion.stops)


def _timed(pattern: Pattern, words: Sequence[str]) -> Iterator[Problem]:
    for text in hostile.texts(pattern.source, words):
        try:
            for _ in pattern.spans(text):
                pass
        except TimeoutError:
            yield Problem(pattern.owner, "slow", f"over 50 ms on {text[:40]!r} repeated")
            return
