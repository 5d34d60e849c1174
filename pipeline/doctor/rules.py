"""The rule packs, installed ones and the person's own, load whole."""

from pipeline.classify import packs
from pipeline.doctor.finding import Finding, ok, red
from pipeline.doctor.scene import Scene
from pipeline.errors import RuleError
from pipeline.masking.packs import table


def loaded(scene: Scene) -> Finding:
    """One broken pack stops every run, so it must not wait for the night to be found."""
    try:
        rules = packs.load(scene.config.rule_folders)
        table()
    except RuleError as error:
        return red(error.message, "twice-told rules check")
    return ok(f"{sum(1 for _ in packs.rules(rules))} rules")
