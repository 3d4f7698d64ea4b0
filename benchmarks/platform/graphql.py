"""The few things that benchmarks and tests ask a running UI by GraphQL, as its own pages do."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_LAUNCH = """mutation($params: ExecutionParams!) { launchRun(executionParams: $params) {
  __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message }
  ... on RunConfigValidationInvalid { errors { message } } } }"""

_RUN = """query($id: ID!) { runOrError(runId: $id) { ... on Run { status creationTime startTime endTime } } }"""

_PARTITIONS = """query($key: AssetKeyInput!) { assetNodeOrError(assetKey: $key) { ... on AssetNode {
  partitionStats { numMaterialized numPartitions numFailed }
  assetPartitionStatuses { ... on DefaultPartitionStatuses { materializedPartitions failedPartitions } } } } }"""

_ENDED = ("SUCCESS", "FAILURE", "CANCELED")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended. `seconds`: from before its launch was asked for until its end was stored."""

    run_id: str
    status: str
    seconds: float


class Ui:
    """A UI at `address`."""

    def __init__(self, address: str) -> None:
        self.address = address

    def ask(self, query: str, **variables: object) -> dict[str, Any]:
        """The answer's data. Raises RuntimeError for errors, OSError when nobody listens."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(self.address + "/graphql", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as response:
            answer = json.load(response)
        if answer.get("errors"):
            raise RuntimeError(str(answer["errors"][0].get("message")))
        data: dict[str, Any] = answer["data"]
        return data

    def is_up(self) -> bool:
        """Whether it serves pages and its code location is loaded."""
        try:
            data = self.ask("query { repositoriesOrError { ... on RepositoryConnection { nodes { name } } } }")
        except (OSError, RuntimeError, ValueError):
            return False
        return bool(data["repositoriesOrError"].get("nodes"))

    def launch(self, job: str, config: Mapping[str, object], partition: str | None = None) -> str:
        """Launch as the launchpad does; the run's id. Raises RuntimeError when it is refused."""
        selector = {"repositoryLocationName": "webrag", "repositoryName": "__repository__", "jobName": job}
        tags = [{"key": "dagster/partition", "value": partition}] if partition is not None else []
        metadata = {"tags": tags}
        params = {"selector": selector, "runConfigData": config, "mode": "default", "executionMetadata": metadata}
        launched = self.ask(_LAUNCH, params=params)["launchRun"]
        if "run" not in launched:
            raise RuntimeError(str(launched))
        return str(launched["run"]["runId"])

    def run_to_end(self, job: str, config: Mapping[str, object], limit: float = 120.0) -> Ended:
        """Launch and wait. Raises TimeoutError after `limit` seconds."""
        began = time.time()
        run_id = self.launch(job, config)
        while time.time() < began + limit:
            run = self.ask(_RUN, id=run_id)["runOrError"]
            if run["status"] in _ENDED:
                return Ended(run_id, run["status"], run["endTime"] - began)
            time.sleep(0.2)
        raise TimeoutError(f"run {run_id} did not end in {limit:.0f} s")

    def partitions(self, asset: str) -> dict[str, Any]:
        """Partition counts and names by status, as the asset's page asks for them."""
        node: dict[str, Any] = self.ask(_PARTITIONS, key={"path": [asset]})["assetNodeOrError"]
        return node
