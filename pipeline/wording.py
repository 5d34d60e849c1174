"""Words of the screens that depend on figures."""


def counted(number: int, what: str) -> str:
    """`1 case`, `2 cases`."""
    return f"{number} {what}{'s' * (number != 1)}"
