"""Is the hook's compiled file what its source compiles to? `python -I -S pyc.py FOLDER`

A script of its own: damaged bytes bring the interpreter that loads them down. Ends with 0 when the
file is sound, is missing, or is so old that a prompt compiles the source anew; else otherwise.
"""

import marshal
import sys
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from types import CodeType

HEADER_BYTES = 16
"""Magic number, flags, and time and size of the source, four bytes each (PEP 552)."""


def is_sound(source: Path) -> bool:
    """Nothing but the source itself can run in its place."""
    name = f"{source.stem}.{sys.implementation.cache_tag}.pyc"
    try:
        found = (source.parent / "__pycache__" / name).read_bytes()
    except FileNotFoundError:
        return True
    if not _is_taken(found[:HEADER_BYTES], source):
        return True
    loaded = marshal.loads(found[HEADER_BYTES:])
    anew = compile(source.read_bytes(), loaded.co_filename, "exec", dont_inherit=True, optimize=0)
    return _parts(loaded) == _parts(anew)


def _is_taken(header: bytes, source: Path) -> bool:
    """An import would load it. With flags it depends on no time, and perhaps on nothing at all."""
    magic, flags, made_for = header[:4], header[4:8], header[8:]
    stat = source.stat()
    stamps = (int(stat.st_mtime), stat.st_size)
    of_source = b"".join((n & 0xFFFFFFFF).to_bytes(4, "little") for n in stamps)
    return magic == MAGIC_NUMBER and (any(flags) or made_for == of_source)


def _parts(code: CodeType) -> list[object]:
    """All that a code object consists of; its bytes on disk also tell who else held its names.

    `co_code` hides what a run may have put in (3.11 to 3.14); the other of that name shows it.
    """
    begins = ("co_", "_co_code")
    fields = [name for name in dir(code) if name.startswith(begins) and name != "co_lnotab"]
    values = [getattr(code, name) for name in fields if name != "co_consts"]
    plain = [repr(value) for value in values if not callable(value)]
    return plain + [_parts(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]


if __name__ == "__main__":
    sys.exit(not is_sound(Path(sys.argv[1]) / "hook.py"))
