"""Settings: flags over environment over file over defaults; what is unknown is an error."""

from pathlib import Path

import pytest

from pipeline import config
from pipeline.cases.store import open_writer
from pipeline.errors import ConfigError


def load(home: Path, text: str = "", **environ: str) -> config.Config:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(text, encoding="utf-8")
    return config.load(home=home, environ={"HOME": str(home), **environ})


def test_defaults(tmp_path: Path) -> None:
    found = load(tmp_path)
    assert found.home == tmp_path
    assert found.claude_dirs == (tmp_path / ".claude",)
    assert (found.include_headless, found.noticed, found.exclude) == (False, True, ())
    assert found.local_cases == tmp_path / "local_cases"
    assert found.judge_folder == tmp_path / "local_cases" / "judge"


def test_file(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        'claude_dirs = ["/a", "~/b", "/a"]\ntimezone = "Asia/Kathmandu"\ninclude_headless = true\n'
        'noticed = false\nexclude = ["/x/../y/", "/z"]\n',
    )
    assert found.claude_dirs == (Path("/a"), Path("~/b").expanduser())
    assert found.timezone.key == "Asia/Kathmandu"
    assert (found.include_headless, found.noticed) == (True, False)
    assert found.exclude == ("/y", "/z")


def test_order_of_claude_folders(tmp_path: Path) -> None:
    text = 'claude_dirs = ["/file"]'
    environ = {"CLAUDE_CONFIG_DIR": "/environment", "HOME": str(tmp_path)}
    (tmp_path / "config.toml").write_text(text, encoding="utf-8")
    flags = config.load(home=tmp_path, claude_dirs=[Path("/flag")], environ=environ)
    assert flags.claude_dirs == (Path("/flag"),)
    assert config.load(home=tmp_path, environ=environ).claude_dirs == (Path("/file"),)
    (tmp_path / "config.toml").unlink()
    assert config.load(home=tmp_path, environ=environ).claude_dirs == (Path("/environment"),)


@pytest.mark.parametrize(
    "names", [(".claude",), (".config/claude",), (".claude", ".config/claude")]
)
def test_the_usual_folders(tmp_path: Path, names: tuple[str, ...]) -> None:
    for name in names:
        (tmp_path / name).mkdir(parents=True)
    assert load(tmp_path).claude_dirs == tuple(tmp_path / name for name in names)


def test_home_by_environment(tmp_path: Path) -> None:
    found = config.load(environ={"HOME": str(tmp_path), "TWICE_TOLD_HOME": str(tmp_path / "t")})
    assert found.home == tmp_path / "t"


def test_home_flag_over_environment(tmp_path: Path) -> None:
    found = config.load(home=tmp_path, environ={"TWICE_TOLD_HOME": "/elsewhere", "HOME": "/h"})
    assert found.home == tmp_path


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a?b", "holds a ?"),
        ("a\\b", "holds a \\"),
        ("a?/b", "holds a ?"),
        ("\x1b[2J\u202e?", "a ?"),
    ],
    ids=["question-mark", "backslash", "above", "terminal-controls"],
)
@pytest.mark.parametrize("by", ["flag", "environment", "data-folder"])
def test_homes_in_which_no_store_can_lie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str, by: str
) -> None:
    """DuckDB takes such a path for another one."""
    home = tmp_path / name
    environ = {"HOME": str(tmp_path)}
    if by == "environment":
        environ["TWICE_TOLD_HOME"] = str(home)
    elif by == "data-folder":
        monkeypatch.setattr(config.resources, "checkout", lambda: None)
        environ["XDG_DATA_HOME"] = str(home)
    with pytest.raises(ConfigError) as refused:
        config.load(home=home if by == "flag" else None, environ=environ)
    assert said in refused.value.message
    assert "--home" in refused.value.hint
    assert (refused.value.message + refused.value.hint).isprintable()
    assert not home.exists()


def test_a_link_to_such_a_home(tmp_path: Path) -> None:
    (tmp_path / "a?b").mkdir()
    (tmp_path / "link").symlink_to("a?b")
    with pytest.raises(ConfigError, match=r"/a\?b' holds a"):
        config.load(home=tmp_path / "link", environ={"HOME": str(tmp_path)})


@pytest.mark.parametrize("name", ['it\'s "mine"', "$x `y` %h", "*[a]{b}#;&|", "집/é", ":memory:"])
def test_other_odd_homes_hold_a_store(tmp_path: Path, name: str) -> None:
    found = config.load(home=tmp_path / name, environ={"HOME": str(tmp_path)})
    with open_writer(found.local_cases):
        pass
    assert (tmp_path / name / "local_cases" / "cases.duckdb").is_file()


