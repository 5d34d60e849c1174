"""Check digits: one right value and its nearest wrong neighbours."""

import pytest

from pipeline.masking import validators

CASES = [
    ("luhn", "4111 1111 1111 1111", True),
    ("luhn", "4111 1111 1111 1112", False),
    ("luhn", "0000000000000000", False),
    ("luhn", "4111", False),
    ("iban", "DE89 3704 0044 0532 0130 00", True),
    ("iban", "DE89 3704 0044 0532 0130 01", False),
    ("iban", "DE89 3704 0044 0532 0130", False),
    ("iban", "ZZ89370400440532013000", False),
    ("iban", "NO9386011117947", True),
    ("ip", "203.0.113.77", True),
    ("ip", "2001:db8::1", True),
    ("ip", "127.0.0.1", False),
    ("ip", "0.0.0.0", False),
    ("ip", "255.255.255.0", False),
    ("ip", "1.2.3.4", False),
    ("ip", "300.1.2.3", False),
    ("ip", "::1", False),
    ("rrn", "901231-1234567", True),
    ("rrn", "901331-1234567", False),
    ("rrn", "901231-9234567", False),
    ("rrn", "9012311234567", False),
    ("rrn", "9012311234563", True),
    ("china_id", "11010519491231002X", True),
    ("china_id", "110105194912310021", False),
    ("cpf", "529.982.247-25", True),
    ("cpf", "529.982.247-26", False),
    ("cpf", "111.111.111-11", False),
    ("phone", "+1 415 555 0132", True),
    ("phone", "1111111111", False),
    ("phone", "1234567", False),
    ("mixed", "a1b2c3d4e5f6g7h8", True),
    ("mixed", "abcdefghijklmnop", False),
    ("mixed", "aaaaaaaaaaaaaaa1", False),
]


@pytest.mark.parametrize(("name", "value", "wanted"), CASES, ids=[f"{n}-{v}" for n, v, _ in CASES])
def test_validator(name: str, value: str, wanted: bool) -> None:
    assert validators.BY_NAME[name](value) is wanted
