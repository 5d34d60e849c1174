"""Who has the last word on a case: a person, then a rule, then the judge. As parts of queries.

A verdict of the judge counts as long as the case says what it was about.
"""

from pipeline.cases.store import Store

RULED = "LEFT JOIN rulings AS k ON k.id = c.id LEFT JOIN judged AS j ON j.id = c.id"
"""Joins to `cases AS c` all who may have the last word: a person, then a rule, then the judge."""
TYPE = "coalesce(k.type, CASE WHEN c.type = 'other' THEN j.type END, c.type)"
STATE = """coalesce(k.state,
    CASE WHEN c.type = 'other' AND j.outcome = 'doubtful' THEN 'doubtful' END, 'open')"""
DECIDED_BY = """CASE WHEN k.type IS NOT NULL THEN 'person' WHEN c.type <> 'other' THEN 'rule'
    WHEN j.type IS NOT NULL THEN 'judge' END"""
WORDS = "sha256(concat_ws(chr(31), c.text, c.tool, c.gist, c.said))"
"""Names all that a case says; masked text holds no control."""


def drop_stale_verdicts(store: Store, which: str = "true") -> None:
    """A verdict of the judge falls with the words it was about. `which`: a condition on cases."""
    store.con.execute(
        f"DELETE FROM judged USING cases AS c"
        f" WHERE c.id = judged.id AND judged.words <> {WORDS} AND {which}"
    )
