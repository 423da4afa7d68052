"""What the tests ask and tell a server, by GraphQL."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ubunye_dagster.tags import RECEIPT

REPOSITORY = "__repository__"
FINISHED = ("SUCCESS", "FAILURE", "CANCELED")


class NoAnswerError(OSError):
    """The server does not answer (yet)."""


@dataclass(frozen=True)
class RunSeen:
    """A run, as the server shows it."""

    run_id: str
    status: str
    tags: Mapping[str, str]

    @property
    def partition(self) -> str | None:
        return self.tags.get("dagster/partition")

    @property
    def is_finished(self) -> bool:
        return self.status in FINISHED


@dataclass(frozen=True)
class TickSeen:
    """One evaluation of a sensor."""

    number: int
    status: str
    runs: tuple[str, ...]
    run_keys: tuple[str, ...]
    said: str


class Client:
    """A person or a program in front of the server."""

    def __init__(self, url: str) -> None:
        self.url = url
        # Nothing of the environment may lead these requests anywhere else.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def ask(self, query: str, **variables: Any) -> dict[str, Any]:
        """The data of an answer.

        Raises:
            NoAnswerError: there is none.
            ValueError: the server does not understand, or refuses.
        """
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(
            f"{self.url}/graphql", body, {"Content-Type": "application/json"}
        )
        try:
            with self._opener.open(request, timeout=60) as answer:
                document = json.load(answer)
        except urllib.error.HTTPError as error:
            raise ValueError(error.read().decode()) from error
        except OSError as error:
            raise NoAnswerError(str(error)) from error
        if document.get("errors"):
            raise ValueError(str(document["errors"]))
        found: dict[str, Any] = document["data"]
        return found

    def locations(self) -> list[str]:
        """The code locations that are loaded.

        Raises:
            RuntimeError: one of them cannot be loaded.
        """
        entries = self.ask(
            """{ workspaceOrError { ... on Workspace { locationEntries {
                name loadStatus locationOrLoadError {
                    ... on PythonError { message }
            } } } } }"""
        )["workspaceOrError"]["locationEntries"]
        for each in entries:
            if message := (each["locationOrLoadError"] or {}).get("message"):
                raise RuntimeError(f"{each['name']} does not load: {message}")
        return [each["name"] for each in entries if each["loadStatus"] == "LOADED"]

    def daemons_are_healthy(self) -> bool:
        daemons = self.ask(
            "{ instance { daemonHealth { allDaemonStatuses { daemonType required healthy } } } }"
        )["instance"]["daemonHealth"]["allDaemonStatuses"]
        return all(each["healthy"] for each in daemons if each["required"])

    def launch(
        self,
        location: str,
        job: str,
        *,
        partition: str | None = None,
        **tags: str,
    ) -> str:
        """Launch a job; the id of its run."""
        named = {name.replace("__", "/"): text for name, text in tags.items()}
        if partition is not None:
            named["dagster/partition"] = partition
        answer = self.ask(
            """mutation ($p: ExecutionParams!) { launchPipelineExecution(executionParams: $p) {
                __typename ... on LaunchRunSuccess { run { id } } ... on PythonError { message }
                ... on RunConfigValidationInvalid { errors { message } }
            } }""",
            p={
                "selector": {
                    "repositoryLocationName": location,
                    "repositoryName": REPOSITORY,
                    "pipelineName": job,
                },
                "mode": "default",
                "runConfigData": {},
                "executionMetadata": {
                    "tags": [{"key": name, "value": text} for name, text in named.items()]
                },
            },
        )["launchPipelineExecution"]
        if answer["__typename"] != "LaunchRunSuccess":
            raise ValueError(str(answer))
        return str(answer["run"]["id"])

    def backfill(self, asset: str, partitions: Sequence[str]) -> str:
        """Launch a backfill of one asset alone, as its page does; the id of the backfill."""
        answer = self.ask(
            """mutation ($p: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $p) {
                __typename ... on LaunchBackfillSuccess { backfillId }
                ... on PythonError { message }
            } }""",
            p={
                "assetSelection": [{"path": asset.split("/")}],
                "partitionNames": list(partitions),
            },
        )["launchPartitionBackfill"]
        if answer["__typename"] != "LaunchBackfillSuccess":
            raise ValueError(str(answer))
        return str(answer["backfillId"])

    def run(self, run_id: str) -> RunSeen:
        answer = self.ask(
            """query ($id: ID!) { runOrError(runId: $id) {
                __typename ... on Run { id status tags { key value } } } }""",
            id=run_id,
        )["runOrError"]
        return _run(answer)

    def runs(self, **tags: str) -> list[RunSeen]:
        """The runs that have these tags, in the order in which they were launched."""
        named = {name.replace("__", "/"): text for name, text in tags.items()}
        found = self.ask(
            """query ($tags: [ExecutionTag!]) { runsOrError(filter: {tags: $tags}) {
                ... on Runs { results { id status creationTime tags { key value } } } } }""",
            tags=[{"key": name, "value": text} for name, text in named.items()],
        )["runsOrError"]["results"]
        return [_run(each) for each in sorted(found, key=lambda each: each["creationTime"])]

    def events(self, run_id: str) -> list[dict[str, Any]]:
        """What happened in a run: the type of each event, its step and its message."""
        answer = self.ask(
            """query ($id: ID!) { logsForRun(runId: $id, limit: 1000) {
                ... on EventConnection { events {
                    __typename ... on MessageEvent { message stepKey eventType }
                    ... on ExecutionStepFailureEvent { error { message } }
            } } } }""",
            id=run_id,
        )["logsForRun"]
        events: list[dict[str, Any]] = answer["events"]
        return events

    def turn_on(self, location: str, sensor: str) -> None:
        """Let a sensor be evaluated from now on."""
        answer = self.ask(
            """mutation ($s: SensorSelector!) { startSensor(sensorSelector: $s) {
                __typename ... on PythonError { message } } }""",
            s=_sensor(location, sensor),
        )["startSensor"]
        if answer["__typename"] != "Sensor":
            raise ValueError(str(answer))

    def wipe_cursor(self, location: str, sensor: str) -> None:
        self.ask(
            """mutation ($s: SensorSelector!) {
                setSensorCursor(sensorSelector: $s, cursor: null) { __typename } }""",
            s=_sensor(location, sensor),
        )

    def ticks(self, location: str, sensor: str) -> list[TickSeen]:
        """The evaluations of a sensor that have ended, oldest first."""
        ticks = self.ask(
            """query ($s: SensorSelector!) { sensorOrError(sensorSelector: $s) { ... on Sensor {
                sensorState { ticks(limit: 50) {
                    tickId status timestamp runIds runKeys skipReason error { message }
            } } } } }""",
            s=_sensor(location, sensor),
        )["sensorOrError"]["sensorState"]["ticks"]
        seen = [
            TickSeen(
                number=int(each["tickId"]),
                status=each["status"],
                runs=tuple(each["runIds"] or ()),
                run_keys=tuple(each["runKeys"] or ()),
                said=str((each["error"] or {}).get("message") or each["skipReason"] or ""),
            )
            for each in ticks
            if each["status"] != "STARTED"
        ]
        return sorted(seen, key=lambda each: each.number)

    def last_tick(self, location: str, sensor: str) -> int:
        """The number of its last evaluation that has ended; 0 before the first."""
        return max((tick.number for tick in self.ticks(location, sensor)), default=0)

    def reported(self, asset: str) -> dict[str, list[str]]:
        """The ids of the receipts that were reported of an asset, the newest event first."""
        found = self.ask(
            """query ($k: AssetKeyInput!) { assetNodeOrError(assetKey: $k) { ... on AssetNode {
                assetMaterializations { metadataEntries { ...text } }
                assetObservations { metadataEntries { ...text } }
            } } }
            fragment text on MetadataEntry { label ... on TextMetadataEntry { text } }""",
            k={"path": asset.split("/")},
        )["assetNodeOrError"]
        return {
            kind: [
                each["text"]
                for event in events
                for each in event["metadataEntries"]
                if each["label"] == RECEIPT
            ]
            for kind, events in found.items()
        }

    def check(self, asset: str, name: str) -> dict[str, Any]:
        """How a check of an asset stood when it last ran: status, success, description."""
        checks = self.ask(
            """query ($k: AssetKeyInput!) { assetNodeOrError(assetKey: $k) { ... on AssetNode {
                assetChecksOrError { ... on AssetChecks { checks {
                    name executionForLatestMaterialization {
                        status runId evaluation { success severity description }
            } } } } } } }""",
            k={"path": asset.split("/")},
        )["assetNodeOrError"]["assetChecksOrError"]["checks"]
        (found,) = [each for each in checks if each["name"] == name]
        return dict(found["executionForLatestMaterialization"] or {})


def _sensor(location: str, name: str) -> dict[str, str]:
    return {
        "repositoryLocationName": location,
        "repositoryName": REPOSITORY,
        "sensorName": name,
    }


def _run(answer: Mapping[str, Any]) -> RunSeen:
    tags = {each["key"]: each["value"] for each in answer["tags"]}
    return RunSeen(answer["id"], answer["status"], tags)
