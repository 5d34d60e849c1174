"""`install`, `uninstall`, `schedule`: into other programs' files and out again, after a look."""

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipeline import config
from pipeline.commands import asking
from pipeline.commands.context import Context
from pipeline.errors import ConfigError, UsageError
from pipeline.install import line, probe, schedule, settings, wiring
from pipeline.install.change import Change
from pipeline.install.night import Night
from pipeline.install.remains import remains


def install(context: Context, args: Namespace) -> int:
    """Sets up the parts that are asked for; what is right already is left alone."""
    changes: list[Change] = []
    warnings: list[str] = []
    local_cases = context.config.local_cases
    if args.part != "schedule":
        paths = (line.interpreter(), str(line.HOOK), str(context.config.home))
        command = line.guarded(*paths)
        changes += [settings.installation(p, command, local_cases) for p in _places(context, args)]
        warnings += probe.faults(*paths)
        warnings += wiring.notes(context.config.claude_dirs, _here(), args.project, stays=True)
    known = schedule.schedulers(local_cases)
    chosen, missing = _chosen(known, args)
    if chosen:
        changes += schedule.installation(known, chosen, _night(context, args))
    done = _carry_out(context, changes, warnings)
    next_run = chosen.next_start() if chosen else None
    if chosen and next_run and not context.json:
        context.screen.line(f"next night: {next_run}")
    _document(context, changes, warnings, done, {"next_run": next_run})
    _advise(context, chosen)
    if missing:
        raise missing
    return 0


def _chosen(
    known: tuple[schedule.Scheduler, ...], args: Namespace
) -> tuple[schedule.Scheduler | None, ConfigError | None]:
    """The scheduler to use; without any the hook is set up all the same, and the fault said last.

    Raises ConfigError when the schedule is all that was asked for.
    """
    if not _with_schedule(args):
        return None, None
    try:
        return schedule.choose(known), None
    except ConfigError as error:
        if args.part == "schedule":
            raise
        return None, error


def uninstall(context: Context, args: Namespace) -> int:
    """Takes the parts out that are asked for, and says what stays."""
    changes: list[Change] = []
    warnings: list[str] = []
    local_cases = context.config.local_cases
    if args.part != "schedule":
        changes += [settings.removal(place, local_cases) for place in _places(context, args)]
        warnings += wiring.notes(context.config.claude_dirs, _here(), args.project, stays=False)
    if _with_schedule(args):
        changes += schedule.removal(schedule.schedulers(local_cases))
    done = _carry_out(context, changes, warnings)
    left = remains(context.config.home)
    if not context.json:
        for one in left:
            context.screen.line(f"stays: {one.path} ({one.what})")
        if left:
            context.screen.line("delete these yourself when you want them gone")
    stays = [{"path": str(one.path), "what": one.what} for one in left]
    _document(context, changes, warnings, done, {"stays": stays})
    return 0


def status(context: Context, args: Namespace) -> int:
    """One line: the scheduler and the next night, or how to get one."""
    found = schedule.current(schedule.schedulers(context.config.local_cases))
    start = found.next_start() if found else None
    if context.json:
        name = found.name if found else None
        context.screen.document({"installed": found is not None, "by": name, "next_run": start})
    elif found is None:
        context.screen.line("no schedule; `twice-told install schedule` sets one up")
    elif start is None:
        context.screen.line(f"{found.name}: set up but not running; install it again")
    else:
        context.screen.line(f"{found.name}: next night {start}")
    _advise(context, found)
    return 0


def _with_schedule(args: Namespace) -> bool:
    """Raises UsageError for words that contradict each other."""
    if args.project and args.part == "schedule":
        raise UsageError("a schedule belongs to no project", "leave --project out")
    return bool(args.part != "hook")


def _here() -> Path:
    """The current folder; a deleted one is in no repository, and that is all we ask."""
    try:
        return Path.cwd()
    except OSError:
        return Path("/")


def _places(context: Context, args: Namespace) -> Sequence[settings.Place]:
    if args.project:
        return [settings.project_place(_here())]
    return settings.user_places(context.config.claude_dirs)


def _night(context: Context, args: Namespace) -> Night:
    """The words with which a night in an empty environment finds what is found now."""
    more: list[str] = []
    file: Path | None = getattr(args, "config", None)
    if file:
        more += ["--config", str(file.absolute())]
    user_home = {"HOME": str(Path("~").expanduser())}
    bare = config.load(context.config.home, file=file, environ=user_home)
    if bare.claude_dirs != context.config.claude_dirs:
        for folder in context.config.claude_dirs:
            more += ["--claude-dir", str(folder)]
    return Night.of(sys.executable, context.config.home, tuple(more))


def _carry_out(context: Context, changes: Sequence[Change], warnings: Sequence[str]) -> bool:
    """Shows all, asks once, does one after the other. False when nothing was to be done or may."""
    screen = context.screen
    show = screen.talk if context.json else screen.line
    for warning in warnings:
        screen.warn(warning)
    work = [change for change in changes if not change.is_idle]
    for change in work:
        for text in change.diff:
            show(text)
    if work:
        asking.check_askable(context, "this changes files")
    going = bool(work) and not context.dry_run and asking.agreed(context, "Do this?")
    if work and not going and not context.dry_run:
        show("nothing was changed")
        return False
    for change in changes:
        kept = change.make() if going and not change.is_idle else None
        would_be = "would be " if context.dry_run and not change.is_idle else ""
        backup = f" (backup: {kept})" if kept else ""
        show(f"{change.target}: {would_be}{change.action}{backup}")
    return going


def _document(
    context: Context,
    changes: Sequence[Change],
    warnings: Sequence[str],
    done: bool,
    more: dict[str, Any],
) -> None:
    """With --json: one object. `done`: something was changed."""
    if not context.json:
        return
    rows = [
        {"part": c.part, "target": c.target, "action": c.action.value, "diff": list(c.diff)}
        for c in changes
    ]
    head = {"dry_run": context.dry_run, "done": done, "changes": rows, "warnings": list(warnings)}
    context.screen.document(head | more)


def _advise(context: Context, scheduler: schedule.Scheduler | None) -> None:
    advice = scheduler.advice() if scheduler else None
    if advice:
        context.screen.talk(f"note: {advice}")
