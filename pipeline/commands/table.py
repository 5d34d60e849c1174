"""All commands with their words: what `--help` teaches. Their modules load when called."""

from argparse import SUPPRESS, BooleanOptionalAction
from collections.abc import Mapping
from pathlib import Path

from pipeline.clock import parse_day
from pipeline.commands.command import Command, arg, count, proposal_number
from pipeline.ledger.event import Form, Reason
from pipeline.records import CaseType, Source

GLOBAL = (
    arg("--json", action="store_true", help="one JSON document on standard output"),
    arg("--home", type=Path, metavar="DIR", help="where cases, settings and ledger live"),
    arg(
        "--claude-dir", type=Path, metavar="DIR", action="append",
        help="a Claude Code folder to read instead of ~/.claude; repeatable",
    ),
    arg("--config", type=Path, metavar="FILE", help="settings file instead of <home>/config.toml"),
    arg("--dry-run", action="store_true", help="say what would be done, write nothing"),
    arg("--yes", action="store_true", help="answer every question with yes"),
    arg("--no-color", action="store_true", help="no colours (NO_COLOR is respected too)"),
    arg("-q", "--quiet", action="store_true", help="no talk on standard error"),
    arg("-v", "--verbose", action="store_true", help="more talk on standard error"),
)  # fmt: skip

_DAYS = arg(
    "--days", type=int, metavar="N", help="only transcripts that changed in the last N days"
)
_WINDOW = (
    _DAYS,
    arg("--since", type=parse_day, metavar="DAY", help="only those that changed since 2026-03-08"),
    arg(
        "--until",
        type=parse_day,
        metavar="DAY",
        help="what is judged and proposed ends with this day; transcripts are read whole",
    ),
)
_MODELS = (
    arg("--llm", action="store_true", help="let two models sort the undecided ones"),
    arg("--propose", action="store_true", help="raise what repeated to the ledger"),
)
_PARTS = (
    arg(
        "part", nargs="?", choices=["hook", "schedule", "all"], default="all",
        help="one of the two, or both (all)",
    ),
    arg(
        "--project", action="store_true",
        help="the hook in this repository's .claude/settings.local.json, not for all of them",
    ),
)  # fmt: skip
_NUMBER = arg("number", type=proposal_number, metavar="N", help="as `proposals` lists it")
_TYPES = [kind.value for kind in CaseType]
_SOURCES = [source.value for source in Source]

