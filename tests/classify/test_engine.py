"""What decides, in which order, and what is never a case."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import resources
from pipeline.classify import engine, packs
from pipeline.classify.trace import Why
from pipeline.records import CaseType, Kind, Message, Source

Write = Callable[..., Path]
SHIPPED = packs.load([resources.folder("rules")])

TYPES = [
    ("You forgot the footer.", "missed-item"),
    ("I told you not to touch the schema.", "violated-instruction"),
    ("No, it's in the other folder.", "mistaken-premise"),
    ("The total is still wrong.", "wrong-result"),
    ("Undo the last change.", "other"),
    ("푸터가 빠졌어", "missed-item"),
    ("첫 줄을 빼먹었네", "missed-item"),
    ("합계 행이 누락됐어", "missed-item"),
    ("마지막 조건을 놓쳤잖아", "missed-item"),
    ("그 폴더는 건드리지 말라고", "violated-instruction"),
    ("새 파일은 만들지 말랬잖아", "violated-instruction"),
    ("주석은 영어로 쓰라니까", "violated-instruction"),
    ("먼저 계획부터 세우고 하라고", "violated-instruction"),
    ("그게 아니라 아래쪽 표야", "mistaken-premise"),
    ("맨 위가 아니고 맨 아래야", "mistaken-premise"),
    ("합계가 잘못 계산됐어", "wrong-result"),
    ("두 번째 값이 틀렸어", "wrong-result"),
    ("줄 간격이 이상해", "wrong-result"),
    ("엉뚱한 파일을 고쳤어", "wrong-result"),
    ("정렬이 엉망이야", "wrong-result"),
    ("最後の手順が抜けています", "missed-item"),
    ("消さないでって言ったのに", "violated-instruction"),
    ("そうじゃなくて、並び順を変えたい", "mistaken-premise"),
    ("合計が間違っています", "wrong-result"),
    ("你忘了更新文档", "missed-item"),
    ("我说过不要动配置", "violated-instruction"),
    ("我说的是右边的菜单", "mistaken-premise"),
    ("第二行的金额不对", "wrong-result"),
]


@pytest.mark.parametrize(("text", "kind"), TYPES, ids=[text for text, _ in TYPES])
def test_shipped_packs_type_plain_corrections(text: str, kind: str) -> None:
    found = engine.classify(SHIPPED, Message(text))
    assert found is not None
    assert found.type == kind
    assert found.decided == (kind != "other")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("내가 잘못 말했어, 값이 틀렸어", id="own-slip-ko"),
        pytest.param("잘못되면 되돌릴 수 있게 백업해줘", id="hypothetical-ko"),
        pytest.param("네, 그게 아니라 다른 이유예요", id="agrees-then-explains-ko"),
        pytest.param("맞아 그게 아니라 캐시 때문이야", id="agrees-then-explains-ko-2"),
        pytest.param("누락값 처리 함수 만들어줘", id="task-about-gaps-ko"),
        pytest.param("틀린 맞춤법 검사기 만들어줘", id="task-about-errors-ko"),
        pytest.param("My mistake, this is wrong.", id="own-slip-en"),
        pytest.param("If something is wrong, stop.", id="hypothetical-en"),
        pytest.param("Yes, that's wrong, because the cache was cold.", id="agrees-en"),
        pytest.param("The client said it is wrong.", id="reported-en"),
        pytest.param("Fix the wrong label.", id="task-en"),
        pytest.param("[You forgot the footer.]", id="bracket"),
        pytest.param("  [note] You forgot the footer.", id="bracket-after-spaces"),
        pytest.param('It prints "you forgot the footer".', id="quoted"),
        pytest.param("> You forgot the footer.", id="quoted-line"),
        pytest.param("Is this right?", id="re-check"),
        pytest.param("그게 아닌가?", id="doubt-ko"),
        pytest.param("", id="empty"),
        pytest.param(" \n ", id="blank"),
    ],
)
def test_no_case(text: str) -> None:
    assert engine.classify(SHIPPED, Message(text)) is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        pytest.param("왜 자꾸 커밋하지 말라니까?", "violated-instruction", id="violated-stays"),
        pytest.param("먼저 물어보고 하라고？", "violated-instruction", id="full-width-mark"),
        pytest.param("합계가 잘못 계산됐어. 다시 해줄래?", "other", id="blame-then-question"),
        pytest.param("합계가 잘못 계산됐어?", None, id="only-asks"),
        pytest.param("You forgot the footer, right?", None, id="only-asks-en"),
        pytest.param("Why did you delete the tests?", "other", id="blames-by-asking"),
    ],
)
def test_a_question_is_violated_instruction_or_blame(text: str, kind: str | None) -> None:
    found = engine.classify(SHIPPED, Message(text))
    assert (found.type if found else None) == kind


@pytest.mark.parametrize(
    ("text", "decides"),
    [
        pytest.param("You forgot the footer. " + "More words follow. " * 20, True, id="first"),
        pytest.param("1. You forgot the footer. " + "More words. " * 20, True, id="numbered"),
        pytest.param("Look here. You forgot it. " + "More words. " * 20, False, id="second"),
        pytest.param("You forgot the footer and " + "more words " * 30, False, id="one-long"),
    ],
)
def test_over_200_characters_only_the_first_sentence_decides(text: str, decides: bool) -> None:
    assert len(text) > 200
    assert (engine.classify(SHIPPED, Message(text)) is not None) == decides


def test_exactly_200_characters_are_still_a_whole() -> None:
    text = "Look here. You forgot it. ".ljust(199, "a") + "."
    assert len(text) == 200
    assert engine.classify(SHIPPED, Message(text)) is not None
    assert engine.classify(SHIPPED, Message(text + "a")) is None


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        pytest.param(Message("the blue one", Kind.REJECTION), "any.signal.rejection", id="refused"),
        pytest.param(
            Message("the blue one", interrupted=True), "any.signal.interrupted", id="interrupted"
        ),
        pytest.param(Message("the blue one"), None, id="nothing-happened"),
        pytest.param(Message("the blue one?", Kind.REJECTION), None, id="a-question-needs-words"),
        pytest.param(Message("blue " * 60, Kind.REJECTION), None, id="too-long"),
        pytest.param(
            Message("x", source=Source.REVIEW, kind=Kind.REJECTION), None, id="not-a-person"
        ),
    ],
)
def test_signals_make_other_and_never_a_type(message: Message, rule: str | None) -> None:
    found = engine.classify(SHIPPED, message)
    assert (found.rule_id if found else None) == rule
    assert found is None or (found.type is CaseType.OTHER and not found.decided)


def test_a_no_that_answers_a_question_is_no_case() -> None:
    asked = Message("No, we use the staging cluster", said="Shall I use production?")
    assert engine.classify(SHIPPED, asked) is None
    assert engine.classify(SHIPPED, Message(asked.text, said="Done.")) is not None
    refused = Message(asked.text, kind=Kind.REJECTION, said=asked.said)
    assert engine.classify(SHIPPED, refused) is not None


@pytest.mark.parametrize(
    ("source", "text", "kind"),
    [
        (Source.SELF, "You're right, I missed the second call.", "missed-item"),
        (Source.SELF, "I was wrong about the port.", "mistaken-premise"),
        (Source.SELF, "I made a mistake in the regex.", "wrong-result"),
        (Source.SELF, "You're absolutely right!", None),
        (Source.REVIEW, "It does not handle empty lists.", "missed-item"),
        (Source.REVIEW, "LGTM", None),
        (Source.GUARD, "Direct pushes to main are not allowed.", "violated-instruction"),
        (Source.GUARD, "Keep working until every item is done.", None),
        (Source.GUARD, "You forgot the footer in this plain sentence of a person", "missed-item"),
        (Source.SELF, "제 실수입니다.", "wrong-result"),
        (Source.REVIEW, "缺少空值检查。", "missed-item"),
        (Source.GUARD, "mainへのプッシュは禁止です。", "violated-instruction"),
    ],
)
def test_noticed_statements_have_rules_of_their_own(
    source: Source, text: str, kind: str | None
) -> None:
    found = engine.classify(SHIPPED, Message(text, source=source))
    assert (found.type if found else None) == kind


def test_the_type_order_beats_the_order_of_the_sentences() -> None:
    found = engine.classify(SHIPPED, Message("The total is wrong. You forgot the footer."))
    assert found is not None and found.type is CaseType.MISSED_ITEM


def test_the_span_points_into_the_text_as_given() -> None:
    text = "  Well… “ok”. You forgot the footer."
    found = engine.classify(SHIPPED, Message(text))
    assert found is not None and text[slice(*found.span)] == "You forgot"


@given(
    st.one_of(
        st.text(max_size=300),
        st.lists(st.sampled_from([t for t, _ in TYPES] + ["?", "[", "\n", "`", '"', " "])).map(
            "".join
        ),
    ),
    st.sampled_from(list(Source)),
    st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_any_text_gives_a_verdict_whose_span_lies_inside(
    text: str, source: Source, interrupted: bool
) -> None:
    message = Message(text, source=source, interrupted=interrupted)
    found = engine.classify(SHIPPED, message)
    traced = engine.trace(SHIPPED, message)
    assert traced.finding == found
    if found:
        assert 0 <= found.span[0] < found.span[1] <= len(text)


def test_shadow_rules_run_but_decide_nothing(pack: Write) -> None:
    loaded = packs.load([pack({'"active"': '"shadow"'})])
    assert engine.classify(loaded, Message("so zorp")) is None
    assert [a.rule_id for a in engine.trace(loaded, Message("so zorp")).attempts] == [
        "en.wrong-result.sample"
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("so zorp, zorp", ["wrong-result"], id="once-a-rule"),
        pytest.param("so zorp?", [], id="muted-in-a-question"),
        pytest.param("zorp pie", [], id="excluded"),
        pytest.param("[so zorp]", [], id="bracket"),
        pytest.param("nothing", [], id="silent"),
    ],
)
def test_what_shadow_rules_would_have_said(pack: Write, text: str, said: list[str]) -> None:
    exclude = EXCLUDE.format(on="sentence", pattern="pie")
    loaded = packs.load([pack({'"active"': '"shadow"'}, more=exclude)])
    assert [found.type for found in engine.shadows(loaded, Message(text))] == said


def test_active_rules_are_no_shadows(pack: Write) -> None:
    loaded = packs.load([pack()])
    assert not loaded.has_shadow
    assert engine.shadows(loaded, Message("so zorp")) == ()


def test_a_repeated_demand_supports_a_weak_rule(pack: Write) -> None:
    loaded = packs.load([pack({"summary": 'needs = ["repeated"]\nsummary'})])
    before = "Paint the zorp in the footer blue."
    again = "the zorp in the footer blue"
    assert engine.classify(loaded, Message(again, previous="Add a page.")) is None
    assert engine.classify(loaded, Message(again, previous=before)) is not None
    # By itself it is no case: people repeat tasks with one word changed, too.
    assert engine.classify(SHIPPED, Message(before, previous=before)) is None


def test_the_trace_shows_what_is_known_of_the_turn() -> None:
    text = "Paint the footer of the page blue."
    message = Message(text, Kind.REJECTION, interrupted=True, previous=text, said="Shall I?")
    assert engine.trace(SHIPPED, message).facts == (
        "agent-acted", "interrupted", "rejection", "repeated",
    )  # fmt: skip
    asked = Message("x", acted=False, said="Shall I?")
    assert engine.trace(SHIPPED, asked).facts == ("agent-asked",)


@pytest.mark.parametrize(
    ("text", "rule", "words"),
    [
        ("按鈕不見了", "zh.wrong-result.spoiled", "按鈕不見了"),
        ("你忘了更新說明文件", "zh.missed-item.forgot", "你忘了"),
        ("我講過唔好改個接口", "zh.violated-instruction.said-so", "我講過唔好"),
    ],
)
def test_other_ways_to_write_are_folded_and_the_span_stays(
    text: str, rule: str, words: str
) -> None:
    found = engine.classify(SHIPPED, Message(text))
    assert found is not None and found.rule_id == rule
    assert text[slice(*found.span)] == words


@pytest.mark.parametrize("status", ["draft", "retired"])
def test_drafts_and_retired_rules_do_not_run(pack: Write, status: str) -> None:
    loaded = packs.load([pack({'"active"': f'"{status}"'})])
    assert engine.trace(loaded, Message("so zorp")).attempts == ()


def test_a_weak_rule_needs_its_signal(pack: Write) -> None:
    loaded = packs.load([pack({"summary": 'needs = ["rejection", "interrupted"]\nsummary'})])
    assert engine.classify(loaded, Message("so zorp")) is None
    assert engine.classify(loaded, Message("so zorp", interrupted=True)) is not None


EXCLUDE = """
[[rule.exclude]]
name = "near"
on = "{on}"
pattern = '''{pattern}'''
because = "made up"
stops = ["zorp"]
"""


@pytest.mark.parametrize(
    ("on", "pattern", "text", "stopped"),
    [
        pytest.param("match", "zorp pie", "zorp pie", True, id="overlaps"),
        pytest.param("match", "pie", "zorp pie", False, id="elsewhere"),
        pytest.param("match", "zorp pie", "zorp pie, zorp", False, id="second-match-survives"),
        pytest.param("sentence", "pie", "zorp pie", True, id="same-sentence"),
        pytest.param("sentence", "pie", "zorp. pie", False, id="other-sentence"),
        pytest.param("message", "pie", "zorp. pie", True, id="same-message"),
    ],
)
def test_what_an_exclusion_looks_at(
    pack: Write, on: str, pattern: str, text: str, stopped: bool
) -> None:
    loaded = packs.load([pack(more=EXCLUDE.format(on=on, pattern=pattern))])
    assert (engine.classify(loaded, Message(text)) is None) == stopped
    if stopped:
        traced = engine.trace(loaded, Message(text))
        assert traced.why is Why.EXCLUDED
        assert traced.excluded_by == "en.wrong-result.sample/near"


@pytest.mark.parametrize("where", ["rule", "exclusion"])
def test_a_pattern_that_never_ends_costs_its_rule_and_nothing_else(pack: Write, where: str) -> None:
    hostile = r"(?:z|zo|o|r|p|e|ee)*(?:e|ee)+$x"
    if where == "rule":
        folder = pack({r"'''\bzorp\b'''": f"'''{hostile}'''"})
    else:
        folder = pack(more=EXCLUDE.format(on="sentence", pattern=hostile))
    loaded = packs.load([folder])
    message = Message("zorp " + "e" * 150)
    assert engine.classify(loaded, message) is None
    assert engine.trace(loaded, message).timeouts == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("You forgot the footer.", Why.RULE),
        ("Undo the last change.", Why.CUE),
        ("My mistake, this is wrong.", Why.EXCLUDED),
        ("[x] You forgot the footer.", Why.BRACKET),
        ("word " * 60, Why.TOO_LONG),
        ("Add a page.", Why.NOTHING),
    ],
)
def test_the_trace_says_why(text: str, why: Why) -> None:
    assert engine.trace(SHIPPED, Message(text)).why is why


def test_the_trace_shows_what_was_blanked_and_said_in_which_language() -> None:
    traced = engine.trace(SHIPPED, Message("You forgot `x`. 그게 아니야"))
    assert [blank.kind for blank in traced.blanks] == ["code"]
    assert [sentence.lang for sentence in traced.sentences] == ["en", "ko"]
