"""`claude -p` (2.1.332, November 2026) for those who have a subscription, one case a call.

No tools, no settings, no hooks, no memory, nothing kept; an empty folder that the miner never
reads; an environment without keys, since a key would be billed in place of the subscription. The
case goes in on standard input. Only `structured_output` is an answer: a limit that is reached comes
as prose with code 0. Code 1 comes with what the API refuses or does not answer, a missing login,
but also with a refusal of the model and with answers that do not fit the schema.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from pipeline.config import JudgeConfig
from pipeline.judge.labels import Silence
from pipeline.judge.pool import answered
from pipeline.judge.request import Desk, Reply, Request, json_object, message_reply

PROGRAM = "claude"
KEPT = frozenset({
    "HOME", "PATH", "CLAUDE_CONFIG_DIR", "USER", "LOGNAME", "SHELL", "LANG", "TMPDIR",
    "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
})  # fmt: skip
"""Of our environment: where it lives and how it reaches the network."""
BOUNDS = {
    "CLAUDE_CODE_MAX_RETRIES": "1",
    "MAX_STRUCTURED_OUTPUT_RETRIES": "1",
    "DISABLE_AUTOUPDATER": "1",
}
THREADS = 2
SLACK_SECONDS = 10.0
ENOUGH_FAILURES = 3
"""So many in a row are no accident: a limit is reached, perhaps."""
NO_FIT = "error_max_structured_output_retries"
"""How the program calls it when no answer of the model fits the schema."""
BAD_REQUEST = 400
"""The one status that says something of the question."""


class Client:
    """Starts the program once for each question."""

    def __init__(self, config: JudgeConfig, folder: Path, environ: Mapping[str, str]) -> None:
        self.share = config.price_share
        self._config = config
        self._folder = folder
        self._environ = washed(environ, config)
        self._program = shutil.which(PROGRAM, path=environ.get("PATH"))
        self._running: set[subprocess.Popen[bytes]] = set()
        self._closed = False
        self._failures = 0
        self._lock = threading.Lock()

    def ask(self, requests: Iterable[Request], desk: Desk) -> Iterator[list[Reply]]:
        """Replies as they arrive."""
        return answered(requests, self._ask, self._config.timeout_seconds + SLACK_SECONDS, THREADS)

    def earlier(self, desk: Desk) -> Iterator[list[Reply]]:
        """Nothing is ever left under way."""
        return iter(())

    def close(self) -> None:
        """Ends what still runs, with all that it started. Nothing more is started."""
        with self._lock:
            self._closed = True
            for process in self._running:
                _kill(process)

    def _ask(self, request: Request) -> Reply:
        if self._program is None:
            return Reply(request.name, Silence.FAILED, 0, stop=f"no {PROGRAM} on the PATH",
                         blameless=True)  # fmt: skip
        code, output = self._run([self._program, *arguments(request)], request.user)
        reply = read(request.name, code, output)
        with self._lock:
            self._failures = self._failures + 1 if reply.answer is Silence.FAILED else 0
            enough = self._failures >= ENOUGH_FAILURES
        if enough and not reply.stop:
            return replace(reply, stop=f"{PROGRAM} -p gave no answers")
        return reply

    def _run(self, command: list[str], text: str) -> tuple[int | None, bytes]:
        """Code and output; no code when the time was over, or nothing is to be started."""
        try:
            process = self._started(command)
        except OSError as error:
            return error.errno or 1, b""
        if process is None:
            return None, b""
        try:
            output, _ = process.communicate(text.encode(), self._config.timeout_seconds)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            return None, b""
        finally:
            _kill(process)
            with self._lock:
                self._running.discard(process)

    def _started(self, command: list[str]) -> "subprocess.Popen[bytes] | None":
        """None after `close`, which must know of all that it has to end. Raises OSError."""
        with self._lock:
            if self._closed:
                return None
            process = subprocess.Popen(
                command,
                cwd=self._folder,
                env=self._environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            self._running.add(process)
            return process


def arguments(request: Request) -> list[str]:
    """The words behind the program's name: ours alone."""
    return [
        "-p", "--model", request.model.id, "--system-prompt", request.system, "--tools", "",
        "--safe-mode", "--no-session-persistence", "--json-schema", json.dumps(request.schema),
        "--output-format", "json", "--effort", "low",
    ]  # fmt: skip


def washed(environ: Mapping[str, str], config: JudgeConfig) -> dict[str, str]:
    """What the program sees. A gateway that the settings name gets the token that they name."""
    kept = {name: value for name, value in environ.items() if name in KEPT or name[:3] == "LC_"}
    if config.compatible:
        kept |= {
            "ANTHROPIC_BASE_URL": config.base_url,
            "ANTHROPIC_AUTH_TOKEN": environ.get(config.key_env, ""),
        }
    return kept | BOUNDS


def read(name: str, code: int | None, output: bytes) -> Reply:
    """What it printed: tokens count whatever else it says. Where it ended over anything but the
    model's answer, nothing more is to be asked."""
    result = json_object(output) or {}
    said = message_reply(name, {part: result.get(part) for part in ("usage", "stop_reason")})
    said = replace(said, unheard=said.answer is Silence.FAILED and not said.tokens_out)
    answer = result.get("structured_output")
    if code == 0 and result.get("is_error") is False and isinstance(answer, dict):
        return replace(said, answer=answer, unheard=False)
    if not code or said.answer is Silence.REFUSED or result.get("subtype") == NO_FIT:
        return said
    status = result.get("api_error_status")
    told = f" (status {status})" if isinstance(status, int) else ""
    return replace(
        said, stop=f"{PROGRAM} -p ended with {code}{told}", blameless=status != BAD_REQUEST
    )


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """With its whole group; it may be gone already."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(1)