_ALL = (
    Command(
        "collect",
        "Read what changed in the transcripts and store the corrections found there.",
        ("twice-told collect", "twice-told collect --days 4 --json"),
        (
            *_WINDOW,
            *_MODELS,
            arg("--jobs", type=int, metavar="N", default=1, help="processes to read with"),
            arg("--rebuild", action="store_true", help="read unchanged transcripts too"),
        ),
        "collect",
    ),
    Command(
        "show",
        "Show the corrections of a bundle or behind a proposal; without one, what there is.",
        ("twice-told show webshop/missed-item --full", "twice-told show 1"),
        (
            arg(
                "bundle",
                nargs="?",
                metavar="REPO[/TYPE]|NUMBER",
                help="as `show` or `proposals` lists them",
            ),
            arg("--full", action="store_true", help="whole texts, and what the agent said"),
            arg("--limit", type=count, metavar="N", default=20, help="at most so many (20)"),
            arg("--all", action="store_true", help="doubtful and dismissed ones too"),
        ),
        "show",
    ),
    Command(
        "turns",
        "Print what is recognised as typed by a person, read afresh from the transcripts.",
        ("twice-told turns --since 2026-11-01", "twice-told turns --all --json"),
        (
            arg("--since", type=parse_day, metavar="DAY", help="from this local day on"),
            arg("--session", metavar="ID", help="only this session"),
            arg("--all", action="store_true", help="the other lines too, each with its reason"),
        ),
        "turns",
    ),
    Command(
        "status",
        "One line about the last run.",
        ("twice-told status", "twice-told status --json"),
        (),
        "status",
    ),
    Command(
        "nightly",
        "The whole night: collect, judge if that is on, propose, export; as often as you like.",
        ("twice-told nightly", "twice-told nightly --days 3 --json"),
        (
            _DAYS,
            arg(
                "--llm",
                action=BooleanOptionalAction,
                help="let two models sort the undecided ones (default: judge.enabled)",
            ),
            arg("--no-propose", action="store_true", help="raise nothing to the ledger"),
        ),
        "nightly",
    ),
    Command(
        "cases",
        "List cases, one a line, for scripts.",
        ("twice-told cases --type missed-item", "twice-told cases --repo webshop --json"),
        (
            arg("--repo", metavar="R", help="only this repository"),
            arg("--type", choices=_TYPES, help="only this type"),
            arg("--source", choices=_SOURCES, help="only from this source"),
            arg("--since", type=parse_day, metavar="DAY", help="from this local day on"),
            arg("--query", metavar="WORDS", help="only with all of these words in the text"),
            arg("--all", action="store_true", help="doubtful and dismissed ones too"),
        ),
        "cases",
    ),
    Command(
        "explain",
        "Tell which rule matched a text or a case, and what was tried.",
        ('twice-told explain "You forgot the tests"', "twice-told explain --case 470a4b858bf1"),
        (
            arg("text", nargs="?", metavar="TEXT", help="a message; - reads standard input"),
            arg("--lang", metavar="L", help="use this language's rules for every sentence"),
            arg("--case", metavar="ID", help="a stored case, by the beginning of its id"),
        ),
        "explain",
    ),
    Command(
        "classify",
        "Classify messages from standard input, one JSON object a line.",
        (
            """echo '{"id": 1, "text": "You forgot the tests"}' | twice-told classify""",
            "twice-told classify --lang ko < messages.jsonl",
        ),
        (arg("--lang", metavar="L", help="use this language's rules for every sentence"),),
        "classify",
    ),
    Command(
        "mask",
        "Mask secrets and personal data in standard input.",
        (
            "echo 'write to jane@example.com' | twice-told mask",
            "twice-told mask --jsonl < texts.jsonl",
        ),
        (arg("--jsonl", action="store_true", help='lines of {"text"} in and out'),),
        "mask",
    ),
    Command(
        "dismiss",
        "Mark a case as wrong; it is shown no more and never comes back.",
        ("twice-told dismiss 470a4b858bf1", "twice-told dismiss 470a --dry-run"),
        (arg("id", metavar="ID", help="a case, by the beginning of its id"),),
        "rulings",
        "dismiss",
    ),
    Command(
        "retype",
        "Give a case another type.",
        ("twice-told retype 470a4b858bf1 wrong-result", "twice-told retype 470a other --dry-run"),
        (
            arg("id", metavar="ID", help="a case, by the beginning of its id"),
            arg("type", choices=_TYPES, help="the right type"),
        ),
        "rulings",
        "retype",
    ),
    Command(
        "forget",
        "Remove a case for good from store and exports.",
        ("twice-told forget 470a4b858bf1 --yes", "twice-told forget --all --dry-run"),
        (
            arg("id", nargs="?", metavar="ID", help="a case, by the beginning of its id"),
            arg("--all", action="store_true", help="every case"),
        ),
        "rulings",
        "forget",
    ),
    Command(
        "proposals",
        "List what was said again and again, and how accepted rules fare.",
        ("twice-told proposals", "twice-told proposals --all --json"),
        (arg("--all", action="store_true", help="those on hold, rejected and retired too"),),
        "proposals",
    ),
    Command(
        "stats",
        "Figures that add up: cases, weeks, proposals, rules.",
        ("twice-told stats", "twice-told stats --json"),
        (),
        "stats",
    ),
    Command(
        "rules",
        "List, check and measure the rule packs.",
        ("twice-told rules list", "twice-told rules eval labelled.jsonl --false-alarms"),
        (
            arg("action", choices=["list", "check", "table", "eval"], help="what to do"),
            arg(
                "file",
                nargs="?",
                metavar="FILE",
                help="table: a document whose table is made anew; eval: JSON Lines of id, lang,"
                " text, label, and if known author, kind, interrupted, prev_user, prev_assistant,"
                " sure",
            ),
            arg("--misses", action="store_true", help="eval: print corrections not decided"),
            arg("--false-alarms", action="store_true", help="eval: print what was wrongly taken"),
            arg(
                "--by",
                choices=["lang", "author", "without-author"],
                default="lang",
                help="eval: how to group; without-author leaves out each author in turn",
            ),
            arg("--leave-out", metavar="AUTHOR", help="eval: without this author's messages"),
            arg("--lang", metavar="L,L", help="eval: messages in these languages alone"),
            arg("--skip-lang", metavar="L,L", help="eval: without messages in these languages"),
        ),
        "rules",
    ),
    Command(
        "inject",
        "Print what the next night hands to the hook for a folder, and why.",
        ("twice-told inject", "twice-told inject --cwd ~/src/webshop --json"),
        (arg("--cwd", metavar="DIR", help="the folder instead of the present one"),),
        "inject",
    ),
    Command(
        "export",
        "Write all masked cases with their verdicts to a file.",
        ("twice-told export cases.jsonl.gz", "twice-told export cases.jsonl.gz --dry-run"),
        (arg("file", type=Path, metavar="FILE", help="made anew, readable by you alone"),),
        "export",
        "save",
    ),
    Command(
        "restore",
        "Put an export in the place of the store.",
        ("twice-told restore cases.jsonl.gz --yes", "twice-told restore cases.jsonl.gz --dry-run"),
        (
            arg(
                "file", type=Path, metavar="FILE", help="an export, or one of the last seven nights"
            ),
        ),
        "export",
        "restore",
    ),
    Command(
        "install",
        "Install the hook and the nightly schedule; shows what would change, then asks.",
        ("twice-told install --dry-run", "twice-told install hook --project --yes"),
        _PARTS,
        "install",
        "install",
    ),
    Command(
        "uninstall",
        "Remove the hook and the nightly schedule; says what data stays.",
        ("twice-told uninstall --dry-run", "twice-told uninstall schedule --yes"),
        _PARTS,
        "install",
        "uninstall",
    ),
    Command(
        "schedule",
        "Tell which scheduler runs the night and when the next one is.",
        ("twice-told schedule status", "twice-told schedule status --json"),
        (arg("action", choices=["status"], nargs="?", default="status", help="what to do"),),
        "install",
        "status",
    ),
    Command(
        "judge",
        "Measure the two models, or tell what they cost so far and what waiting cases would.",
        ("twice-told judge cost", "twice-told judge eval labelled.jsonl --dry-run"),
        (
            arg("action", choices=["eval", "cost"], help="what to do"),
            arg(
                "file",
                nargs="?",
                metavar="FILE",
                help="eval: labelled messages as for `rules eval`; they are masked, then sent",
            ),
            arg(
                "--every",
                action="store_true",
                help="eval: ask about every message, not only those that the rules leave undecided",
            ),
        ),
        "judge",
    ),
    Command(
        "ledger",
        "Check the ledger of proposals, or print its events.",
        ("twice-told ledger verify", "twice-told ledger log --json"),
        (
            arg("action", choices=["verify", "log"], help="what to do"),
            arg("number", nargs="?", type=count, metavar="N", help="log: only of this proposal"),
        ),
        "ledger",
    ),
    Command(
        "init",
        "Start a team's ledger in a folder of a git repository; nothing is committed.",
        ("twice-told init ledger --dry-run", "twice-told init ledger"),
        (arg("dir", metavar="DIR", help="a folder of the repository; need not exist"),),
        "init",
    ),
    Command(
        "doctor",
        "Check the health of everything; each problem comes with its next step.",
        ("twice-told doctor", "twice-told doctor --json"),
        (),
        "doctor",
    ),
    Command(
        "accept",
        "Make a proposal a rule: drafts a sentence, shows the change, asks, writes.",
        (
            "twice-told accept 1 --dry-run",
            'twice-told accept 1 --text "Run the tests before you call it done." --yes',
        ),
        (
            _NUMBER,
            arg("--text", metavar="T", help="instead of a draft; - reads standard input"),
            arg("--target", metavar="FILE", help="the CLAUDE.md or .claude/rules/*.md to write to"),
            arg(
                "--as",
                dest="form",
                choices=[form.value for form in Form],
                default="rule",
                help="hook, elsewhere: write nothing, only record that this was the answer",
            ),
        ),
        "accept",
    ),
    Command(
        "reject",
        "Drop a proposal; it stays quiet until it has come up as often again.",
        (
            "twice-told reject 1 --reason one-off --dry-run",
            "twice-told reject 1 --reason not-a-rule",
        ),
        (
            _NUMBER,
            arg(
                "--reason",
                choices=[reason.value for reason in Reason],
                required=True,
                help="why it becomes no rule",
            ),
        ),
        "verdicts",
        "reject",
    ),
    Command(
        "retire",
        "Take an accepted rule out of its file again.",
        ("twice-told retire 1 --dry-run", "twice-told retire 1 --yes"),
        (_NUMBER,),
        "verdicts",
        "retire",
    ),
    Command(
        "review",
        "Walk through the open proposals with single keys: look, edit, accept, reject.",
        ("twice-told review", "twice-told review --no-color"),
        (),
        "review",
    ),
)

_LATER = {
    "report": "Write the HTML report.",
}
COMMANDS: Mapping[str, Command] = {command.name: command for command in _ALL} | {
    name: Command(
        name,
        summary + " (not built yet)",
        (),
        (arg("words", nargs="*", help=SUPPRESS),),
    )
    for name, summary in _LATER.items()
}
ORIGINAL_FLAGS = frozenset({"--days", "--since", "--until", "--llm", "--propose", "--rebuild"})
"""Flags of the original command line, which named no command."""
