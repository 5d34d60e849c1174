"""The digest that the doctor expects is kept by hand."""

from pipeline.doctor.wired import HOOK_SHA256, digest
from pipeline.install import line


def test_the_shipped_digest_is_that_of_the_hook() -> None:
    """When this fails, the hook was changed: put what is found into pipeline/doctor/wired.py."""
    assert digest(line.HOOK.parent) == HOOK_SHA256
