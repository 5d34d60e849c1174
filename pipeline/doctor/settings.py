"""The settings files that a session here reads, and our lines in them."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.doctor.finding import edit
from pipeline.doctor.scene import Scene
from pipeline.documents import SIZE_MAX
from pipeline.errors import PipelineError, SourceError
from pipeline.install import entries
from pipeline.install.jsontext import Node
from pipeline.install.line import MARKER
from pipeline.install.settings import top_of
from pipeline.install.wiring import PLUGIN

AGAIN = "twice-told install hook"
_PATHS = re.compile(r'\$\("((?:\\.|[^"\\])*)" -I -S "((?:\\.|[^"\\])*)" "((?:\\.|[^"\\])*)"\)')


@dataclass(frozen=True, slots=True)
class Line:
    """One of our lines, taken apart."""

    path: Path
    """The settings file."""
    number: int
    """Of the line in it, from 1."""
    text: str

    @property
    def paths(self) -> tuple[str, str, str] | None:
        """Interpreter, script, home; None for a line that nobody of us wrote."""
        found = _PATHS.search(self.text)
        if found is None:
            return None
        python, script, home = (re.sub(r"\\(.)", r"\1", part) for part in found.groups())
        return python, script, home


def settings_of(path: Path) -> Node | None:
    """The content of a settings file, None when there is none. Raises PipelineError."""
    text = _text(path)
    return None if text is None else entries.read(text, str(path))


def _text(path: Path) -> str | None:
    """Other than for an install, a file that may not be written is fine here."""
    try:
        with path.open("rb") as file:
            return file.read(SIZE_MAX + 1).decode()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}", f"ls -l {path}") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is not UTF-8", edit(path, "save it as UTF-8")) from error


def files(scene: Scene) -> tuple[list[Path], list[Path]]:
    """The user's settings files, and the two of the repository here, the stronger one last."""
    top = top_of(scene.cwd) if scene.cwd else None
    names = ("settings.json", "settings.local.json") if top else ()
    return (
        [folder / "settings.json" for folder in scene.config.claude_dirs],
        [top / ".claude" / name for name in names] if top else [],
    )


def lines(path: Path) -> list[Line]:
    """Our lines in a file. Raises PipelineError."""
    text = _text(path)
    found = []
    for place in entries.places(entries.read(text, str(path))) if text is not None else ():
        handler = place.value["hooks"][place.handler]
        number = text.count("\n", 0, place.start) + 1 if text else 1
        found.append(Line(path, number, handler["command"]))
    return found


def all_lines(scene: Scene) -> Iterator[Line]:
    """Of all files; those that cannot be read are another check's matter."""
    for path in itertools.chain(*files(scene)):
        try:
            yield from lines(path)
        except PipelineError:
            continue


def mending(scene: Scene, path: Path) -> str:
    """What puts our lines in a file right. One that comes with the repository no command of ours
    touches: there they are taken out by hand."""
    user, here = files(scene)
    if path in user:
        return AGAIN
    if path in here[1:]:
        return f"{AGAIN} --project"
    numbers = " and ".join(str(one.number) for one in lines(path))
    return edit(path, f"take the entries with '{MARKER}' out: line {numbers}")


def has_plugin(scene: Scene) -> bool:
    """The plugin, with a hook of its own, is switched on in one of the files."""
    for path in itertools.chain(*files(scene)):
        try:
            root = settings_of(path)
        except PipelineError:
            continue
        enabled = root.value.get("enabledPlugins") if root else None
        if isinstance(enabled, dict) and any(
            on is True and name.startswith(PLUGIN) for name, on in enabled.items()
        ):
            return True
    return False
