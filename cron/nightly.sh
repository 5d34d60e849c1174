#!/bin/sh
# The night, as cron, systemd and launchd start it:
#
#     sh nightly.sh PYTHON HOME [more words for `twice-told nightly`]
#
# PYTHON is the interpreter of twice-told's environment, HOME the folder of cases and settings. It
# asks nothing of its caller: no PATH, HOME, USER, locale or terminal. What is missing is taken from
# the account and named in the log, <HOME>/local_cases/runs/nightly.log (two files of 512 kB at most,
# plus one night). Nothing is printed unless the night fails; its exit code is passed on: 75 means
# that another run is at work, which is no failure.

set -u
umask 077
exec </dev/null

python=${1-} home=${2-}
if [ -z "$python" ] || [ -z "$home" ]; then
    echo "usage: sh nightly.sh PYTHON HOME [words for 'twice-told nightly']" >&2
    exit 2
fi
shift 2

missing=
for name in PATH HOME USER LANG; do
    # A shell sets PATH for itself when it got none; only `export` tells whether it got one.
    eval "value=\${$name-}"
    case $(export -p) in
        *"export $name="* | *"-x $name="*) [ -n "$value" ] || missing="$missing $name" ;;
        *) missing="$missing $name" ;;
    esac
done
PATH=${PATH:+$PATH:}/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin
USER=${USER:-$(id -un)}
LOGNAME=${LOGNAME:-$USER}
LC_ALL=C.UTF-8
LANG=C.UTF-8
export PATH USER LOGNAME LC_ALL LANG
# Settings come from the words above, and Python's own from nobody.
unset PYTHONHOME PYTHONPATH PYTHONSTARTUP PYTHONINSPECT PYTHONWARNINGS PYTHONIOENCODING \
    PYTHONOPTIMIZE PYTHONDEBUG PYTHONVERBOSE PYTHONPLATLIBDIR PYTHONSAFEPATH \
    TWICE_TOLD_HOME CLAUDE_CONFIG_DIR CDPATH

folder=$home/local_cases/runs
log=$folder/nightly.log
if ! mkdir -p "$folder" || ! : >>"$log"; then
    printf 'twice-told: the night cannot write %s\n' "$log" >&2
    exit 3
fi
size=$(wc -c <"$log")
if [ "$size" -gt 524288 ]; then
    mv -f "$log" "$log.1"
fi

say() { printf '%s %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$1" >>"$log"; }

fail() {
    say "$2"
    printf 'twice-told: %s; see %s\n' "$2" "$log" >&2
    exit "$1"
}

say "the night begins"
if [ -n "$missing" ]; then
    say "preflight: missing from the environment:$missing; taken from the account or a default"
fi
if ! command -v git >/dev/null; then
    say "preflight: git is missing; repositories are told by their folders alone"
fi
# The package stands beside this folder in a checkout, around it in an installed wheel.
here=$(cd -P -- "$(dirname -- "$0")" && pwd)
root=$(dirname -- "$here")
if [ ! -f "$root/pipeline/__main__.py" ]; then
    root=$(dirname -- "$(dirname -- "$root")")
fi
if [ ! -f "$root/pipeline/__main__.py" ]; then
    fail 3 "preflight: no package 'pipeline' beside $here; run 'twice-told install schedule' again"
fi
if ! [ -x "$python" ] || ! "$python" -I -S -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    fail 3 "preflight: $python is missing or no Python 3.11; run 'twice-told install schedule' again"
fi
if [ -z "${HOME-}" ] || ! [ -d "$HOME" ]; then
    HOME=$("$python" -I -S -c 'import os, pwd; print(pwd.getpwuid(os.getuid()).pw_dir)') || HOME=/
fi
export HOME PYTHONPATH="$root" PYTHONUTF8=1

# A night's words are kept to their last 64 kB; the exit code goes around the pipe on its own way.
cd / || exit 3
code=$(
    exec 3>&1
    {
        "$python" -P -m pipeline nightly --quiet --no-color --home "$home" "$@" 2>&1 3>&-
        echo $? >&3
    } | tail -c 65536 >>"$log"
)
case $code in
    0) say "the night ended well" ;;
    75) say "another run is at work (75)" ;;
    [0-9]*) fail "$code" "the night ended with $code" ;;
    *) fail 3 "the night ended without an exit code" ;;
esac
exit "$code"
