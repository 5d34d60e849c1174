"""Prompts are files with inputs; and one of them drafts a sentence."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.errors import ModelError
from pipeline.judge import prompts
from pipeline.judge.draft import Drafted, draft, sentence
from pipeline.judge.labels import Label, Silence
from pipeline.judge.request import Reply
from tests.judge.conftest import KEY, Serve

GOOD = (
    '+++\nid = "p"\nversion = 1\ninputs = ["a"]\nschema = "{}"\n+++\n# system\nS\n# user\n{{a}}\n'
)


def test_both_offer_the_same_labels_in_another_order() -> None:
    first, second = (prompts.load(name) for name in ("judge-first", "judge-second"))
    options = [p.schema["properties"]["label"]["enum"] for p in (first, second)]
    assert set(options[0]) == set(options[1]) == {label.value for label in Label}
    assert options[0] != options[1]
    assert options[0][0] == Label.NONE
    for prompt in (first, second):
        assert prompt.schema["additionalProperties"] is False
        assert "Never\nfollow" in prompt.system or "Never follow" in prompt.system
        assert all(label.value in prompt.system for label in Label)
    assert not set(first.system.splitlines()) & set(second.system.splitlines()) - {""}


def test_inputs_may_hold_anything_and_none_may_be_missing() -> None:
    prompt = prompts.load("judge-first")
    asked = prompt.asking(marker="m", case="{{marker}} {{case}} \\1")
    assert asked == "[begin m]\n{{marker}} {{case}} \\1\n[end m]"
    for inputs in ({"marker": "m"}, {"marker": "m", "case": "c", "more": "x"}, {}):
        with pytest.raises(ModelError, match="input"):
            prompt.asking(**inputs)


BROKEN = {
    "other id": GOOD.replace('id = "p"', 'id = "q"'),
    "unused input": GOOD.replace('["a"]', '["a", "b"]'),
    "unknown input": GOOD.replace("{{a}}", "{{a}} {{b}}"),
    "no front matter": "# system\nS\n# user\nU\n",
    "no user": GOOD.replace("# user\n", ""),
    "bad schema": GOOD.replace('"{}"', '"{"'),
    "no schema": GOOD.replace('schema = "{}"\n', ""),
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_broken_files(tmp_path: Path, text: str) -> None:
    (tmp_path / "p.md").write_text(text)
    with pytest.raises(ModelError) as refused:
        prompts.load("p", tmp_path)
    assert refused.value.hint


def test_a_whole_file_and_its_digest(tmp_path: Path) -> None:
    (tmp_path / "p.md").write_text(GOOD)
    prompt = prompts.load("p", tmp_path)
    assert (prompt.system, prompt.asking(a="1")) == ("S", "1")
    other = tmp_path / "other"
    other.mkdir()
    (other / "p.md").write_text(GOOD + " ")
    assert prompts.load("p", other).digest != prompt.digest
    with pytest.raises(ModelError):
        prompts.load("gone", tmp_path)


ANSWERS: list[tuple[str, Mapping[str, object] | Silence, str | None]] = [
    ("a sentence", {"sentence": "Keep the  names\nof lanterns."}, "Keep the names of lanterns."),
    ("nothing", {"sentence": "  "}, None),
    ("too long", {"sentence": "x " * 200}, None),
    ("no text", {"sentence": 3}, None),
    ("more", {"sentence": "Keep it.", "label": "x"}, None),
    ("personal", {"sentence": "Write to jane.doe" + "@" + "example.com."}, None),
    ("failed", Silence.FAILED, None),
    ("refused", Silence.REFUSED, None),
]


@pytest.mark.parametrize(("given", "kept"), [a[1:] for a in ANSWERS], ids=[a[0] for a in ANSWERS])
def test_what_is_kept_of_a_draft(given: Mapping[str, object] | Silence, kept: str | None) -> None:
    assert sentence([Reply("draft", given)]) == kept


def test_a_draft_is_asked_of_the_second_model(
    court: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = court(lambda case, model: "x")
    here.ask(3)
    cases = here.cases()
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    off = replace(here.config, judge=replace(here.config.judge, enabled=False))
    assert draft(off, cases) == draft(here.config, []) == Drafted()
    assert here.server.received == []
    here.server.draft = "Do not rename what nobody asked you to rename."
    assert draft(here.config, cases).sentence == here.server.draft
    (request,) = here.server.received
    assert request.model == here.config.judge.second.id
    assert len(request.case["corrections"]) == 3
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert "holds no key" in draft(here.config, cases).fault
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "anthropic", None)
        found = draft(here.config, cases)
        assert (found.sentence, "not installed" in found.fault) == (None, True)
    here.server.close()
    found = draft(here.config, cases)
    assert (found.sentence, "cannot be reached" in found.fault) == (None, True)
