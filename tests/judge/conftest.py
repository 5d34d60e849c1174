"""A home with undecided cases, a made-up server, and nights with the judge."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pipeline.cases import read
from pipeline.cases.store import open_reader
from pipeline.commands.writing import working
from pipeline.config import Backend as Name
from pipeline.config import Config, JudgeConfig
from pipeline.judge import night
from pipeline.judge.backends.api import Api
from pipeline.judge.backends.batch import Batch
from pipeline.judge.labels import is_control
from pipeline.judge.night import Judged
from pipeline.judge.request import Backend
from pipeline.records import Case
from tests.collect.homes import cases, put, run, talk
from tests.judge.server import Plan, Server
from tests.transcripts.builders import config as settings

KEY = "made-up-key"
NIGHT = datetime(2026, 6, 1, 3, 17, tzinfo=UTC)
THINGS = (
    "lantern", "kite", "harbour", "ferry", "lighthouse", "anchor", "sail", "tide", "bridge", "pier",
    "gull", "rope", "mast", "buoy", "canal", "delta", "island", "jetty", "keel", "lagoon",
)  # fmt: skip


def undecided(number: int) -> str:
    """A message that the rules leave as `other`."""
    again = f" of part {number // len(THINGS)}" if number >= len(THINGS) else ""
    return f"Why did you rename the {THINGS[number % len(THINGS)]}{again}?"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The Claude folder."""
    return tmp_path / "claude"


@pytest.fixture
def config(tmp_path: Path, root: Path) -> Config:
    return settings(root, home=tmp_path / "home")


@dataclass
class Court:
    """A home, a server, and one night after the other."""

    config: Config
    root: Path
    server: Server
    nights: int = 0

    def ask(self, number: int, begin: int = 0) -> None:
        """So many undecided cases more, in one session."""
        texts = [undecided(n) for n in range(begin, begin + number)]
        put(self.root, f"s{begin}", talk(f"s{begin}", *texts, seconds=3600 * begin))
        run(self.config)
        assert [case.type.value for case in self.cases()].count("other") >= number

    def set(self, **fields: object) -> None:
        self.config = replace(self.config, judge=replace(self.config.judge, **fields))  # type: ignore[arg-type]

    def backend(self) -> Backend:
        """With short waits."""
        if self.config.judge.backend is Name.BATCH:
            return Batch(self.config.judge, KEY, patience_seconds=0.0, poll_seconds=0.01)
        return Api(self.config.judge, KEY, backoff_seconds=0.01)

    def night(self, later: bool = True, until: datetime | None = None) -> Judged:
        """The next night, or one more run of the same."""
        self.nights += later
        now = NIGHT + timedelta(days=self.nights)
        with working(self.config) as writer:
            return night.judge(writer, self.config, self.backend(), now, until)

    def cases(self) -> list[Case]:
        return cases(self.config)

    def one(self) -> Case:
        (case,) = self.cases()
        return case

    def stored(self, query: str) -> list[tuple[object, ...]]:
        """Rows straight from the store."""
        with open_reader(self.config.local_cases) as store:
            assert store is not None
            return store.rows(query)

    def history(self, case: Case) -> list[tuple[str, str | None, str]]:
        with open_reader(self.config.local_cases) as store:
            assert store is not None
            return [(by, kind, rule) for _, by, kind, rule in read.history(store, case.id)]


Serve = Callable[[Plan], Court]


@pytest.fixture
def court(config: Config, root: Path) -> Iterator[Serve]:
    """Opens one with a server that follows a plan."""
    servers: list[Server] = []

    def serve(plan: Plan) -> Court:
        server = Server(plan)
        servers.append(server)
        judge = JudgeConfig(
            enabled=True, backend=Name.API, base_url=server.url, max_usd=1000.0, max_cases=10_000,
            timeout_seconds=20.0,
        )  # fmt: skip
        server.price = {m.id: (m.usd_in, m.usd_out) for m in (judge.first, judge.second)}
        return Court(replace(config, judge=judge), root, server)

    yield serve
    for server in servers:
        server.close()


def controls(cases: list[Case]) -> set[str]:
    """Those that the second model sees in any case."""
    return {case.id for case in cases if is_control(case.id)}
