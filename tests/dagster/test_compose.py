"""docker-compose.yml and dagster.yaml, read as their users read them."""

from __future__ import annotations

import importlib.util
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml  # type: ignore[import-untyped]

from tests.conftest import REPOSITORY
from webrag_core.config import Settings
from webrag_core.http_guard import Authority
from webrag_dagster.processes.ui_guard import accepted_hosts

TEXT = (REPOSITORY / "docker-compose.yml").read_text()
DOCKERFILE = (REPOSITORY / "Dockerfile").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, Any] = COMPOSE["services"]


def inline(name: str) -> dict[str, Any]:
    """An inline config file of the compose file."""
    content: dict[str, Any] = yaml.safe_load(COMPOSE["configs"][name]["content"])
    return content


def test_the_services_of_a_cluster_are_there_and_wait_for_each_other() -> None:
    assert set(SERVICES) == {"postgres", "code", "webserver", "daemon"}
    for name, service in SERVICES.items():
        assert service["healthcheck"]["test"], name
        for needed, condition in service.get("depends_on", {}).items():
            assert "healthcheck" in SERVICES[needed]
            assert condition == {"condition": "service_healthy"}
    assert "pgvector" in SERVICES["postgres"]["image"]


def test_no_secret_is_written_down() -> None:
    values = re.findall(r"(?im)^\s*\w*(?:password|secret|token|key)\w*:[ \t]*(\S.*)$", TEXT)
    assert values
    assert all(value.startswith("${") for value in values), values
    assert all("@" not in url or "${POSTGRES_PASSWORD" in url for url in re.findall(r"postgresql://\S+", TEXT))


def test_the_ui_makes_its_pages_from_the_corpus_of_the_runs() -> None:
    urls = [SERVICES[name]["environment"]["DATABASE_URL"] for name in ("code", "webserver")]
    assert urls[0] == urls[1]


def test_the_ui_is_published_on_this_machine_only() -> None:
    published = [port for service in SERVICES.values() for port in service.get("ports", ())]
    assert len(published) == 1
    assert published[0].startswith("127.0.0.1:")
    assert SERVICES["webserver"]["command"].startswith("webrag ui "), "not the unguarded web server"
    named = SERVICES["webserver"]["environment"]["WEBRAG_UI_HOSTS"]
    listed = named.replace("${WEBRAG_PORT:-3000}", "8080").replace("${WEBRAG_UI_HOSTS:-}", "rag.example")
    hosts = accepted_hosts(Settings(webrag_ui_hosts=listed), "0.0.0.0")
    assert hosts == {Authority("127.0.0.1", 8080), Authority("localhost", 8080), Authority("rag.example")}


def test_one_env_file_names_everything_that_has_to_be_set() -> None:
    example = (REPOSITORY / ".env.example").read_text()
    named = set(re.findall(r"(?m)^#?([A-Z_]+)=", example))
    used = set(re.findall(r"\$\{([A-Z_]+)", TEXT))
    required = set(re.findall(r"\$\{([A-Z_]+):\?", TEXT))
    assert used <= named
    assert set(re.findall(r"(?m)^([A-Z_]+)=", example)) == required == {"POSTGRES_PASSWORD"}
    settings = {name.upper() for name in Settings.model_fields}
    assert named - used <= settings | {"DATABASE_URL"}, "a setting that no code reads"
    assert not any(value.strip() for value in re.findall(r"(?m)^[A-Z_]+=(.*)$", example)), "no secret inside"
    assert SERVICES["code"]["env_file"] == [{"path": ".env", "required": False}]


def test_what_must_survive_a_restart_is_on_a_volume() -> None:
    mounted = {volume.split(":")[0] for service in SERVICES.values() for volume in service.get("volumes", ())}
    folders = {name for name in mounted if name.startswith(".")}
    assert mounted - folders == set(COMPOSE["volumes"]) == {"data", "logs", "state"}
    [home] = re.findall(r"WEBRAG_HOME=(\S+)", DOCKERFILE)
    assert f"state:{home}" in SERVICES["code"]["volumes"]
    for volume in SERVICES["code"]["volumes"]:
        if not volume.startswith("."):
            assert volume.split(":")[1] in DOCKERFILE, "made, and owned by the user that runs it"
    assert folders == {"./webrag_dagster/defs/sources"}
    assert all((REPOSITORY / name).is_dir() for name in folders)
    assert all(service["restart"] == "unless-stopped" for service in SERVICES.values())


def test_commands_start_what_they_name() -> None:
    for name, service in SERVICES.items():
        words = [*service.get("command", "").split(), *service["healthcheck"]["test"]]
        for before, word in pairwise(words):
            if before == "-m":
                assert importlib.util.find_spec(word) is not None, (name, word)
        program = service.get("command", "python").split()[0]
        assert Path(sys.executable).with_name(program).exists(), (name, program)


def test_every_mounted_config_exists_and_paths_copied_into_the_image_too() -> None:
    for service in SERVICES.values():
        for config in service["configs"]:
            assert config["source"] in COMPOSE["configs"]
    for line in re.findall(r"(?m)^COPY (?!--from)(.+)$", DOCKERFILE):
        for source in line.split()[:-1]:
            assert (REPOSITORY / source).exists(), source


def test_the_inline_instance_is_a_valid_one_on_postgresql(
    tmp_path: Path, server_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = inline("instance")
    postgres = content["storage"]["postgres"]["postgres_db"]
    assert postgres["scheme"] == "postgresql+psycopg2"
    needed = {postgres[name]["env"] for name in ("hostname", "username", "password")}
    for service in ("code", "webserver", "daemon"):
        assert needed <= set(SERVICES[service]["environment"])
    # the same file, with the one thing that differs here: where the server is
    content["storage"]["postgres"] = {"postgres_url": server_url.replace("postgresql://", "postgresql+psycopg2://", 1)}
    content["compute_logs"]["config"]["base_dir"] = str(tmp_path / "logs")
    (tmp_path / "dagster.yaml").write_text(yaml.safe_dump(content))
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        assert instance.get_runs() == []
        instance.add_dynamic_partitions("webrag_source", ["tea.example"])
        assert instance.get_dynamic_partitions("webrag_source") == ["tea.example"]


def test_the_inline_workspace_names_the_code_service() -> None:
    [location] = inline("workspace")["load_from"]
    assert location["grpc_server"]["host"] in SERVICES
    assert str(location["grpc_server"]["port"]) in SERVICES["code"]["command"]
    [local] = yaml.safe_load((REPOSITORY / "workspace.yaml").read_text())["load_from"]
    assert local["python_module"]["location_name"] == location["grpc_server"]["location_name"]


def test_the_local_instance_needs_no_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    with dg.DagsterInstance.from_config(str(REPOSITORY)) as instance:
        assert instance.is_persistent
        assert instance.get_runs() == []
    assert [path.name for path in tmp_path.iterdir()] == [".webrag"]
