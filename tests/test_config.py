"""Where settings come from: the environment, and a file that the user names and nobody else can change."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr

from tests.command_line import Webrag, webrag  # noqa: F401
from webrag_core.config import Settings, load_settings
from webrag_core.corpus_home import announce_new, users_folder
from webrag_core.env_file import (
    RETIRED,
    RETIRED_IN_FILES,
    misspelt,
    tell_of_openai_key,
    warn_misspelt,
    warn_renamed,
    warn_retired,
    warn_stray,
)
from webrag_core.errors import InvalidInputError

NAMES = tuple(Settings.model_fields)


@pytest.fixture(autouse=True)
def _empty_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for warn in (warn_misspelt, warn_renamed, warn_retired, warn_stray):
        warn.cache_clear()


def settings_file(*lines: str, path: str = "my.env", mode: int = 0o600) -> Path:
    """Write a file of settings."""
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines))
    file.chmod(mode)
    return file


def named(monkeypatch: pytest.MonkeyPatch, *lines: str, mode: int = 0o600) -> None:
    """Name such a file in the environment."""
    monkeypatch.setenv("WEBRAG_ENV_FILE", str(settings_file(*lines, mode=mode)))


def refusal() -> str:
    with pytest.raises(InvalidInputError) as caught:
        load_settings()
    return caught.value.message


@pytest.mark.parametrize("path", [".env", ".webrag/.env"])
def test_a_file_of_the_working_directory_is_named_and_not_read(path: str, caplog: pytest.LogCaptureFixture) -> None:
    settings_file("WEBRAG_ALLOW_HOSTS=127.0.0.1:80", "DATABASE_URL=postgresql://elsewhere/", path=path)
    for _ in range(2):
        settings = load_settings()
    assert (settings.webrag_allow_hosts, settings.database_url) == ("", None)
    assert caplog.text.count(f"{Path(path).absolute()} is not read") == 1
    assert "`webrag --env-file FILE` or WEBRAG_ENV_FILE" in caplog.text


def test_a_relative_home_lies_in_the_working_directory(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings_file("MCP_PORT=1", path="data/.env")
    monkeypatch.setenv("WEBRAG_HOME", "data")
    assert load_settings().mcp_port == 8765
    assert "data/.env is not read" in caplog.text


def test_the_file_of_an_absolute_home_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    settings_file("MCP_PORT=1", path="data/.env")
    monkeypatch.setenv("WEBRAG_HOME", str(tmp_path / "data"))
    assert load_settings().mcp_port == 1
    named(monkeypatch, "MCP_PORT=2")
    assert load_settings().mcp_port == 2


def test_the_environment_and_arguments_win_over_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    named(monkeypatch, "mcp_port=1", "MCP_HOST=::1", "RERANKER_TOP_N=3")
    monkeypatch.setenv("MCP_HOST", "127.0.0.2")
    settings = load_settings(reranker_top_n=4)
    assert (settings.mcp_port, settings.mcp_host, settings.reranker_top_n) == (1, "127.0.0.2", 4)


def test_a_file_that_is_named_in_the_working_directory_is_not_stray(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("WEBRAG_ENV_FILE", str(settings_file("MCP_PORT=1", path=".env")))
    assert load_settings().mcp_port == 1
    assert not caplog.records


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_change_is_refused(mode: int, monkeypatch: pytest.MonkeyPatch) -> None:
    named(monkeypatch, "MCP_PORT=1", mode=mode)
    assert "my.env can be changed by other users and is not read: `chmod go-w` it" in refusal()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    named(monkeypatch, "MCP_PORT=1")
    os.chown("my.env", 65534, 65534)
    assert "my.env belongs to another user" in refusal()


def test_a_file_that_cannot_be_read_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBRAG_ENV_FILE", "none.env")
    assert "none.env cannot be read" in refusal()
    Path("latin.env").write_bytes(b"WEBRAG_USER_AGENT=\xe9")
    Path("latin.env").chmod(0o600)
    monkeypatch.setenv("WEBRAG_ENV_FILE", "latin.env")
    assert "latin.env cannot be read" in refusal()


@pytest.mark.parametrize(
    ("key", "endpoint"),
    [
        ("EMBEDDING_API_KEY", "EMBEDDING_BASE_URL"),
        ("FIRECRAWL_API_KEY", "FIRECRAWL_API_URL"),
        ("ORCHESTRATION_LLM_API_KEY", "ORCHESTRATION_LLM_BASE_URL"),
        ("RERANKER_API_KEY", "RERANKER_BASE_URL"),
    ],
)
def test_a_key_and_its_endpoint_come_from_one_place(key: str, endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {key: "secret-key", endpoint: "http://127.0.0.1:9/v1"}
    for in_file, in_environment in ((key, endpoint), (endpoint, key)):
        with monkeypatch.context() as patch:
            named(patch, f"{in_file}={values[in_file]}")
            patch.setenv(in_environment, values[in_environment])
            problem = refusal()
            assert f"{key} and {endpoint} are set in two places, the environment and my.env" in problem
            assert "secret-key" not in problem
            patch.setenv(in_file, values[in_file])  # the environment has both
            assert getattr(load_settings(), endpoint.lower()) == values[endpoint]
            patch.delenv(in_file)
            patch.setenv(in_environment, "")  # the file's alone
            load_settings()
    named(monkeypatch, *(f"{name}={value}" for name, value in values.items()))
    assert getattr(load_settings(), endpoint.lower()) == values[endpoint]


def test_a_misspelt_setting_is_reported_with_the_nearest_name(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("WEBRAG_MAXPAGES", "5")
    monkeypatch.setenv("EMBEDDING_FOO", "of another program")
    with caplog.at_level(logging.WARNING):
        assert load_settings().webrag_max_pages == 30
    assert "WEBRAG_MAXPAGES is no setting of WebRAG and is ignored; did you mean WEBRAG_MAX_PAGES?" in caplog.text
    assert "EMBEDDING_FOO" not in caplog.text


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("EMBEDING_API_KEY", "EMBEDDING_API_KEY"),
        ("EMBEDDING_URL", "EMBEDDING_BASE_URL"),
        ("RERANKER_URL", "RERANKER_BASE_URL"),
        ("ORCHESTRATION_LLM_KEY", "ORCHESTRATION_LLM_API_KEY"),
        ("FIRECRAWL_APIKEY", "FIRECRAWL_API_KEY"),
        ("RETRIEVAL_CONTEXTBUDGET", "RETRIEVAL_CONTEXT_BUDGET"),
        ("MCP_AUTHTOKEN", "MCP_AUTH_TOKEN"),
        ("DATABASE_URI", "DATABASE_URL"),
        ("DECOMPOSITON_MODE", "DECOMPOSITION_MODE"),
        ("webrag_hom", "WEBRAG_HOME"),
        ("WEBRAG_QUITE_ELSE", None),
    ],
)
def test_names_meant_as_settings_are_recognised(name: str, near: str | None) -> None:
    assert misspelt([name], NAMES) == {name: near}


def test_settings_and_names_of_other_programs_are_not_reported() -> None:
    ours = ["WEBRAG_HOME", "webrag_warc", "WEBRAG_PORT", "WEBRAG_ENV_FILE"]
    others = ["PATH", "HOME", "MCP_TIMEOUT", "POSTGRES_PASSWORD", "POSTGRES_URL", "DATABASE_HOST", "OPENAI_API_KEY"]
    assert misspelt([*ours, *others, "MAX_JOBS", "LOG_LEVEL", "HOST", "PORT"], NAMES) == {}


def test_a_name_of_ours_that_is_no_setting_is_an_error_in_a_file(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    named(monkeypatch, "RERANKER_TOPN=5")
    assert refusal() == "my.env: RERANKER_TOPN is no setting of WebRAG; did you mean RERANKER_TOP_N?"
    named(monkeypatch, "POSTGRES_PASSWORD=x", "WEBRAG_PORT=3000", "DATABASE_URI=x")  # compose reads the file as well
    load_settings()
    assert [record.getMessage() for record in caplog.records] == [
        "DATABASE_URI is no setting of WebRAG and is ignored; did you mean DATABASE_URL?"
    ]


@pytest.mark.parametrize("in_file", [False, True])
def test_the_fitted_router_gives_way_to_rules_with_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, in_file: bool
) -> None:
    if in_file:
        named(monkeypatch, "WEBRAG_ROUTER=model")
    else:
        monkeypatch.setenv("WEBRAG_ROUTER", "model")
    for _ in range(2):
        assert load_settings().webrag_router == "rules"
    assert [record.getMessage() for record in caplog.records] == [
        "WEBRAG_ROUTER=model is retired and is ignored: rules plan instead"
    ]


@pytest.mark.parametrize("name", sorted(RETIRED))
def test_a_setting_of_an_earlier_version_is_named_and_ignored(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    assert name.lower() not in NAMES
    named(monkeypatch, f"{name}=0.05")
    load_settings()
    warn_retired.cache_clear()
    monkeypatch.delenv("WEBRAG_ENV_FILE")
    monkeypatch.setenv(name.lower(), "0.05")
    load_settings()
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == [
        f"{name} is retired and is ignored",
        f"{name.lower()} is retired and is ignored",
    ]


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.parametrize("is_in_file", [False, True])
def test_an_earlier_name_of_a_setting_is_read_with_a_warning(
    is_in_file: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    if is_in_file:
        named(monkeypatch, "WEBRAG_OPEN_TO_MACHINE=1")
    else:
        monkeypatch.setenv("WEBRAG_OPEN_TO_MACHINE", "1")
    assert load_settings().webrag_serve_open
    assert [record.message for record in caplog.records] == ["WEBRAG_OPEN_TO_MACHINE is called WEBRAG_SERVE_OPEN now"]
    monkeypatch.setenv("WEBRAG_SERVE_OPEN", "0")
    assert not load_settings().webrag_serve_open


def test_the_command_line_reads_the_file_that_it_is_given(webrag: Webrag, tmp_path: Path) -> None:  # noqa: F811
    settings_file("WEBRAG_POLICY=none-such", path=".env")
    assert webrag("db", "url").returncode == 0
    done = webrag("--env-file", ".env", "answer", "https://site.example/", "Which words?")
    assert done.returncode == 2
    assert "none-such" in done.stderr
    assert "is not read" not in done.stderr


def test_a_user_has_one_corpus_unless_a_folder_has_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    users = tmp_path / "data" / "webrag"
    assert load_settings().webrag_home == users
    monkeypatch.setenv("WEBRAG_HOME", "")
    assert load_settings().webrag_home == users
    settings_file("MCP_PORT=1", path=str(users / ".env"))
    assert load_settings().mcp_port == 1
    Path(".webrag").mkdir()
    assert load_settings().webrag_home == Path(".webrag")
    assert load_settings().mcp_port == 8765, "the file belongs to another corpus"
    Path("below").mkdir()
    monkeypatch.chdir("below")
    assert load_settings().webrag_home == users, "parents are not searched"
    monkeypatch.setenv("WEBRAG_HOME", "named")
    assert load_settings().webrag_home == Path("named")
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert sys.platform != "linux" or users_folder() == "/var/lib/webrag", "the server's user must not pass /root"


@pytest.mark.parametrize(
    ("platform", "named", "folder"),
    [
        ("linux", None, "{home}/.local/share/webrag"),
        ("linux", "relative", "{home}/.local/share/webrag"),
        ("linux", "/srv/data", "/srv/data/webrag"),
        ("darwin", " ", "{home}/Library/Application Support/webrag"),
        ("darwin", "/srv/data", "/srv/data/webrag"),
    ],
)
def test_a_corpus_lies_in_the_data_folder_of_the_system(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str, named: str | None, folder: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    if named is not None:
        monkeypatch.setenv("XDG_DATA_HOME", named)
    assert users_folder() == folder.format(home=tmp_path)


def test_a_new_corpus_is_announced_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    home = tmp_path / "webrag"
    announce_new(tmp_path / "of an evaluation")
    assert not caplog.text
    announce_new(home)
    assert f"new corpus at {home}" in caplog.text
    caplog.clear()
    (home / "postgres").mkdir(parents=True)
    (home / "postgres" / "PG_VERSION").touch()
    announce_new(home)
    assert not caplog.text


def test_a_key_of_another_program_is_told_of_and_used_on_request_only(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tell_of_openai_key.cache_clear()
    monkeypatch.setenv("OPENAI_API_KEY", " sk-1\n")
    for _ in range(2):
        settings = load_settings()
        assert settings.orchestration_llm_api_key is None
        assert settings.embedding_api_key is None
    [line] = [record.getMessage() for record in caplog.records]
    assert line.startswith("OPENAI_API_KEY is set and is not used: WEBRAG_OPENAI=1 uses it for the chat model")
    assert "sk-1" not in caplog.text
    tell_of_openai_key.cache_clear()
    monkeypatch.setenv("WEBRAG_OPENAI", "0")
    assert load_settings().orchestration_llm_api_key is None
    assert len(caplog.records) == 1
    monkeypatch.setenv("WEBRAG_OPENAI", "1")
    settings = load_settings()
    assert settings.orchestration_llm_api_key == SecretStr("sk-1")
    assert settings.answer_composer == settings.decomposition_mode == "llm"
    assert settings.embedding_api_key is None
    monkeypatch.setenv("ORCHESTRATION_LLM_BASE_URL", "http://127.0.0.1:9/v1")
    assert load_settings().orchestration_llm_api_key is None  # it belongs to its own endpoint


@pytest.mark.parametrize("name", RETIRED_IN_FILES)
def test_a_name_of_the_specifications_that_others_use_too_is_retired_in_a_file_alone(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    warn_retired.cache_clear()
    monkeypatch.setenv(name, "x")
    load_settings()
    assert not caplog.records
    monkeypatch.delenv(name)
    file = tmp_path / "settings.env"
    file.write_text(f"{name}=x\n")
    monkeypatch.setenv("WEBRAG_ENV_FILE", str(file))
    load_settings()
    [record] = caplog.records
    assert record.getMessage() == f"{name} is retired and is ignored: {RETIRED_IN_FILES[name]}"


@pytest.mark.parametrize("name", RETIRED)
def test_settings_that_are_no_more_are_told_of_once(
    name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    warn_retired.cache_clear()
    monkeypatch.setenv(name, "20")
    load_settings()
    load_settings()
    assert [record.getMessage() for record in caplog.records] == [f"{name} is retired and is ignored: {RETIRED[name]}"]
