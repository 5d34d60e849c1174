"""Whether a correction names its object itself."""

import pytest

from pipeline.classify import engine, objects
from pipeline.classify.rule import Packs
from pipeline.records import Message


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("No, not that.", False),
        ("wrong again", False),
        ("that makes no sense", False),
        ("You missed the null check", True),
        ("No, it's `foo`.", True),
        ("아니 그게 아니야", False),
        ("틀렸어", False),
        ("로그인 테스트가 빠졌어", True),
        ("それは違います", False),
        ("計算が間違っています", True),
        ("错了", False),
        ("金额不对", True),
    ],
)
def test_is_named(shipped: Packs, text: str, named: bool) -> None:
    message = Message(text)
    found = engine.classify(shipped, message)
    assert found is not None
    assert objects.is_named(shipped, message, found) == named
