"""Starts the hook from its compiled form: compiling it at every prompt would cost a fifth more."""

import sys

sys.path.insert(0, __file__.rpartition("/")[0])
from hook import start  # type: ignore[import-not-found]

del sys.path[0]
start()
