"""`stats`: figures that add up."""

from argparse import Namespace
from collections import Counter
from dataclasses import asdict
from typing import Any

from pipeline.cases import stats
from pipeline.cases.store import Store, open_reader
from pipeline.commands.context import Context
from pipeline.commands.show import NO_CASES
from pipeline.config import Config
from pipeline.errors import LedgerError
from pipeline.ledger.fold import State
from pipeline.propose.listing import entries
from pipeline.screen import Screen
from pipeline.wording import counted

WEEKS, RULES = 12, 15


def run(context: Context, args: Namespace) -> int:
    """Totals, cases four ways, corrections per 100 turns by week, and how each rule fared."""
    fault = None
    with open_reader(context.config.local_cases) as store:
        if store is None:
            context.screen.talk(NO_CASES)
        figures = _figures(store) if store else _nothing()
        try:
            figures |= _proposals(context.config, store)
        except LedgerError as error:  # it costs the other figures nothing
            fault = error
            figures |= {"proposals": None, "effects": []}
    if context.json:
        context.screen.document(figures)
    elif store:
        _print(context.screen, figures)
    if fault:
        raise fault
    return 0


def _nothing() -> dict[str, Any]:
    """Of a home without a store: the same shape, since scripts look into it."""
    return {
        "totals": dict.fromkeys(("turns", "sessions", "cases", "files"), 0),
        "cases": stats.tally([]),
        "weeks": [],
        "shown": {"times": 0, "sessions": 0},
        "shadow_rules": [],
        "rules": [],
    }


def _figures(store: Store) -> dict[str, Any]:
    sorts = stats.sorts(store)
    return {
        "totals": dict(stats.totals(store)),
        "cases": stats.tally(sorts),
        "weeks": [
            {
                "week": str(week),
                "turns": turns,
                "corrections": cases,
                "per_100": _rate(cases, turns),
            }
            for week, turns, cases in stats.by_week(store)
        ],
        "shown": stats.showings(store),
        "shadow_rules": [
            {"rule_id": rule, "fired": fired, "alone": alone}
            for rule, fired, alone in stats.shadow_rules(store)
        ],
        "rules": [
            asdict(rule) | {"not_dismissed": _rate(rule.cases - rule.dismissed, rule.cases)}
            for rule in stats.by_rule(sorts)
        ],
    }


def _proposals(config: Config, store: Store | None) -> dict[str, Any]:
    """By state, which adds up to `all`; and each accepted rule."""
    found = entries(config, store)
    states = Counter(entry.proposal.state for entry in found)
    return {
        "proposals": {"all": len(found)} | {state.value: states[state] for state in State},
        "effects": [entry.as_json() for entry in found if entry.effect],
    }


def _states(proposals: dict[str, int] | None) -> str:
    """`3 = 1 raised, 2 accepted`."""
    if proposals is None:
        return "unknown"
    counted = [(state, number) for state, number in proposals.items() if number and state != "all"]
    parts = ", ".join(f"{number} {state}" for state, number in counted)
    return f"{proposals['all']} = {parts}" if parts else "0"


def _rate(part: int, whole: int) -> float | None:
    """Per hundred; None when there is nothing to divide by."""
    return round(100 * part / whole, 1) if whole else None


def _shown(rate: float | None) -> str:
    return "–" if rate is None else str(rate)


def _print(screen: Screen, figures: dict[str, Any]) -> None:
    totals = figures["totals"]
    screen.line(
        f"{totals['cases']} cases from {totals['turns']} turns"
        f" in {totals['sessions']} sessions ({totals['files']} transcripts)"
    )
    shown = figures["shown"]
    screen.line(
        f"shown to the agent: {counted(shown['times'], 'time')}"
        f" in {counted(shown['sessions'], 'session')}"
    )
    for name, counts in figures["cases"].items():
        parts = ", ".join(f"{number} {value}" for value, number in sorted(counts.items()))
        screen.line(f"by {name.replace('_', ' ')}: {parts or 'none'}")
    screen.line(f"proposals: {_states(figures['proposals'])}")
    for rule in figures["effects"]:
        screen.line(
            f"  {rule['number']} {rule['repo']} {rule['type']}: {rule['verdict']},"
            f" {rule['recurrences']} since {rule['accepted_at'][:10]}"
        )
    screen.line()
    screen.table(
        ("week", "turns", "corrections", "per 100 turns"),
        [
            (w["week"], str(w["turns"]), str(w["corrections"]), _shown(w["per_100"]))
            for w in figures["weeks"][-WEEKS:]
        ],
    )
    screen.line()
    screen.table(
        ("rule", "cases", "dismissed", "not dismissed"),
        [
            (r["rule_id"], str(r["cases"]), str(r["dismissed"]), f"{r['not_dismissed']} %")
            for r in figures["rules"][:RULES]
        ],
    )
    if figures["shadow_rules"]:
        screen.line()
        screen.table(
            ("rule on trial", "fired", "where no other decided"),
            [(r["rule_id"], str(r["fired"]), str(r["alone"])) for r in figures["shadow_rules"]],
        )
