"""The main job for a newcomer (`make run`): collect and show, on the own logs or on a sample."""

import sys
import tempfile
from pathlib import Path

from pipeline import config
from pipeline.cli import main as command
from pipeline.transcripts.discover import discover

SAMPLE = Path(__file__).resolve().parent / "sample"


def main() -> int:
    """Collects and shows; a machine without logs is shown a made-up sample in a temporary home."""
    settings = config.load()
    if discover(settings.claude_dirs).files:
        return _all(["collect"], ["show"])
    places = " or ".join(str(folder / "projects") for folder in settings.claude_dirs)
    sys.stdout.write(
        f"No transcripts of Claude Code in {places}.\n"
        "This is what Twice Told makes of a made-up sample of three sessions:\n\n"
    )
    sys.stdout.flush()
    with tempfile.TemporaryDirectory(prefix="twice-told-") as folder:
        where = ["--home", folder, "--claude-dir", str(SAMPLE)]
        collect = ["collect", "--propose", *where]
        return _all(collect, ["show", *where], ["show", "webshop", *where])


def _all(*commands: list[str]) -> int:
    """One after the other with a blank line between; the first that fails ends it."""
    for number, words in enumerate(commands):
        if number:
            sys.stdout.write("\n")
            sys.stdout.flush()
        if code := command(words):
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
