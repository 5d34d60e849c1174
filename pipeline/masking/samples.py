"""Runs the samples of every detector through the real engine.

A sample is text in which `{{alnum36}}` stands for 36 generated characters (alnum, hex, digit,
upper) and `{{=x}}` for x itself. So no file of ours holds anything that looks like a secret.
"""

import random
import string
from collections.abc import Iterable, Iterator
from pathlib import Path

import regex

from pipeline.masking import masker, packs
from pipeline.masking.detectors import Detector

_ALPHABETS = {
    "alnum": string.ascii_letters + string.digits,
    "hex": "0123456789abcdef",
    "digit": string.digits,
    "upper": string.ascii_uppercase + "234567",
}
_SLOT = regex.compile(r"\{\{(?:=(?P<same>.*?)|(?P<kind>alnum|hex|digit|upper)(?P<length>\d+))\}\}")


def expand(sample: str, seed: int = 0) -> str:
    """The text that a sample stands for; the same seed gives the same text.

    A value of eight characters or more always has a capital, a small letter and three digits if
    its alphabet has them, as nearly all real ones do.
    """
    source = random.Random(f"{seed}:{sample}")
    return _SLOT.sub(lambda slot: slot["same"] or _value(slot, source), sample)


def _value(slot: "regex.Match[str]", source: random.Random) -> str:
    alphabet, length = _ALPHABETS[slot["kind"]], int(slot["length"])
    while True:
        value = "".join(source.choices(alphabet, k=length))
        if length < 8 or slot["kind"] != "alnum" or _is_typical(value):
            return value


def _is_typical(value: str) -> bool:
    digits = sum(c.isdigit() for c in value)
    return digits >= min(3, len(value) // 4) and not (value.islower() or value.isupper())


def check(folder: Path | None = None) -> tuple[str, ...]:
    """What is wrong with the detectors that ship, or with those of a folder; () when nothing is.

    Each complaint names the detector and the place of the sample. Raises RuleError for files that
    do not load.
    """
    table = packs.table() if folder is None else packs.load(folder)
    return tuple(complaint for row in table.rows for complaint in _complaints(row))


def _complaints(row: Detector) -> Iterator[str]:
    try:
        row.compiled()
    except regex.error as error:
        yield f"{row.id}: the pattern does not compile: {error}"
        return
    if any(keyword != keyword.lower() or not keyword for keyword in row.keywords):
        yield f"{row.id}: keywords must be lower case and not empty"
    for name, samples in (("match", row.match), ("reject", row.reject)):
        if not samples:
            yield f"{row.id}: no {name} sample"
        yield from _failures(row, name, samples)


def _failures(row: Detector, name: str, samples: Iterable[str]) -> Iterator[str]:
    for number, sample in enumerate(samples, 1):
        text = expand(sample)
        where = f"{row.id}: {name} {number}"
        if not any(keyword in text.lower() for keyword in row.keywords):
            yield f"{where} does not pass the keywords, so it tests nothing"
        elif masker.fires(row, text) != (name == "match"):
            yield f"{where} {'does not fire' if name == 'match' else 'fires'}"
