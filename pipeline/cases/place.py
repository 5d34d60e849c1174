"""Where a store may lie: on a local disk with room, in a folder that is ours alone."""

import os
import re
import shutil
from pathlib import Path

from pipeline.errors import StoreError

REMOTE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "fuse.sshfs"}
)
"""File systems on which DuckDB's lock names no holder or does not hold at all."""
ROOM_BYTES = 64 << 20
MOUNTS = Path("/proc/self/mountinfo")


def check(folder: Path, mounts: Path = MOUNTS) -> None:
    """Raises StoreError, with the next step, before anything is written in a bad place."""
    system = file_system(folder, mounts)
    if system in REMOTE_SYSTEMS:
        raise StoreError(
            f"{folder} lies on a network file system ({system}), where locks do not hold",
            "choose a home on a local disk with --home or TWICE_TOLD_HOME",
        )
    free = shutil.disk_usage(folder).free
    if free < ROOM_BYTES:
        raise StoreError(
            f"only {free >> 20} MiB are free where {folder} lies, {ROOM_BYTES >> 20} are needed",
            "free some space; nothing was read or changed",
        )


def file_system(folder: Path, mounts: Path = MOUNTS) -> str:
    """The type of the file system that holds a folder (Linux), "" where it cannot be told."""
    try:
        table = mounts.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    path = os.path.realpath(folder)
    best, found = -1, ""
    for line in table.splitlines():
        left, separator, right = line.partition(" - ")
        fields = left.split()
        if not separator or len(fields) < 5:
            continue
        point = re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), fields[4])
        if len(point) > best and (path == point or path.startswith(point.rstrip("/") + "/")):
            best, found = len(point), right.split()[0]
    return found
