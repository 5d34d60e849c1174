"""Remembers forgotten turns, so that they never come back, without telling what they were."""

import hashlib
import hmac
import secrets
from collections.abc import Sequence

from pipeline.cases.store import Store


def tombstone_key(store: Store) -> bytes:
    """The secret under which forgotten turns are remembered; made at first use."""
    found = store.rows("SELECT value FROM meta WHERE name = 'tombstone_key'")
    if found:
        return bytes.fromhex(found[0][0])
    secret = secrets.token_bytes(32)
    store.con.execute("INSERT INTO meta VALUES ('tombstone_key', ?)", [secret.hex()])
    return secret


def tombstone(secret: bytes, key: str) -> str:
    """The mark of a forgotten turn: nobody without the secret can tell what it stood for."""
    message = key.encode("utf-8", "surrogatepass")
    return hmac.new(secret, message, hashlib.sha256).hexdigest()


def buried_keys(store: Store, keys: Sequence[str]) -> frozenset[str]:
    """Those of the keys that were forgotten and must not come back."""
    marks = {row[0] for row in store.rows("SELECT mark FROM tombstones")}
    if not marks:
        return frozenset()
    secrets_known = [
        bytes.fromhex(row[0])
        for row in store.rows("SELECT value FROM meta WHERE starts_with(name, 'tombstone_key')")
    ]
    return frozenset(
        key for key in keys if any(tombstone(secret, key) in marks for secret in secrets_known)
    )
