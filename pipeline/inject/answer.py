"""What the hook itself makes of a folder: asked for, not worked out a second time.

In a process of its own, as at a prompt: the hook changes its current folder, and a fault in it is
silence. It is asked past its deadline and its markers, so that nothing is written.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

HOOK_FOLDER = Path(__file__).resolve().parent.parent
LIMIT_SECONDS = 10.0
_ASK = """
import sys
sys.path.insert(0, sys.argv[1])
import hook
folder, home = (word.encode("utf-8", "surrogateescape") for word in sys.argv[3:])
if sys.argv[2] == "trees":
    for tree in hook.trees(folder):
        print(hook.sha256(tree).decode(), flush=True)
else:
    print(hook.message(home, folder).decode("ascii"))
"""


def tree_keys(cwd: Path) -> list[str]:
    """Keys of the working trees whose files the hook takes in a folder, the best one first."""
    return _asked("trees", cwd, Path()).split()


def text(cwd: Path, home: Path) -> str:
    """What a session that begins in a folder is shown, "" for nothing."""
    return str(json.loads(f'"{_asked("text", cwd, home).rstrip()}"'))


def _asked(what: str, cwd: Path, home: Path) -> str:
    words = (str(HOOK_FOLDER), what, os.fspath(cwd), os.fspath(home))
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _ASK, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    return done.stdout.decode("ascii")
