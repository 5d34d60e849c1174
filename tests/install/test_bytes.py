"""Any settings file, however written: install and uninstall give back its very bytes."""

import copy
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import cli
from tests.install.calls import Run, ours

EVENTS = ("UserPromptSubmit", "SessionStart")
SPACES = ("", "", "", " ", "  ", "\n", "\n  ", "\t", "\r\n", "\n\n    ", "\r")


@st.composite
def handlers(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "type": "command",
        "command": draw(st.sampled_from(["true", "echo 'a' # b", "한국 \\"])),
    }


GROUPS = st.fixed_dictionaries(
    {"hooks": st.lists(handlers(), max_size=2)}, optional={"matcher": st.sampled_from(["", "Bash"])}
)
HOOKS = st.fixed_dictionaries(
    {},
    optional={event: st.lists(GROUPS, max_size=2) for event in ("Stop", *EVENTS, "PreToolUse")},
)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "model": st.text(max_size=5),
        "hooks": HOOKS,
        "env": st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
        "permissions": st.fixed_dictionaries({"allow": st.lists(st.text(max_size=3), max_size=2)}),
        "n": st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.none(),
    },
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Settings in some hand: the usual ones, or space drawn anew at every place."""
    value = draw(SETTINGS)
    keys = draw(st.permutations(list(value)))
    value = {key: value[key] for key in keys}
    manner = draw(st.sampled_from(["2", "4", "tab", "minified", "line", "wild", "wild"]))
    ascii_only = draw(st.booleans())
    if manner == "wild":
        text = wild(draw, value, ascii_only)
    else:
        indent = {"2": 2, "4": 4, "tab": "\t"}.get(manner)
        tight = (",", ":") if manner == "minified" else None
        text = json.dumps(value, indent=indent, separators=tight, ensure_ascii=ascii_only)
        text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    bom = draw(st.sampled_from(["", "", "\ufeff"]))
    return bom + text + draw(st.sampled_from(["", "\n", "\r\n", "\n\n", " "]))


def wild(draw: st.DrawFn, value: Any, ascii_only: bool) -> str:
    def space() -> str:
        return draw(st.sampled_from(SPACES))

    def write(value: Any) -> str:
        if isinstance(value, dict):
            parts = [
                f"{space()}{write(name)}{space()}:{space()}{write(inner)}{space()}"
                for name, inner in value.items()
            ]
            return "{" + (",".join(parts) or space()) + "}"
        if isinstance(value, list):
            return "[" + (",".join(space() + write(v) + space() for v in value) or space()) + "]"
        return json.dumps(value, ensure_ascii=ascii_only)

    return space() + write(value)


def call(folder: Path, *words: str) -> None:
    words = (*words, "hook", "--yes", "--quiet")
    assert cli.main([*words, "--home", str(folder / "h"), "--claude-dir", str(folder)]) == 0


def expected(before: Any, after: Any) -> Any:
    """What was there, and at the end of each event's array our group."""
    wanted = copy.deepcopy(before)
    for event in EVENTS:
        group = after["hooks"][event][-1]
        assert group["hooks"][0]["command"].endswith("# twice-told hook")
        wanted.setdefault("hooks", {}).setdefault(event, []).append(group)
    return wanted


@settings(max_examples=120)
@given(texts())
def test_install_and_uninstall_give_the_same_bytes(text: str) -> None:
    data = text.encode()
    with tempfile.TemporaryDirectory() as name:
        folder, file = Path(name), Path(name) / "settings.json"
        file.write_bytes(data)
        call(folder, "install")
        once = file.read_bytes()
        before = json.loads(data.decode("utf-8-sig"))
        after = json.loads(once.decode("utf-8-sig"))
        assert after == expected(before, after)
        assert list(after)[: len(before)] == list(before)
        assert once.startswith(b"\xef\xbb\xbf") == data.startswith(b"\xef\xbb\xbf")
        call(folder, "install")
        assert file.read_bytes() == once
        call(folder, "uninstall")
        assert file.read_bytes() == data
        call(folder, "uninstall")
        assert file.read_bytes() == data


