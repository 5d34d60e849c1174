"""`cases`: a plain listing for scripts."""

from typing import Any

from pipeline.records import Case


def as_json(case: Case) -> dict[str, Any]:
    """The shape that scripts rely on."""
    return {
        "id": case.id,
        "at": case.at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "day": case.day.isoformat(),
        "session": case.session,
        "repo": case.repo,
        "type": case.type.value,
        "source": case.source.value,
        "state": case.state,
        "decided_by": case.decided_by,
        "rule_id": case.rule_id,
        "text": case.text,
        "action": {"tool": case.tool, "gist": case.gist},
        "kind": case.kind.value,
    }
