"""What the rules cost: loading every pack, and judging one message."""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

from pipeline import resources
from pipeline.classify import engine, packs
from pipeline.classify.rule import Packs
from pipeline.records import Message

TIMES = 3
LOAD = """
import time
from pipeline import resources
from pipeline.classify import packs
begun = time.process_time()
packs.load([resources.folder("rules")])
print(time.process_time() - begun)
"""


def judging() -> tuple[float, int]:
    """Median seconds of a message, the best of three tries each, over the packs' own samples and
    harmless sentences; and how many those are."""
    loaded = packs.load([resources.folder("rules")])
    texts = sorted(set(_texts(loaded)))
    taken = [min(_seconds(loaded, text) for _ in range(TIMES)) for text in texts]
    return statistics.median(taken), len(texts)


def _texts(loaded: Packs) -> Iterator[str]:
    for pack in loaded.by_key.values():
        yield from pack.harmless
        for rule in pack.rules:
            yield from (sample.text for sample in (*rule.match, *rule.reject))


def _seconds(loaded: Packs, text: str) -> float:
    message = Message(text)
    begun = time.perf_counter()
    engine.classify(loaded, message)
    return time.perf_counter() - begun


def loading() -> float:
    """Seconds of CPU in a new process, the best of seven."""
    words = [sys.executable, "-c", LOAD]
    return min(
        float(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
        for _ in range(7)
    )
