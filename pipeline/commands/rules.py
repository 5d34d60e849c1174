"""`rules list`, `rules check`, `rules table`, `rules eval`."""

from argparse import Namespace
from pathlib import Path
from typing import Any

from pipeline import resources
from pipeline.classify import check, evaluate, labelled, packs, tally
from pipeline.classify.evaluate import By, Judged, Score
from pipeline.commands.context import Context
from pipeline.commands.ratios import ratio_json, ratio_text
from pipeline.commands.stdin import file_or_stdin
from pipeline.errors import UsageError
from pipeline.masking import samples

SHOWN_CHARS = 120


def run(context: Context, args: Namespace) -> int:
    """Dispatches on the word behind `rules`."""
    if args.action in ("list", "check") and args.file is not None:
        raise UsageError(f"`rules {args.action}` takes no file", "see `twice-told rules --help`")
    if args.action == "list":
        return _list(context)
    if args.action == "check":
        return _check(context)
    if args.action == "table":
        return _table(context, args.file)
    if args.file is None:
        raise UsageError("`rules eval` needs a file of labelled messages", "see rules --help")
    return _evaluate(context, args)


def _list(context: Context) -> int:
    rows = [
        (rule.id, rule.type.value, rule.status.value, rule.summary)
        for _, _, rule in packs.rules(packs.load(context.config.rule_folders))
    ]
    if context.json:
        names = ("id", "type", "status", "summary")
        context.screen.document([dict(zip(names, row, strict=True)) for row in rows])
    else:
        context.screen.table(("rule", "type", "status", "what it says"), rows, styled=1)
    return 0


def _table(context: Context, file: str | None) -> int:
    """The shipped packs alone: the table belongs to the project, not to anybody's home."""
    shipped = packs.load([resources.folder("rules")])
    if file is None:
        head, *body = tally.rows(shipped)
        if context.json:
            context.screen.document([dict(zip(head, row, strict=True)) for row in body])
        else:
            context.screen.table(head, body)
        return 0
    path = Path(file)
    try:
        document = path.read_text(encoding="utf-8")
        fresh = tally.replaced(document, shipped)
        if context.dry_run:
            context.screen.line("would be rewritten" if fresh != document else "is up to date")
        elif fresh != document:
            path.write_text(fresh, encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be rewritten: {error}", "name docs/rules.md") from error
    return 0


def _check(context: Context) -> int:
    """1 when a pack is unsound, with each problem on a line."""
    problems = [
        f"{problem.id}: {problem.check}: {problem.detail}"
        for problem in check.check(packs.load(context.config.rule_folders))
    ]
    problems += [f"mask: {complaint}" for complaint in samples.check()]
    if context.json:
        context.screen.document(problems)
    else:
        for problem in problems:
            context.screen.line(problem)
        context.screen.talk(f"{len(problems)} problems" if problems else "all packs are sound")
    return 1 if problems else 0


def _evaluate(context: Context, args: Namespace) -> int:
    rows = labelled.choose(
        labelled.read(file_or_stdin(args.file)),
        only=_codes(args.lang),
        skipped=_codes(args.skip_lang),
        leave_out=args.leave_out,
    )
    result = evaluate.evaluate(packs.load(context.config.rule_folders), rows, By(args.by))
    scores = [*result.groups, result.total]
    if context.json:
        context.screen.document([_score(score) for score in scores])
        return 0
    context.screen.table(
        ("group", "rows", "corrections", "precision", "recall", "sure", "type right", "reach",
         "noise"),
        [
            (
                score.name, str(score.rows), str(score.corrections), ratio_text(score.precision),
                ratio_text(score.recall), ratio_text(score.sure_recall),
                ratio_text(score.type_right), ratio_text(score.reach), ratio_text(score.noise),
            )
            for score in scores
        ],
    )  # fmt: skip
    context.screen.line()
    context.screen.table(
        ("group", "type", "precision", "recall"),
        [
            (score.name, kind.value, ratio_text(part.precision), ratio_text(part.recall))
            for score in (scores if args.by == "lang" else [result.total])
            for kind, part in score.types.items()
            if part.precision.whole or part.recall.whole
        ],
        styled=1,
    )
    for wanted, name, judged in (
        (args.misses, "missed", result.misses),
        (args.false_alarms, "false alarm", result.false_alarms),
    ):
        if wanted:
            _rows(context, name, judged)
    return 0


def _codes(given: str | None) -> list[str]:
    return given.split(",") if given else []


def _rows(context: Context, name: str, judged: tuple[Judged, ...]) -> None:
    """The local file's own messages, on the local screen."""
    context.screen.line()
    for item in judged:
        finding = item.finding
        text = " ".join(item.row.message.text.split())[:SHOWN_CHARS]
        context.screen.line(
            f"{name}\t{item.row.lang}\t{item.row.id}\t{finding.rule_id if finding else '-'}\t{text}"
        )


def _score(score: Score) -> dict[str, Any]:
    names = ("precision", "recall", "sure_recall", "type_right", "reach", "noise")
    return {
        "name": score.name,
        "rows": score.rows,
        "corrections": score.corrections,
        "neutral": score.neutral,
        **{name: ratio_json(getattr(score, name)) for name in names},
        "types": {
            kind.value: {
                "precision": ratio_json(part.precision),
                "recall": ratio_json(part.recall),
            }
            for kind, part in score.types.items()
        },
    }
