"""Shows the recent corrections of a repository at a session's first prompt. Builtins only.

Claude Code calls it at every prompt, behind a guard that turns every fault into silence:
    python -I -S run_hook.py HOME < event.json
It reads one small file that the night has rendered, never the store, git, a model or the network.
Whatever goes wrong, it prints nothing: a prompt is worth more than a reminder.
"""

import _signal  # type: ignore[import-not-found]
import posix
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes longer to load than all of this to run
    from collections.abc import Iterator

DEADLINE_SECONDS = 0.3
KEPT_BYTES, FILE_MAX_BYTES, UNITS_MAX = 1 << 20, 1 << 18, 9500
OLD_SECONDS = 48 * 3600
MOST = {b"h": 4, b"n": 2}
FIRST = (
    b"Twice Told: recent corrections in this repository, last 30 days, said by the user or noticed"
    b" in review.\\nThe original of each is shown by: twice-told explain --case <id>."
    b" Check it before citing one as evidence."
)
LAST = b"End of Twice Told corrections."
NOT_TYPED = (
    b"<command-", b"<bash-", b"<local-command-", b"<task-notification>", b"<teammate-message",
    b"Another Claude session sent a message:", b"<cross-session-message", b"<channel",
    b"<scheduled-task", b"<system-reminder>", b"Stop hook feedback:",
    b"This session is being continued from a previous conversation",
)  # fmt: skip


def main(home: bytes) -> None:
    """Prints one JSON object, or nothing."""
    data = read(0, KEPT_BYTES)
    session = field(data, b"session_id")
    marker = home + b"/local_cases/seen/" + sha256(session)
    kind = field(data, b"hook_event_name")
    if kind == b"SessionStart":
        if field(data, b"source") == b"fork":  # the copied history holds what was shown
            mark(marker)
        return
    if kind != b"UserPromptSubmit" or exists(marker) or b'"agent_id":' in data[:4096]:
        return
    if field(data, b"prompt", 200).lstrip().startswith(NOT_TYPED):
        return
    text = message(home, field(data, b"cwd"))
    if text:
        mark(marker)
        out = b'{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"'
        out += text + b'"}}'
        while out:
            out = out[posix.write(1, out) :]


def read(descriptor: int, most: int) -> bytes:
    """Up to `most` bytes. What comes behind is read and dropped, so that no writer breaks."""
    parts, size = [], 0
    while chunk := posix.read(descriptor, 1 << 16):
        if size < most:
            parts.append(chunk)
            size += len(chunk)
    return b"".join(parts)


def field(data: bytes, name: bytes, most: int = 4096) -> bytes:
    """A string of the event. Inside strings quotes are escaped, so the key is found by its own."""
    at = data.index(b'"' + name + b'":') + len(name) + 3
    start = data.index(b'"', at) + 1
    if data[at : start - 1].strip():
        raise ValueError
    end = escape = start
    while data[end : end + 1] != b'"' and end - start < most:
        if data[end : end + 1] == b"\\":
            escape, end = end, end + 2
        else:
            end += 1
    if data[end : end + 1] != b'"' and end - escape < 6:  # cut, perhaps within an escape
        end = escape
    value = data[start:end]
    if b"\\" in value:
        import json  # rare, and slow to load

        value = json.loads(b'"' + value + b'"').encode("utf-8", "surrogatepass")
    return value


def sha256(data: bytes) -> bytes:
    """As hex digits, from the builtin: hashlib takes longer to load than all of this to run."""
    try:
        from _sha256 import sha256 as new  # type: ignore[import-not-found]
    except ImportError:  # it has another name from Python 3.12 on
        from hashlib import sha256 as new
    return bytes(new(data).hexdigest(), "ascii")


def exists(path: bytes) -> bool:
    try:
        posix.stat(path)
    except FileNotFoundError:
        return False
    return True


def mark(path: bytes) -> None:
    """Fails when the session was shown corrections already, whoever did it."""
    posix.open(path, posix.O_CREAT | posix.O_EXCL | posix.O_WRONLY, 0o600)


def message(home: bytes, cwd: bytes) -> bytes:
    """What is shown in a folder, escaped for JSON; nothing when no file of the night is for it."""
    for tree in trees(cwd):
        name = sha256(tree)
        try:
            data = read_file(home + b"/local_cases/snapshots/" + name + b".json")
        except FileNotFoundError:
            continue
        digest, _, rest = data.partition(b"\n")
        header, *items = rest.splitlines()
        if digest != b'{"digest":"' + sha256(rest) + b'"}':
            return b""
        if not header.startswith(b'{"schema":1,"tree":"' + name + b'"'):
            return b""
        return chosen(items, int(part(header, b'"rendered_at":', b",")))
    return b""


def chosen(items: list[bytes], rendered_at: int) -> bytes:
    """The newest that are not too old, whole ones only, within the frame."""
    now, left, used, lines = time.time(), dict(MOST), 700, []
    for item in items:
        kind, units = part(item, b'"kind":"', b'"'), int(part(item, b'"units":', b","))
        if now < int(part(item, b'"until":', b",")) and left[kind] and used + units < UNITS_MAX:
            left[kind] -= 1
            used += units + 1
            lines.append(item[item.index(b'"text":"') + 8 : -2])
    if not lines:
        return b""
    if now - rendered_at > OLD_SECONDS:
        days = int((now - rendered_at) // 86400)
        lines.append(b"The last nightly run was %d days ago; newer ones are not here." % days)
    return b"\\n".join([FIRST, *lines, LAST])


def part(line: bytes, before: bytes, after: bytes) -> bytes:
    start = line.index(before) + len(before)
    return line[start : line.index(after, start)]


def trees(cwd: bytes) -> "Iterator[bytes]":
    """The working tree around a folder, or the folder itself where there is none.

    A linked worktree that the night does not know stands for its main one, if each names the other.
    """
    here = top = real(cwd)
    while True:
        try:
            linked = posix.lstat(top + b"/.git").st_mode & 0o170000 == 0o100000
            break
        except OSError:
            if not top:
                yield here
                return
            top = top.rpartition(b"/")[0]
    yield top or b"/"
    if linked:
        folder = read_file(top + b"/.git").strip().removeprefix(b"gitdir: ")
        main, between, name = folder.rpartition(b"/.git/worktrees/")
        if not between or b"/" in name or name in (b"", b".", b".."):
            return
        back = read_file(folder + b"/gitdir").strip()
        if real(back.rpartition(b"/")[0]) == top:
            yield real(main or b"/")


def read_file(path: bytes) -> bytes:
    """A small regular file, else an error."""
    flags = posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_NONBLOCK | posix.O_CLOEXEC
    descriptor = posix.open(path, flags)
    found = posix.fstat(descriptor)
    if found.st_mode & 0o170000 != 0o100000 or found.st_size > FILE_MAX_BYTES:
        raise ValueError
    data = read(descriptor, FILE_MAX_BYTES)
    posix.close(descriptor)
    return data


def real(path: bytes) -> bytes:
    """An existing folder without any link in its path: the system tells."""
    if path[:1] != b"/":
        raise ValueError
    posix.chdir(path)
    return posix.getcwdb()


def start() -> None:
    """What `run_hook.py` calls: home in the first argument, the event on standard input."""
    _signal.setitimer(_signal.ITIMER_REAL, DEADLINE_SECONDS)
    try:
        main(sys.argv[1].encode("utf-8", "surrogateescape"))
    except BaseException:  # silence is the contract
        posix._exit(1)
