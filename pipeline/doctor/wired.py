"""Is the hook wired as `install` wires it, once, and with a script and a Python that are there?"""

import hashlib
import os
import subprocess
from pathlib import Path

from pipeline.doctor import pyc
from pipeline.doctor.finding import Finding, edit, ok, quoted, red, warn
from pipeline.doctor.scene import Scene
from pipeline.doctor.settings import (
    AGAIN,
    all_lines,
    files,
    has_plugin,
    lines,
    mending,
    settings_of,
)
from pipeline.errors import PipelineError
from pipeline.install import entries, line

PARTS = ("run_hook.py", "hook.py")
"""What a prompt runs: the script of the line, and what that one loads from beside it."""
HOOK_SHA256 = "2562c13fe08c221a214a13b8735aed37c7fb44692b9a3412919cb45e2948bf73"
"""`digest` of the parts as they are shipped. A test says when a change of them must come here too;
somebody who changes only the installed files does not get past it (T50)."""
REINSTALL = "twice-told --version  # install it again"


def installed(scene: Scene) -> Finding:
    """Exactly the entries that `install` writes, in each file that has any."""
    user, local = files(scene)
    command = line.guarded(line.interpreter(), str(line.HOOK), str(scene.config.home))
    where = []
    for path in (*user, *local):
        try:
            root = settings_of(path)
        except PipelineError as error:
            return red(error.message, edit(path, "mend it"))
        if root is None or not any(entries.places(root)):
            continue
        if not entries.is_installed(root, command):
            return red(f"{path}: {_difference(path, scene)}", mending(scene, path))
        where.append(path)
    missing = [path for path in user if path not in where]
    if not where and has_plugin(scene):
        return ok("by the plugin")
    if missing and not any(path in local for path in where):
        return red(f"not in {missing[0]}", AGAIN)
    return ok(f"in {', '.join(map(str, where))}")


def _difference(path: Path, scene: Scene) -> str:
    """In which part the entries are not as expected."""
    for one in lines(path):
        paths = one.paths
        if paths is None or line.guarded(*paths) != one.text:
            return "the line was changed"
        if paths[2] != str(scene.config.home):
            return f"the line is for another home, {paths[2]}"
        if paths[1] != str(line.HOOK):
            return f"the line starts another script, {paths[1]}"
        if paths[0] != line.interpreter():
            return f"the line names another interpreter, {paths[0]}"
    return "the entries around the line were changed"


def digest(folder: Path) -> str:
    """SHA-256 over the parts in a folder, one behind the other. Raises OSError."""
    return hashlib.sha256(b"".join((folder / name).read_bytes() for name in PARTS)).hexdigest()


def script(scene: Scene) -> Finding:
    """The parts beside each script that a line names, and beside this program, are as shipped."""
    ours = line.HOOK.parent
    named = {Path(one.paths[1]).parent: one.path for one in all_lines(scene) if one.paths}
    for folder in sorted({*named, ours}):
        again = REINSTALL if folder == ours else mending(scene, named[folder])
        try:
            found = digest(folder)
        except OSError as error:
            return red(f"{error.filename} cannot be read: {error.strerror}", again)
        if found != HOOK_SHA256:
            expected = f"SHA-256 {found[:12]}, not {HOOK_SHA256[:12]}"
            return red(f"the hook in {folder} is not as shipped ({expected})", again)
    if not _is_compiled_as_shipped(ours):
        compiled = f"{quoted(ours / '__pycache__')}/hook.*.pyc"
        return red(f"the compiled hook in {ours} is not that of its source", f"rm {compiled}")
    return ok(f"as shipped ({HOOK_SHA256[:12]})")


def _is_compiled_as_shipped(folder: Path) -> bool:
    """A prompt runs the compiled file. Asked of our own interpreter about our own folder: what a
    repository's settings name is neither run nor loaded (T41)."""
    words = (line.interpreter(), "-I", "-S", pyc.__file__, str(folder))
    done = subprocess.run(words, capture_output=True, check=False)
    return done.returncode == 0


def interpreter(scene: Scene) -> Finding:
    """The Python that a line names is still there."""
    named = {one.paths[0]: one.path for one in all_lines(scene) if one.paths}
    for path in sorted(named):
        if not (os.path.isfile(path) and os.access(path, os.X_OK)):  # noqa: PTH113
            return red(f"{path} is gone, so the hook stays silent", mending(scene, named[path]))
    return ok(", ".join(sorted(named)) or "no line names one")


def once(scene: Scene) -> Finding:
    """A session here meets one copy. Two are called both; the marker lets one show (hooks.md 6)."""
    user, local = files(scene)
    found = {one.path for one in all_lines(scene)}
    here = [str(path) for path in local if path in found]
    general = [str(path) for path in user if path in found]
    # One session reads one Claude folder, so that entries in several of them are no copies.
    copies = [*general[:1], *here, *(["the plugin"] if has_plugin(scene) else [])]
    if len(copies) < 2:
        return ok("wired once" if copies else "not wired")
    if shared := [path for path in local[:1] if path in found]:
        next_ = mending(scene, shared[0])
    else:
        next_ = f"twice-told uninstall hook{' --project' if here else ''}"
    return warn(f"wired twice: {', '.join(copies)}", next_)


def switched_on(scene: Scene) -> Finding:
    """`disableAllHooks`: the repository's word counts more than the user's (2.1.332)."""
    user, local = files(scene)
    for path in (*reversed(local), *user):
        try:
            root = settings_of(path)
        except PipelineError:
            continue
        value = root.value.get("disableAllHooks") if root else None
        if value is True:
            return red(f"{path} switches all hooks off", edit(path, "remove disableAllHooks"))
        if value is False and path in local:
            break
    return ok("hooks are not switched off")