@settings(max_examples=20)
@given(texts())
def test_another_home_takes_the_place_of_the_first(text: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder, file = Path(name), Path(name) / "settings.json"
        file.write_bytes(text.encode())
        call(folder, "install")
        words = ["install", "hook", "--yes", "--quiet", "--claude-dir", name]
        assert cli.main([*words, "--home", str(folder / "other")]) == 0
        assert b'/h\\"' not in file.read_bytes()
        found = ours(file.read_bytes())
        assert [len(found[event]) for event in EVENTS] == [1, 1]
        call(folder, "install")
        call(folder, "uninstall")
        before, after = json.loads(text.removeprefix("\ufeff")), file.read_text("utf-8-sig")
        assert without_empty(json.loads(after)) == without_empty(before)


def without_empty(value: dict[str, Any]) -> dict[str, Any]:
    """Another home does not know which containers were empty before."""
    hooks = {event: groups for event, groups in value.get("hooks", {}).items() if groups}
    return {k: v for k, v in value.items() if k != "hooks"} | ({"hooks": hooks} if hooks else {})


LOOKS = {
    "two": ('{\n  "a": 1\n}\n', '{\n  "a": 1,\n  "hooks": {\n    "UserPromptSubmit": [\n      {\n'),
    "tabs": ('{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"hooks": {\n\t\t"UserPromptSubmit": [\n\t\t\t{\n'),
    "crlf": ('{\r\n    "a": 1\r\n}', '{\r\n    "a": 1,\r\n    "hooks": {\r\n        "UserPro'),
    "minified": ('{"a":1}', '{"a":1,"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command",'),
    "line": ('{"a": 1}', '{"a": 1, "hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", '),
    "empty": ("{}", '{\n  "hooks": {\n    "UserPromptSubmit": [\n      {\n        "hooks": [\n'),
    "an array of one line": (
        '{\n  "hooks": {\n    "UserPromptSubmit": [{"hooks": []}]\n  }\n}\n',
        '{\n  "hooks": {\n    "UserPromptSubmit": [{"hooks": []}, {"hooks": [{"type": "command", ',
    ),
}


@pytest.mark.parametrize(("before", "start"), LOOKS.values(), ids=LOOKS)
def test_ours_is_written_in_the_hand_of_the_file(
    run: Run, settings: Path, before: str, start: str
) -> None:
    settings.write_bytes(before.encode())
    assert run("install", "hook", "--yes").code == 0
    text = settings.read_bytes().decode()
    assert text.startswith(start)
    assert ("\n" in text.replace("\r\n", "")) == ("\n" in start.replace("\r\n", ""))


def test_what_was_edited_in_between_stays(run: Run, settings: Path) -> None:
    settings.write_text('{\n  "a": 1\n}\n', encoding="utf-8")
    run("install", "hook", "--yes")
    text = settings.read_text(encoding="utf-8")
    edited = text.replace('"a": 1', '"z": [1,2],\n  "a": 1').removesuffix("\n}\n")
    settings.write_text(edited + ',\n  "b": {"c": 3}\n}\n', encoding="utf-8")
    run("uninstall", "hook", "--yes")
    wanted = '{\n  "z": [1,2],\n  "a": 1,\n  "b": {"c": 3}\n}\n'
    assert settings.read_text(encoding="utf-8") == wanted


def test_a_handler_that_somebody_put_beside_ours_stays(run: Run, settings: Path) -> None:
    settings.write_text("{}\n", encoding="utf-8")
    run("install", "hook", "--yes")
    found = json.loads(settings.read_bytes())
    mine = {"type": "command", "command": "true"}
    found["hooks"]["UserPromptSubmit"][0]["hooks"].insert(0, mine)
    settings.write_text(json.dumps(found, indent=1), encoding="utf-8")
    run("uninstall", "hook", "--yes")
    assert json.loads(settings.read_bytes()) == {"hooks": {"UserPromptSubmit": [{"hooks": [mine]}]}}


def test_a_file_that_install_made_goes_again(run: Run, settings: Path) -> None:
    assert run("install", "hook", "--yes").code == 0
    assert set(ours(settings.read_bytes())) == set(EVENTS)
    assert settings.stat().st_mode & 0o777 == 0o600
    assert run("uninstall", "hook", "--yes").code == 0
    assert not settings.exists()


def test_a_file_that_install_made_goes_after_a_replacement_too(run: Run, settings: Path) -> None:
    run("install", "hook", "--yes")
    old = settings.read_bytes().replace(b"/run_hook.py", b"/old.py")
    settings.write_bytes(old)
    assert "replaced" in run("install", "hook", "--yes").out
    assert settings.read_bytes() == old.replace(b"/old.py", b"/run_hook.py")
    run("uninstall", "hook", "--yes")
    assert not settings.exists()


def test_a_file_that_install_made_stays_when_others_use_it(run: Run, settings: Path) -> None:
    run("install", "hook", "--yes")
    found = json.loads(settings.read_bytes())
    settings.write_text(json.dumps(found | {"model": "x"}), encoding="utf-8")
    run("uninstall", "hook", "--yes")
    assert json.loads(settings.read_bytes()) == {"model": "x"}
