"""Whether a correction names its object itself."""

import pytest

from pipeline.classify import engine, objects
from pipeline.classify.rule import Packs
from pipeline.records import Message, Source


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


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("You're right, sorry. I missed that.", False),
        ("You're right, I missed the second parser.", True),
        ("죄송합니다. 제가 놓쳤습니다.", False),
        ("로그인 테스트를 제가 놓쳤습니다. 죄송합니다.", True),
        ("申し訳ありません、見落としていました。", False),
        ("抱歉，我漏掉了。", False),
        ("抱歉，我漏掉了第二处调用。", True),
    ],
)
def test_an_apology_alone_names_nothing(shipped: Packs, text: str, named: bool) -> None:
    message = Message(text, source=Source.SELF)
    found = engine.classify(shipped, message)
    assert found is not None
    assert objects.is_named(shipped, message, found) == named
