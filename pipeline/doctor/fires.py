"""Does Claude Code call the hook? The folder's trust, and what the transcripts tell."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.doctor.finding import Finding, ok, quoted, red, warn
from pipeline.doctor.scene import Scene, Stored
from pipeline.doctor.settings import all_lines, files, has_plugin
from pipeline.install import memory
from pipeline.install.settings import top_of

MISSED_MOST = 3
"""One session may have run with `--bare` or in a folder without trust; so many did not all."""


def trusted(scene: Scene) -> Finding:
    """Interactive sessions run no hook before the folder's trust dialog was accepted.

    Kept in `.claude.json`, `projects["<folder>"].hasTrustDialogAccepted`, beside `~/.claude` or in
    the folder that CLAUDE_CONFIG_DIR names; trust in a folder above counts (2.1.332, November
    2026). `claude -p` asks nobody.
    """
    if scene.cwd is None:  # claude-code#65378: the hook's process cannot be made there
        return red("the current folder was deleted; no hook starts in a session here", "cd")
    top = top_of(scene.cwd)
    if top is None:
        return ok("this folder is in no repository")
    folders = [scene.user_home, *scene.config.claude_dirs]
    projects = [_projects(folder / ".claude.json") for folder in dict.fromkeys(folders)]
    for folder in (scene.cwd, *scene.cwd.parents):
        for known in projects:
            state = known.get(str(folder))
            if isinstance(state, dict) and state.get("hasTrustDialogAccepted") is True:
                return ok(f"{folder} is trusted")
    return warn(
        f"{top}: the hook waits for trust", f"cd {quoted(top)} && claude  # and accept the dialog"
    )


def _projects(path: Path) -> dict[str, Any]:
    """The folders that a client has seen; none when its file is missing or in another form."""
    try:
        found = json.loads(path.read_bytes())["projects"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def fired(scene: Scene) -> Finding:
    """Sessions since the install that had something to be shown, and none was shown anything."""
    names = [one.path for one in all_lines(scene)]
    everywhere = has_plugin(scene) or any(path in files(scene)[0] for path in names)
    if not names and not everywhere:
        return ok("not installed")
    if not isinstance(scene.stored, Stored):
        return ok("no store to tell from")
    since = _installed_at(scene.config.local_cases, names)
    shown = [at for at in scene.stored.shown if at > since]
    # A hook of this repository alone answers for the sessions here alone.
    sessions = scene.stored.due if everywhere else scene.stored.due_here
    due = [at for at in sessions if at > since]
    if shown:
        return ok(f"last seen {shown[-1]:%Y-%m-%d %H:%M} UTC")
    if not due:
        return ok("not seen yet; no session had anything to be shown")
    detail = f"never seen, although sessions since the install had something to show: {len(due)}"
    next_ = "claude --debug-file hook.log  # says each hook's call and its exit code"
    return red(detail, next_) if len(due) >= MISSED_MOST else warn(detail, next_)


def _installed_at(local_cases: Path, settings: list[Path]) -> datetime:
    """When the last install wrote its memory; else when the settings were last written; for a
    plugin, which leaves no such trace, the beginning of time."""
    memories = [memory.file(local_cases, path) for path in settings]
    for paths in ([path for path in memories if path.exists()], settings):
        if times := [path.stat().st_mtime for path in paths]:
            return datetime.fromtimestamp(max(times), UTC)
    return datetime.min.replace(tzinfo=UTC)
