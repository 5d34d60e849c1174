"""Rules are found by their keywords in any script: long, short, beyond the BMP, half a letter."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pipeline import resources
from pipeline.classify import packs
from pipeline.classify.rule import Pack

RULE = next(packs.rules(packs.load([resources.folder("rules")])))[2]
LETTERS = "ab é改가𝒳\ud800"


@given(
    st.lists(st.lists(st.text(LETTERS, min_size=1, max_size=7), min_size=1), max_size=20),
    st.text(LETTERS, max_size=40),
)
def test_a_rule_is_tried_exactly_when_one_of_its_keywords_occurs(
    keywords: list[list[str]], text: str
) -> None:
    pack = Pack(rules=tuple(replace(RULE, keywords=tuple(words)) for words in keywords))
    named = [at for at, words in enumerate(keywords) if any(word in text for word in words)]
    assert pack.places(text) == named
