"""Decides what a message is: Message in, Finding or None out. Pure, and never raises on any text.

Order: what a message may be at all, then the types in their fixed order, each match against its
exclusions; the first that survives decides. A surviving cue, or a signal, makes `other`. One path
serves both `classify`, which stops at the verdict, and `trace`, which goes on.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.classify import sentences
from pipeline.classify.normalise import Normal, normalise
from pipeline.classify.repeat import repeats
from pipeline.classify.rule import Exclusion, Fact, On, Pack, Packs, Rule, Signal, Status
from pipeline.classify.sentences import Sentence
from pipeline.classify.trace import Attempt, Trace, Why
from pipeline.records import CaseType, Finding, Kind, Message, Source

WHOLE_CHARS = 200
"""A longer message is no correction as a whole."""

_NO_PACK = Pack()
_ORDER = {kind: place for place, kind in enumerate(CaseType)}
_ACTIVE = frozenset({Status.ACTIVE})
_SHADOW = frozenset({Status.SHADOW})


@dataclass(slots=True)
class _View:
    """A message made ready."""

    normal: Normal
    body: str
    """What exclusions on the whole message look at."""
    sentences: tuple[Sentence, ...]
    question: bool
    facts: frozenset[Fact]
    """Without REPEATED, which is dear and rarely asked for."""
    source: Source
    barred: Why | None
    """Why no rule may decide at all."""
    previous: str
    repeated: bool | None = None
    """Not yet looked at when None."""

    def all_facts(self) -> frozenset[Fact]:
        """With REPEATED, which is found out at the first call."""
        if self.repeated is None:
            before = normalise(self.previous).text if self.previous else ""
            self.repeated = self.source is Source.HUMAN and repeats(self.body, before)
            if self.repeated:
                self.facts |= {Fact.REPEATED}
        return self.facts


def classify(loaded: Packs, message: Message) -> Finding | None:
    """The verdict, or None when the message is no case."""
    view = _view(loaded, message)
    if view.barred is Why.BRACKET:
        return None
    for rule, sentence, attempt in _attempts(loaded, view, _ACTIVE):
        found = _finding(view, rule, sentence, attempt)
        if found:
            return found
    signal = next(_signals(loaded, view), None)
    return _signalled(view, signal) if signal else None


def shadows(loaded: Packs, message: Message) -> tuple[Finding, ...]:
    """What each shadow rule would have said of the message, in deciding order, one a rule.

    Costs nothing while no shadow rule is loaded.
    """
    if not loaded.has_shadow:
        return ()
    view = _view(loaded, message)
    if view.barred is Why.BRACKET:
        return ()
    said: dict[str, Finding] = {}
    for rule, sentence, attempt in _attempts(loaded, view, _SHADOW):
        found = _finding(view, rule, sentence, attempt)
        if found:
            said.setdefault(rule.id, found)
    return tuple(said.values())


def trace(loaded: Packs, message: Message) -> Trace:
    """The same verdict with everything that was tried, shadow rules included."""
    view = _view(loaded, message)
    attempts: list[Attempt] = []
    found: Finding | None = None
    signals: tuple[Signal, ...] = ()
    if view.barred is not Why.BRACKET:
        for rule, sentence, attempt in _attempts(loaded, view, _ACTIVE | _SHADOW):
            attempts.append(attempt)
            if rule.status is Status.ACTIVE:
                found = found or _finding(view, rule, sentence, attempt)
        signals = tuple(_signals(loaded, view))
    why = _why(view, found, attempts)
    if found is None and signals:
        found, why = _signalled(view, signals[0]), Why.SIGNAL
    return Trace(
        normalised=view.normal.text,
        blanks=view.normal.blanks,
        sentences=view.sentences,
        question=view.question,
        facts=tuple(sorted(view.all_facts())),
        attempts=tuple(attempts),
        signals=tuple(signal.id for signal in signals),
        finding=found,
        why=why,
    )


def _why(view: _View, found: Finding | None, attempts: list[Attempt]) -> Why:
    if found:
        return Why.RULE if found.decided else Why.CUE
    if view.barred:
        return view.barred
    return Why.EXCLUDED if any(attempt.stopped_by for attempt in attempts) else Why.NOTHING


def _view(loaded: Packs, message: Message) -> _View:
    normal = normalise(message.text)
    human = message.source is Source.HUMAN
    body = normal.text.strip()
    cut = _sentences(loaded, message, normal.text)
    barred = Why.BRACKET if human and body.startswith("[") else None
    if human and not barred and len(message.text.strip()) > WHOLE_CHARS:
        kept = _first(cut)
        body = kept[0].text if kept else ""
        barred = None if kept else Why.TOO_LONG
    else:
        kept = list(cut)
        body = loaded.fold(body, kept[0].lang) if kept else body
    return _View(
        normal=normal,
        body=body,
        sentences=tuple(kept),
        question=human and body.rstrip(" \"')~").endswith("?"),
        facts=_facts(message),
        source=message.source,
        barred=barred,
        previous=message.previous,
    )


def _sentences(loaded: Packs, message: Message, text: str) -> Iterator[Sentence]:
    for sentence in sentences.cut(text, loaded.latin, message.lang, message.previous):
        if sentence.lang in loaded.folds:
            folded = loaded.fold(sentence.text, sentence.lang)
            yield Sentence(folded, sentence.start, sentence.lang)
        else:
            yield sentence


def _first(cut: Iterator[Sentence]) -> list[Sentence]:
    """The first sentence with a word in it ("1." has none), unless it is too long by itself."""
    first = next((s for s in cut if any(map(str.isalpha, s.text))), None)
    return [first] if first and len(first.text) <= WHOLE_CHARS else []


def _facts(message: Message) -> frozenset[Fact]:
    facts = {Fact.AGENT_ACTED} if message.acted else set()
    if message.interrupted:
        facts.add(Fact.INTERRUPTED)
    if message.kind is Kind.REJECTION:
        facts.add(Fact.REJECTION)
    # Who stops the agent or refuses a call does not answer its question.
    elif not message.interrupted and message.said.rstrip().endswith(("?", "？")):
        facts.add(Fact.AGENT_ASKED)
    return frozenset(facts)


def _attempts(
    loaded: Packs, view: _View, states: frozenset[Status]
) -> Iterator[tuple[Rule, Sentence, Attempt]]:
    """All matches of the rules in these states, in deciding order, each with its fate."""
    for rule, sentence, pack in _candidates(loaded, view, states):
        try:
            for start, end in rule.pattern.spans(sentence.text):
                attempt = _tried(rule, pack, view, sentence, (start, end))
                yield rule, sentence, attempt
        except TimeoutError:
            yield rule, sentence, _timeout(rule)


def _candidates(
    loaded: Packs, view: _View, states: frozenset[Status]
) -> list[tuple[Rule, Sentence, Pack]]:
    """Rules whose keyword occurs, types in order and inside a type the earlier sentence first."""
    found = []
    for sentence in view.sentences:
        pack = loaded.by_key.get((view.source, sentence.lang), _NO_PACK)
        found += [
            (rule, sentence, pack)
            for rule in map(pack.rules.__getitem__, pack.places(sentence.text.casefold()))
            if rule.status in states and _holds(rule, view)
        ]
    found.sort(key=lambda candidate: _ORDER[candidate[0].type])
    return found


def _holds(rule: Rule | Signal, view: _View) -> bool:
    """Whether what is known of the turn lets a rule or signal run."""
    if not rule.needs and not rule.unless:
        return True
    asks = Fact.REPEATED in rule.needs or Fact.REPEATED in rule.unless
    facts = view.all_facts() if asks else view.facts
    needed = not rule.needs or not rule.needs.isdisjoint(facts)
    return needed and rule.unless.isdisjoint(facts)


def _tried(
    rule: Rule, pack: Pack, view: _View, sentence: Sentence, span: tuple[int, int]
) -> Attempt:
    tried = []
    stopped = None
    for exclusion in (*rule.exclude, *pack.excludes):
        if exclusion.families and rule.type not in exclusion.families:
            continue
        tried.append(exclusion.id)
        if _stops(exclusion, view.body, sentence.text, span):
            stopped = exclusion.id
            break
    asks = view.question and sentence is view.sentences[-1]
    return Attempt(
        rule_id=rule.id,
        type=rule.type,
        status=rule.status,
        span=(sentence.start + span[0], sentence.start + span[1]),
        tried=tuple(tried),
        stopped_by=stopped,
        muted=stopped is None and asks and not rule.question,
    )


def _stops(exclusion: Exclusion, body: str, sentence: str, span: tuple[int, int]) -> bool:
    """Raises TimeoutError: a rule whose exclusion cannot be tried must not decide."""
    if exclusion.on is On.MESSAGE:
        return exclusion.pattern.occurs(body)
    if exclusion.on is On.SENTENCE:
        return exclusion.pattern.occurs(sentence)
    return any(a < span[1] and b > span[0] for a, b in exclusion.pattern.spans(sentence))


def _timeout(rule: Rule) -> Attempt:
    return Attempt(rule.id, rule.type, rule.status, (0, 0), (), None, timed_out=True)


def _finding(view: _View, rule: Rule, sentence: Sentence, attempt: Attempt) -> Finding | None:
    """What a match comes to. In a question only violated-instruction stays what it is."""
    if attempt.stopped_by or attempt.timed_out or attempt.muted:
        return None
    kind = rule.type
    if view.question and kind is not CaseType.VIOLATED_INSTRUCTION:
        kind = CaseType.OTHER
    return Finding(
        type=kind,
        rule_id=rule.id,
        span=attempt.span,
        decided=kind is not CaseType.OTHER,
        lang=sentence.lang,
    )


def _signals(loaded: Packs, view: _View) -> Iterator[Signal]:
    """A question needs words that blame: what happened before it is not enough."""
    if view.source is not Source.HUMAN or view.question:
        return
    for signal in loaded.signals:
        if (
            signal.status is Status.ACTIVE
            and 0 < len(view.body) <= signal.max_chars
            and _holds(signal, view)
        ):
            yield signal


def _signalled(view: _View, signal: Signal) -> Finding:
    """Points at the whole text that was looked at."""
    text = view.normal.text
    start = len(text) - len(text.lstrip())
    span = (start, max(start, len(text.rstrip())))
    lang = view.sentences[0].lang if view.sentences else sentences.DEFAULT
    return Finding(CaseType.OTHER, signal.id, span, decided=False, lang=lang)
