"""The block in a file: what was put in comes out to the byte, and nothing else ever changes."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import ConfigError
from pipeline.propose import block
from pipeline.propose.block import add, parse, remove
from pipeline.propose.markdown import BOM

WHERE = "CLAUDE.md"
OTHER = (
    b"# Rules\n\n<!-- twice-told:begin 1 -->\n"
    b"<!-- twice-told:rule 77 other/wrong-result 0123456789abcdef -->\n- Old one.\n"
    b"<!-- twice-told:end -->\nmore\n"
)
ODD = {
    "no file": None,
    "empty": b"",
    "one line": b"# Rules\n",
    "no final newline": b"# Rules",
    "CRLF": b"# Rules\r\n\r\n- one\r\n",
    "CRLF without the last": b"# Rules\r\n- one",
    "old Mac": b"# Rules\r- one\r",
    "mixed": b"a\nb\r\nc\rd\r\n",
    "mixed, CR at the end": b"a\nb\r",
    "BOM": BOM + b"# Rules\n",
    "BOM alone": BOM,
    "only spaces": b"   ",
    "only newlines": b"\n\n\n",
    "one newline": b"\n",
    "trailing spaces": b"a  \nb\t\n  ",
    "not UTF-8": b"caf\xe9\n\xff\xfe\n",
    "NUL": b"a\x00b\n",
    "a block with a rule": OTHER,
    "its markers in a fence": b"```\n<!-- twice-told:begin 1 -->\n```\n",
    "its markers in a long fence": b"~~~~ md\n~~~\n<!-- twice-told:end -->\n~~~~\nx",
    "its markers in a comment": b"<!--\n<!-- twice-told:end\n-->\nx\n",
    "a form feed": b"a\x0cb\x85c\xe2\x80\xa8d\n",
    "an indented fence": b"- x\n    ```\n    y\n    ```\n",
    "a whole comment": b"<!-- note -->\n",
}
SENTENCES = [f"Rule number {n}, with 윈도우 in it." for n in range(6)]


def rule(data: bytes, number: int) -> block.Rule:
    parsed = parse(data, WHERE)
    found = block.find(parsed, number, "loom/missed-item", block.rule_hash(SENTENCES[number]))
    assert found
    return found


def out(data: bytes, number: int) -> bytes | None:
    return remove(data, rule(data, number), WHERE)


def put(data: bytes | None, number: int) -> bytes:
    return add(data, number, "loom/missed-item", SENTENCES[number], WHERE)


@pytest.mark.parametrize("data", ODD.values(), ids=ODD)
def test_retire_after_accept_restores_every_byte(data: bytes | None) -> None:
    one = put(data, 1)
    assert out(one, 1) == data
    two = put(one, 2)
    assert out(two, 2) == one
    first_gone = out(two, 1)
    assert first_gone is not None
    assert out(first_gone, 2) == data


@pytest.mark.parametrize("data", ODD.values(), ids=ODD)
def test_nothing_outside_the_block_changes(data: bytes | None) -> None:
    before = data or b""
    after = put(data, 1)
    found = parse(after, WHERE)
    assert found
    if b"twice-told:rule 77" in before:
        at = before.index(b"<!-- twice-told:end")
        assert (after[:at], after[at:].endswith(before[at:])) == (before[:at], True)
    else:
        assert after.startswith(before)
    assert after.endswith((b"\n", b"\r")) == (before.endswith((b"\n", b"\r")) or found.before == 0)


PIECES = [
    b"# Rules", b"", b"- one  ", b"text \xe9 \xff", b"```", b"~~~ x", b"   ", b"<!-- note -->",
    b"<!-- open", b"-->", b"\x00", "규칙".encode(), b"> quote", b"    code", b"@docs/x.md",
    b"`<!-- twice-told:begin 1 -->`",
]  # fmt: skip
FILES = st.builds(
    lambda bom, lines, last: (BOM if bom else b"") + b"".join(lines) + last,
    st.booleans(),
    st.lists(
        st.builds(
            lambda a, b: a + b, st.sampled_from(PIECES), st.sampled_from([b"\n", b"\r\n", b"\r"])
        ),
        max_size=12,
    ),
    st.sampled_from([b"", b"", b"end", b"  "]),
)


@given(
    data=st.none() | FILES,
    order=st.permutations([1, 2, 3, 4]),
    steps=st.lists(st.booleans(), max_size=12),
)
@settings(max_examples=300)
def test_any_order_of_accepts_and_retires(
    data: bytes | None, order: list[int], steps: list[bool]
) -> None:
    """Rules come and go in any order; when the last is gone the file is what it was."""
    text, waiting, inside = data, list(order), list[int]()
    for coming in [*steps, True]:
        if coming and waiting:
            try:
                text = put(text, waiting[0])
            except ConfigError:  # a fence or a comment is open at the end
                assert text == data
                return
            inside.append(waiting.pop(0))
        elif inside:
            assert text is not None
            number = inside.pop(len(steps) % len(inside))
            text = out(text, number)
            waiting.append(number)
    for number in inside:
        assert text is not None
        assert parse(text, WHERE)
        text = out(text, number)
    assert text == data


def test_what_a_block_looks_like() -> None:
    data = put(put(b"# Rules\n", 1), 2)
    hashes = [block.rule_hash(SENTENCES[n]) for n in (1, 2)]
    assert data.decode().splitlines() == [
        "# Rules",
        "",
        f"<!-- twice-told:begin 1{block.HINT.decode()} -->",
        f"<!-- twice-told:rule 1 loom/missed-item {hashes[0]} -->",
        f"- {SENTENCES[1]}",
        f"<!-- twice-told:rule 2 loom/missed-item {hashes[1]} -->",
        f"- {SENTENCES[2]}",
        "<!-- twice-told:end -->",
    ]
    assert [r.sentence for r in parse(data, WHERE).rules] == SENTENCES[1:3]  # type: ignore[union-attr]


BEGIN, END = b"<!-- twice-told:begin 1 -->\n", b"<!-- twice-told:end -->\n"
RULE = b"<!-- twice-told:rule 1 loom/missed-item 0123456789abcdef -->\n- x\n"
DAMAGED = {
    "no end": (b"a\n" + BEGIN + RULE, 2, "no end marker"),
    "no beginning": (b"a\n" + RULE + END, 2, "outside"),
    "an end alone": (b"a\nb\n" + END, 3, "without its beginning"),
    "two ends": (BEGIN + RULE + END + END, 5, "without its beginning"),
    "two beginnings": (BEGIN + BEGIN + RULE + END, 2, "second block"),
    "two blocks": (BEGIN + RULE + END + b"\n" + BEGIN + RULE + END, 6, "second block"),
    "a cut begin": (b"<!-- twice-told:beg\n" + RULE + END, 1, "not whole"),
    "a cut end": (BEGIN + RULE + b"<!-- twice-told:end", 4, "not whole"),
    "a changed hash": (BEGIN + RULE.replace(b"cdef", b"cdeg") + END, 2, "not whole"),
    "a changed number": (BEGIN + RULE.replace(b"rule 1", b"rule x") + END, 2, "not whole"),
    "indented": (b"  " + BEGIN + RULE + END, 1, "not whole"),
    "text without a rule": (BEGIN + b"- mine\n" + RULE + END, 2, "belongs to no rule"),
    "a fence that hides the end": (BEGIN + RULE + b"```\n" + END, 1, "no end marker"),
    "a rule behind the end": (BEGIN + END + RULE, 3, "outside"),
}


@pytest.mark.parametrize(("data", "line", "word"), DAMAGED.values(), ids=DAMAGED)
def test_damage_is_an_error_with_its_line(data: bytes, line: int, word: str) -> None:
    for call in (lambda: parse(data, WHERE), lambda: put(data, 1)):
        with pytest.raises(ConfigError) as error:
            call()
        assert error.value.message.startswith(f"{WHERE}: line {line}: ")
        assert word in error.value.message


@pytest.mark.parametrize("data", [b"x\n```\ny\n", b"x\n~~~\n```\n", b"x\n<!-- y\nz", b"x\n```\n"])
def test_an_open_end_is_refused(data: bytes) -> None:
    with pytest.raises(ConfigError, match="line 2"):
        put(data, 1)


def test_a_rule_that_was_edited_by_hand_goes_and_is_known_as_changed() -> None:
    data = put(put(b"# Rules\n", 1), 2).replace(SENTENCES[1].encode(), b"Mine.\n  Two lines.")
    found = rule(data, 1)
    assert found.is_changed
    assert found.sentence == "Mine. Two lines."
    assert not rule(data, 2).is_changed
    assert out(data, 1) == put(b"# Rules\n", 2)


@pytest.mark.parametrize(
    ("edit", "left"),
    [
        (lambda data: data + b"more\n", b"# Rules\nmore\n"),
        (lambda data: b"top\n" + data, b"top\n# Rules\n"),
        (lambda data: data.replace(b"Rules\n\n", b"Rules\n"), b"# Rules\n"),
        (lambda data: data.replace(b"# Rules\n\n", b""), b""),
        (lambda data: data.replace(b"\n", b"\r\n"), b"# Rules\r\n"),
    ],
    ids=["text behind", "text before", "empty line gone", "all else gone", "other line ends"],
)
def test_what_others_changed_around_it_stays(edit: object, left: bytes) -> None:
    assert callable(edit)
    assert out(edit(put(b"# Rules\n", 1)), 1) == left


def test_text_behind_a_block_without_final_newline_stays_apart() -> None:
    assert out(put(b"# Rules", 1) + b"\nmore", 1) == b"# Rules\nmore"
    moved = b"top\n" + put(b"", 1) + b"more"
    assert out(moved, 1) == b"top\nmore"


def test_past_the_budget_the_quietest_come_first() -> None:
    data: bytes | None = b""
    for number in range(1, 20):
        data = add(data, number, f"r{number}/missed-item", f"Rule {number}.", WHERE)
    found = parse(data or b"", WHERE)
    assert found and found.lines == 40
    assert block.over_budget(found, {}) == []
    found = parse(add(data, 20, "r20/missed-item", "Rule 20.", WHERE), WHERE)
    assert found
    last = {f"r{n}/missed-item": date(2026, 3, 30 - n) for n in range(1, 21) if n != 5}
    assert [rule.number for rule in block.over_budget(found, last)[:3]] == [5, 20, 19]


def test_a_rule_is_found_by_its_hash_and_its_bundle_or_number() -> None:
    same = add(put(b"", 1), 9, "shop/missed-item", SENTENCES[1], WHERE)
    parsed, hash_ = parse(same, WHERE), block.rule_hash(SENTENCES[1])
    for number, bundle, expected in [
        (1, "loom/missed-item", 1),
        (4, "loom/missed-item", 1),
        (9, "shop/missed-item", 9),
        (9, "shop-1234/missed-item", 9),
        (4, "shop-1234/missed-item", None),
    ]:
        found = block.find(parsed, number, bundle, hash_)
        assert (found.number if found else None) == expected
    assert block.find(parsed, 1, "loom/missed-item", "0" * 16) is None
