"""Where else the hook is wired, and what keeps it from running: said, never changed."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from pipeline import documents
from pipeline.errors import PipelineError
from pipeline.install import entries
from pipeline.install.jsontext import Node
from pipeline.install.settings import top_of

PLUGIN = "twice-told@"
"""How the keys of `enabledPlugins` begin for our plugin, of whatever marketplace (docs of August
2026: `"<plugin>@<marketplace>": true`)."""


def notes(claude_dirs: Iterable[Path], cwd: Path, project: bool, stays: bool) -> Iterator[str]:
    """What a person should know about the settings around the ones that are written.

    One session reads the user's settings, the repository's two files and the plugins; a hook in
    two of them is called twice and still shows once. `stays`: an install, not an uninstall.
    """
    user = [folder / "settings.json" for folder in claude_dirs]
    top = top_of(cwd)
    shared = [top / ".claude" / "settings.json"] if top else []
    local = [top / ".claude" / "settings.local.json"] if top else []
    own, others = (local, user + shared) if project else (user, shared + local)
    twice = "; a session here calls it twice and shows it once" if stays else ""
    for path in dict.fromkeys((*user, *shared, *local)):
        root = _parsed(path)
        if root is None:
            continue
        if path in others and path not in own and any(entries.places(root)):
            yield f"the hook stands in {path} too{twice}"
        if _has_plugin(root):
            yield f"the plugin, with a hook of its own, is enabled in {path}{twice}"
        if stays and root.value.get("disableAllHooks") is True:
            yield f"{path} switches all hooks off (disableAllHooks)"


def _parsed(path: Path) -> Node | None:
    try:
        document = documents.read(path)
        return entries.read(document.text, str(path)) if document.data else None
    except PipelineError:
        return None


def _has_plugin(root: Node) -> bool:
    enabled = root.value.get("enabledPlugins")
    return isinstance(enabled, dict) and any(
        on is True and name.startswith(PLUGIN) for name, on in enabled.items()
    )
