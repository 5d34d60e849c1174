"""Rules on trial: they decide nothing and are counted, once, however often a night is repeated."""

from pathlib import Path

from pipeline.cases import stats
from pipeline.config import Config
from tests.collect.homes import MISSED, put, reader, run, talk

SHADOW = """
format = 1
language = "en"
family = "wrong-result"

[[rule]]
id = "en.wrong-result.on-trial"
status = "shadow"
summary = "A rule on trial."
keywords = ["start page", "forgot"]
pattern = '''\\b(?:start page|forgot)\\b'''
match = [
  { text = "See the start page.", span = "start page" },
  { text = "You forgot it.", span = "forgot" },
]
reject = [
  { text = "A restart pages me.", because = "another word" },
  { text = "Unforgotten it is.", because = "another word" },
]
"""


def test_shadow_rules_are_counted_and_decide_nothing(config: Config) -> None:
    root = config.claude_dirs[0]
    put(root, "a", talk("s1", "The start page opens at nine", MISSED))
    before = run(config)
    folder = config.home / "rules" / "en"
    folder.mkdir(parents=True)
    Path(folder / "trial.toml").write_text(SHADOW, encoding="utf-8")
    for _ in range(2):
        after = run(config, rebuild=True)
        assert after.by_type == before.by_type
        with reader(config) as store:
            assert stats.shadow_rules(store) == [("en.wrong-result.on-trial", 2, 1)]
            assert stats.totals(store)["turns"] == 2
