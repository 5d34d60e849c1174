"""The strict reader of JSON text: what it takes, what it refuses and where."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.install.jsontext import DEPTH_MAX, JsonFault, Node, parse

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)  # fmt: skip


@given(VALUES, st.sampled_from([None, 0, 2, "\t"]), st.booleans())
def test_reads_what_json_reads(value: Any, indent: int | str | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    node = parse(text)
    assert node.value == value
    assert (node.start, node.end) == (0, len(text))


@given(VALUES, st.sampled_from([None, 2]))
def test_every_span_holds_its_value(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)

    def check(node: Node) -> None:
        assert json.loads(text[node.start : node.end]) == node.value
        for item in node.items:
            check(item)
        for member in node.members:
            assert text[member.start] == '"'
            check(member.node)

    check(parse(text))


@given(st.text(alphabet='{}[]",:01-.eE+ \n\tntf\\u"rulase/#\ufeff\x00'))
def test_never_takes_more_than_json_does(text: str) -> None:
    """Nor less, but for names that stand twice and a byte-order mark."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError
        return dict(pairs)

    def constant(name: str) -> Any:
        raise ValueError(name)

    plain = text.removeprefix("\ufeff")
    try:
        expected = json.loads(plain, object_pairs_hook=unique, parse_constant=constant)
    except ValueError:
        with pytest.raises(JsonFault):
            parse(text)
    else:
        assert parse(text).value == expected


@pytest.mark.parametrize(
    ("text", "line", "column", "word"),
    [
        ("", 1, 1, "too early"),
        ("{", 1, 2, "too early"),
        ('{"a": 1,}', 1, 9, "name"),
        ('{"a": [1, 2,]}', 1, 13, "value"),
        ('{\n  // mine\n  "a": 1\n}', 2, 3, "comment"),
        ('{\r\n  "a": 1 /* b */\r\n}', 2, 10, "comment"),
        ('{"a": 1 "b": 2}', 1, 9, "comma"),
        ('{"a" 1}', 1, 6, "colon"),
        ("{'a': 1}", 1, 2, "double quotes"),
        ('{"a": NaN}', 1, 7, "value"),
        ('{"a": -Infinity}', 1, 7, "value"),
        ('{"a": 01}', 1, 8, "comma"),
        ('{"a": "x\ny"}', 1, 9, "control"),
        ('{"a": "\\x41"}', 1, 8, "escape"),
        ('{"a": 1}\n\n{}', 3, 1, "behind"),
        ('{"a": 1,\n "b": 2,\n "a": 3}', 3, 2, "already"),
        ('{"x": {"a": 1, "\\u0061": 2}}', 1, 16, "already"),
        ('\ufeff{"a": x}', 1, 7, "value"),
        ("[" * (DEPTH_MAX + 2), 1, DEPTH_MAX + 2, "deeper"),
    ],
)
def test_says_where_and_why(text: str, line: int, column: int, word: str) -> None:
    with pytest.raises(JsonFault) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert word in str(caught.value)


def test_numbers_of_any_length() -> None:
    assert parse("9" * 5000).value == float("inf")
    assert parse("-0.5e2").value == -50.0
