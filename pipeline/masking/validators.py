"""Second looks that a pattern cannot take: check digits, ranges, dates. Value in, verdict out."""

import ipaddress
import math
from collections import Counter
from collections.abc import Callable, Mapping

_IBAN_LENGTHS = dict.fromkeys(("NO",), 15) | {
    country: length
    for length, countries in (
        (16, "BE"),
        (18, "DK FI FO GL NL SD"),
        (19, "MK SI"),
        (20, "AT BA EE KZ LT LU XK"),
        (21, "CH CR HR LI LV UA"),
        (22, "BG BH DE GB GE IE ME RS VA"),
        (23, "AE GI IL IQ TL OM"),
        (24, "AD CZ ES MD PK RO SA SE SK TN VG"),
        (25, "LY PT ST"),
        (26, "IS TR"),
        (27, "BI DJ FR GR IT MC MR SM"),
        (28, "AL AZ BY CY DO GT HU LB NI PL SV"),
        (29, "BR EG PS QA UA"),
        (30, "JO KW MU YE"),
        (31, "MT SC"),
        (32, "LC"),
        (33, "RU"),
    )
    for country in countries.split()
}
"""SWIFT's IBAN registry, release 98 (2024): total length by country."""
_RANDOM_BITS = 3.0
"""Bits a character from which a value looks drawn, not named; English words joined stay below."""


def luhn(value: str) -> bool:
    """A payment card: 13 to 19 digits of a known network whose check digit holds."""
    digits = [int(c) for c in value if c.isdigit()]
    doubled = [sum(divmod(2 * d, 10)) for d in digits[-2::-2]]
    return (
        13 <= len(digits) <= 19
        and digits[0] in (2, 3, 4, 5, 6)
        and len(set(digits)) > 1
        and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
    )


def iban(value: str) -> bool:
    """ISO 13616: the country's length, and the remainder by 97 is 1."""
    plain = "".join(c for c in value if c.isalnum()).upper()
    if _IBAN_LENGTHS.get(plain[:2]) != len(plain):
        return False
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


def ip(value: str) -> bool:
    """An address of a machine: not loopback or a mask, and not four small numbers of a version."""
    try:
        address = ipaddress.ip_address(value)
    except ValueError:
        return False
    if address.is_loopback or address.is_unspecified or value.startswith("255."):
        return False
    return address.version == 6 or any(int(part) > 9 for part in value.split("."))


def rrn(value: str) -> bool:
    """A Korean resident number: a date, a sex digit; without a hyphen the check digit too.

    The check digit is random since October 2020, so the hyphen is enough where it stands; without
    one, thirteen digits are usually a time in milliseconds.
    """
    digits = [int(c) for c in value if c.isdigit()]
    month, day = digits[2] * 10 + digits[3], digits[4] * 10 + digits[5]
    if not (len(digits) == 13 and 1 <= month <= 12 and 1 <= day <= 31 and 1 <= digits[6] <= 8):
        return False
    weights = (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)
    check = (11 - sum(w * d for w, d in zip(weights, digits, strict=False)) % 11) % 10
    return "-" in value or check == digits[12]


def china_id(value: str) -> bool:
    """A Chinese resident number: GB 11643, remainder by 11 with X for ten."""
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    total = sum(w * int(d) for w, d in zip(weights, value, strict=False))
    return "10X98765432"[total % 11] == value[17].upper()


def cpf(value: str) -> bool:
    """A Brazilian taxpayer number: two check digits by 11."""
    digits = [int(c) for c in value if c.isdigit()]
    if len(digits) != 11 or len(set(digits)) == 1:
        return False
    for n in (9, 10):
        total = sum((n + 1 - i) * digits[i] for i in range(n))
        if total * 10 % 11 % 10 != digits[n]:
            return False
    return True


def phone(value: str) -> bool:
    """As many digits as a telephone number has (E.164 allows 15), and no row of one digit."""
    digits = [c for c in value if c.isdigit()]
    return 8 <= len(digits) <= 15 and len(set(digits)) > 2


def mixed(value: str) -> bool:
    """Drawn at random: letters of one case or both among digits, many different ones."""
    kinds = any(c.isdigit() for c in value) + any(c.isalpha() for c in value)
    return kinds == 2 and _bits(value) >= _RANDOM_BITS


def _bits(value: str) -> float:
    """Shannon entropy a character."""
    counts = Counter(value).values()
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts)


BY_NAME: Mapping[str, Callable[[str], bool]] = {
    check.__name__: check for check in (luhn, iban, ip, rrn, china_id, cpf, phone, mixed)
}
"""The names that `validator` may hold in rules/mask/."""