@pytest.mark.parametrize(
    "text",
    [
        'time_zone = "UTC"',
        'timezone = "Mars/Olympus"',
        "timezone = 3",
        'noticed = "yes"',
        'claude_dirs = "/a"',
        "claude_dirs = [1]",
        'exclude = ["~no-such-user-here/x"]',
        "noticed = ",
        "\udcff",
    ],
    ids=[
        "unknown-key",
        "zone",
        "type",
        "string-for-bool",
        "string-for-list",
        "list-of-numbers",
        "no-such-user",
        "torn",
        "bad-utf-8",
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ConfigError) as refused:
        config.load(home=tmp_path, environ={"HOME": str(tmp_path)})
    assert refused.value.hint
    assert refused.value.exit_code == 3


def test_a_folder_for_a_file(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        config.load(home=tmp_path, environ={"HOME": str(tmp_path)})


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        config.load(home=tmp_path, file=tmp_path / "gone.toml", environ={"HOME": str(tmp_path)})


def test_no_real_home_is_read(own_home: Path) -> None:
    """The fixture of all tests: without arguments nothing of the person's is found."""
    found = config.load()
    assert found.home == own_home / "twice-told"
    assert found.claude_dirs == (own_home / "claude",)


def test_the_judge_is_off_and_asks_nobody(tmp_path: Path) -> None:
    found = load(tmp_path, ANTHROPIC_API_KEY="made-up").judge
    assert (found.enabled, found.backend, found.compatible) == (False, None, False)
    assert (found.base_url, found.key_env) == ("https://api.anthropic.com", "ANTHROPIC_API_KEY")
    assert (found.first.id, found.second.id) == ("claude-haiku-5-5", "claude-sonnet-5-5")
    assert (found.max_cases, found.max_usd) == (200, 0.5)


def test_the_judge_as_it_is_set_up(tmp_path: Path) -> None:
    text = (
        'noticed = false\n[judge]\nenabled = true\nbackend = "anthropic-batch"\nmax_usd = 2\n'
        'base_url = "http://127.0.0.1:8080/api/"\nkey_env = "MY_KEY"\nmax_cases = 5\n'
        'first_model = "small"\nfirst_usd_in = 1\nfirst_usd_out = 2.5\ntimeout_seconds = 9\n'
        'second_model = "claude-opus-5-5"\nsecond_usd_out = 21.0\n'
    )
    found = load(tmp_path, text, MY_KEY="secret").judge
    assert (found.enabled, found.backend, found.compatible) == (True, "anthropic-batch", True)
    assert (found.base_url, found.key_env) == ("http://127.0.0.1:8080/api", "MY_KEY")
    assert (found.max_cases, found.max_usd, found.timeout_seconds) == (5, 2.0, 9.0)
    assert found.first == config.Model("small", 1.0, 2.5)
    assert found.second == config.Model("claude-opus-5-5", 4.0, 21.0)
    assert "secret" not in repr(found)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("model = 'x'", "judge.model"),
        ("enabled = 1", "judge.enabled"),
        ("backend = 'openai'", "judge.backend"),
        ("first_model = 'small'", "first_model"),
        ("second_model = 'big'\nsecond_usd_in = 1", "second_model"),
        ("max_cases = -1", "judge.max_cases"),
        ("max_cases = true", "judge.max_cases"),
        ("max_cases = 1.5", "judge.max_cases"),
        ("max_usd = inf", "judge.max_usd"),
        ("max_usd = nan", "judge.max_usd"),
        ("max_usd = '1'", "judge.max_usd"),
        ("base_url = 'ftp://x'", "judge.base_url"),
        ("base_url = 'https://me:key@x'", "judge.base_url"),
        ("base_url = 'https://x/?a=b'", "judge.base_url"),
        ("base_url = 'http://[::1'", "judge.base_url"),
        ("base_url = 'http://x:99999999'", "judge.base_url"),
        ('base_url = "http://x/\\u00e9\\u0001"', "judge.base_url"),
        ("timeout_seconds = 0", "judge.timeout_seconds"),
        ("timeout_seconds = 1e308", "judge.timeout_seconds"),
        ("key_env = 'A=B'", "judge.key_env"),
        ("key_env = ''", "judge.key_env"),
    ],
)
def test_a_judge_that_is_refused(tmp_path: Path, line: str, named: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load(tmp_path, f"[judge]\n{line}\n")
    assert named in refused.value.message
    assert refused.value.hint


def test_an_unknown_key_of_a_table_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        load(tmp_path, "[judge]\nsecnd_model = 'x'\n")
    assert "second_model" in refused.value.hint
    with pytest.raises(ConfigError, match="judge must be a table"):
        load(tmp_path, "judge = true")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[judge]\nmax_usd = 1" + "0" * 400, "max_usd must be a number"),
        ("[judge]\nfirst_usd_in = 1" + "0" * 400, "first_usd_in must be a number"),
        ("[judge]\nmax_usd = -0.5", "max_usd must be a number, 0 or more"),
        ("[judge]\nmax_cases = 1.5", "max_cases must be a whole number, 0 or more"),
        ("[raise]\nmin_days = true", "min_days must be a whole number"),
        ("noticed = 'no'", "noticed must be true or false"),
        ("timezone = 3", "timezone must be a text in quotes"),
        ("exclude = " + "[" * 5000, "cannot be read"),
    ],
    ids=lambda text: text[-30:],
)
def test_what_a_value_must_be_is_told(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told) as refused:
        load(tmp_path, text)
    assert refused.value.hint


def test_a_named_file_below_the_users_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell leaves the ~ of `--config=~/x.toml` as it is."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "x.toml").write_text("noticed = false\n", encoding="utf-8")
    assert not config.load(tmp_path / "home", file=Path("~/x.toml")).noticed
