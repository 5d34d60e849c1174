"""Prompts as files: TOML between `+++` lines, then the parts `# system` and `# user`."""

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pipeline import resources
from pipeline.errors import ModelError

_FILE = re.compile(r"\+\+\+\n(.*?)\n\+\+\+\n# system\n(.*)\n# user\n(.*)\Z", re.DOTALL)
_INPUT = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt."""

    id: str
    version: int
    inputs: frozenset[str]
    schema: Mapping[str, Any]
    """JSON schema of the answer."""
    system: str
    user: str
    digest: str
    """16 hex digits over the file."""

    def asking(self, **inputs: str) -> str:
        """The user's part with its inputs, which may hold braces. Raises ModelError when one is
        missing or foreign."""
        if inputs.keys() != self.inputs:
            names = ", ".join(sorted(self.inputs ^ inputs.keys()))
            raise ModelError(f"prompt {self.id}: missing or foreign input: {names}", "report this")
        return _INPUT.sub(lambda found: inputs[found[1]], self.user)


@cache
def load(name: str, folder: Path | None = None) -> Prompt:
    """Reads `<name>.md`. Raises ModelError for a file that is gone or broken."""
    path = (folder or resources.folder("prompts")) / f"{name}.md"
    try:
        text = path.read_text(encoding="utf-8")
        found = _FILE.match(text)
        if found is None:
            raise ValueError("the parts are not there")
        head = tomllib.loads(found[1])
        prompt = Prompt(
            head["id"], int(head["version"]), frozenset(head["inputs"]),
            json.loads(head["schema"]), found[2].strip(), found[3].strip(),
            hashlib.sha256(text.encode()).hexdigest()[:16],
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path} is no prompt", "install twice-told again") from error
    if prompt.id != name or set(_INPUT.findall(prompt.user)) != prompt.inputs:
        raise ModelError(f"{path}: id and inputs do not fit its text", "install twice-told again")
    return prompt
