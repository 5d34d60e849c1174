"""Runs a decision once for each place at which it can be killed; run as a process of its own.

Words: stride, the repository, then the command. Each time a copy of home and repository is made, a
child runs the command and kills itself; another one runs it again unharmed. Told is what stood in
the file in between and at the end, what else lay beside it, and what the ledger says.
"""

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import pipeline.cli as cli
from pipeline.ledger.book import NAME, read
from pipeline.ledger.fold import fold
from pipeline.masking.masker import mask
from tests.cases.failpoints import arm, child


def lying(repo: Path) -> dict[str, str]:
    return {
        str(path.relative_to(repo)): path.read_bytes().hex()
        for path in sorted(repo.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(repo).parts
    }


def main() -> None:
    stride, repo, words = int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    home = Path(os.environ["TWICE_TOLD_HOME"])
    kept = {folder: folder.with_name(f"{folder.name}-kept") for folder in (home, repo)}
    for folder, copy in kept.items():
        shutil.copytree(folder, copy, symlinks=True)
    mask("warm")
    report: dict[str, Any] = {"killed": 0, "unharmed": False}
    between, ends = set(), set()
    for target in range(1, 2000, stride):
        os.chdir("/")
        for folder, copy in kept.items():
            shutil.rmtree(folder)
            shutil.copytree(copy, folder, symlinks=True)
        os.chdir(repo)

        def armed(number: int = target) -> int:
            arm(number)
            return cli.main(words)

        code = child(armed)
        between.add(json.dumps({n: d for n, d in lying(repo).items() if "twice-told-" not in n}))
        again = child(lambda: cli.main(words))
        (proposal,) = fold(read(home / "ledger" / NAME).events)
        ends.add(json.dumps([again if code else 0, proposal.state, lying(repo)]))
        if code != -signal.SIGKILL:
            report["unharmed"] = code == 0
            break
        report["killed"] += 1
    report |= {"between": [json.loads(b) for b in between], "ends": [json.loads(e) for e in ends]}
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
