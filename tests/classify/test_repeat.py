"""What counts as saying the same again."""

import pytest

from pipeline.classify.repeat import repeats

DEMAND = "Put the totals into the footer, not into the header."


@pytest.mark.parametrize(
    ("text", "before", "again"),
    [
        pytest.param(DEMAND, DEMAND, True, id="word-for-word"),
        pytest.param("put the totals INTO THE FOOTER", DEMAND, True, id="a-part-of-it"),
        pytest.param("as I said: totals into the footer", DEMAND, True, id="mostly"),
        pytest.param("Now add a page for the invoices.", DEMAND, False, id="another-thing"),
        pytest.param("합계는 아래쪽에 넣어", "합계는 아래쪽에 넣어 줘", True, id="korean"),
        pytest.param("把總計放到頁尾那一行", "請把總計放到頁尾那一行裡", True, id="chinese"),
        pytest.param("yes", "yes", False, id="too-short"),
        pytest.param("", DEMAND, False, id="nothing"),
        pytest.param(DEMAND, "", False, id="nothing-before"),
    ],
)
def test_repeats(text: str, before: str, again: bool) -> None:
    assert repeats(text, before) == again
