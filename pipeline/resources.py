"""Where the data that travels with the code lies: rules, prompts, cron files."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def folder(kind: str) -> Path:
    """The folder `rules`, `prompts` or `cron`: inside an installed wheel, else of the checkout."""
    packaged = _PACKAGE / "_data" / kind
    return packaged if packaged.is_dir() else _PACKAGE.parent / kind


def checkout() -> Path | None:
    """The checkout that the running package was installed from (editable), or None for a wheel."""
    top = _PACKAGE.parent
    return top if (top / "pyproject.toml").is_file() and (top / "rules").is_dir() else None
