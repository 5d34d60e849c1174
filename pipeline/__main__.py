"""`python -m pipeline`, also with the two command lines of the original description."""

import sys

from pipeline.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
