"""Our entries in the text of a settings file: found, put in, taken out; nothing else is touched.

The client's format (docs of August 2026, seen with 2.1.197 and 2.1.332): `hooks` maps an event to
an array of groups, a group is `{"matcher"?, "hooks": [handler]}`. The same handler in two files
runs once; a plugin's copy runs beside it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pipeline.errors import ConfigError
from pipeline.install.edit import Edit, Style, append, cut, refill
from pipeline.install.jsontext import JsonFault, Node, parse
from pipeline.install.line import is_ours

TIMEOUT_SECONDS = 5
"""Above the hook's own deadline of 300 ms; a prompt waits so long at the very most."""
MATCHERS = {"UserPromptSubmit": None, "SessionStart": "fork"}
"""The events we hear, and of which sources. A forked session holds what was shown before, and the
hook acts on no other source. Before 2.1.214 a fork called itself `resume` and gave the old session
id: nothing to act on there, so no other source is asked for."""
ROOT = ""
HOOKS = "hooks"


@dataclass(frozen=True, slots=True)
class Place:
    """One handler of ours."""

    event: str
    group: int
    handler: int
    value: Any
    """The whole group."""
    start: int
    """Of the handler, in characters of the text."""


@dataclass(slots=True)
class Edited:
    """A text on its way, with the steps that led there."""

    text: str
    steps: list[tuple[str, Edit]] = field(default_factory=list)
    """The text before each edit, and the edit."""
    hollows: dict[str, str] = field(default_factory=dict)
    """Inner space of the containers that were empty before we came, by their path."""

    def step(self, edit: Edit) -> None:
        """Goes one edit further."""
        self.steps.append((self.text, edit))
        self.text = edit.applied(self.text)


def read(text: str, name: str) -> Node:
    """The settings, an object. `name` is said in errors. Raises ConfigError with the place."""
    try:
        root = parse(text)
    except JsonFault as error:
        raise ConfigError(
            f"{name} is no valid JSON: {error}",
            "mend the file (Claude Code ignores all of it as it is); it was not touched",
        ) from error
    if not isinstance(root.value, dict):
        raise ConfigError(f"{name} does not hold an object", "it was not touched; mend it")
    return root


def wanted(event: str, command: str) -> dict[str, Any]:
    """The group of an event as we write it."""
    matcher = MATCHERS[event]
    handler = {"type": "command", "command": command, "timeout": TIMEOUT_SECONDS}
    return ({} if matcher is None else {"matcher": matcher}) | {"hooks": [handler]}


def places(root: Node) -> Iterator[Place]:
    """Every handler of ours under any event, in the order of the text. Odd shapes are passed by."""
    hooks = root.member(HOOKS)
    for event in hooks.node.members if hooks else ():
        for at, group in enumerate(event.node.items):
            handlers = group.member("hooks")
            for number, handler in enumerate(handlers.node.items if handlers else ()):
                command = handler.member("command")
                if command and is_ours(command.node.value):
                    yield Place(event.name, at, number, group.value, handler.start)


def is_installed(root: Node, command: str) -> bool:
    """Exactly the entries that this version writes, each once, and no other of ours."""
    found = [(place.event, place.value) for place in places(root)]
    return len(found) == len(MATCHERS) and all(
        (event, wanted(event, command)) in found for event in MATCHERS
    )


def install(text: str, command: str, hollows: dict[str, str], name: str) -> Edited:
    """Our entries in a text: as they are, or taken out and put in anew.

    `hollows` is what the last install remembered. Raises ConfigError when there is no place.
    """
    if is_installed(read(text, name), command):
        return Edited(text, hollows=hollows)
    edited = remove(text, hollows, name)
    edited.hollows = {}
    for event in MATCHERS:
        root = read(edited.text, name)
        _insert(edited, root, event, wanted(event, command), name)
    return edited


def remove(text: str, hollows: dict[str, str], name: str) -> Edited:
    """A text without our entries, nor the containers that only we needed."""
    edited = Edited(text)
    while place := next(places(root := read(edited.text, name)), None):
        edited.step(_removal(root, place, hollows))
    return edited


def _insert(edited: Edited, root: Node, event: str, group: dict[str, Any], name: str) -> None:
    style = Style.of(edited.text, root)
    path, into = ROOT, root
    for key, shape in ((HOOKS, dict), (event, list)):
        member = into.member(key)
        if member is None:
            value = {event: [group]} if key == HOOKS else [group]
            edit, inner = append(edited.text, into, style, key, value)
            break
        if not isinstance(member.node.value, shape):
            raise ConfigError(
                f"{name}: the value of {key} is not what Claude Code expects there",
                "mend it; the file was not touched",
            )
        path, into = f"{path}/{key}", member.node
    else:
        edit, inner = append(edited.text, into, style, None, group)
    if not into.spans:
        edited.hollows[path] = inner
    edited.step(edit)


def _removal(root: Node, place: Place, hollows: dict[str, str]) -> Edit:
    """The widest thing that holds only ours goes, up to a container that was there before."""
    hooks = root.member(HOOKS)
    event = hooks.node.member(place.event) if hooks else None
    handlers = event.node.items[place.group].member("hooks") if event else None
    if hooks is None or event is None or handlers is None:
        raise AssertionError("a place is read off the same text")
    if len(handlers.node.items) > 1:
        return cut(handlers.node, place.handler)
    levels = (
        (f"/{HOOKS}/{place.event}", event.node, place.group),
        (f"/{HOOKS}", hooks.node, hooks.node.members.index(event)),
        (ROOT, root, root.members.index(hooks)),
    )
    for path, container, at in levels:
        if len(container.spans) > 1:
            return cut(container, at)
        if path in hollows:
            return refill(container, hollows[path])
    return refill(root, "")
