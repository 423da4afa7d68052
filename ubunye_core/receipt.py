"""The record of one run, and the parts it is made of.

``extra``, here and in every part, holds the fields that this version does not know: they are
kept as they were read, and written back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from ubunye_core.batch import Batch, Scalar
from ubunye_core.masking import masked_url
from ubunye_core.names import check_run_id, check_task
from ubunye_core.times import LONGEST, as_utc

RECORD_VERSION = 2

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]


def _as_texts(part: object, *names: str) -> None:
    """Make texts of what somebody gave for a text, for what is no text cannot be read again."""
    for name in names:
        value = getattr(part, name)
        if value is not None and not isinstance(value, str):
            object.__setattr__(part, name, str(value))


class Status(StrEnum):
    """How a run stands."""

    RUNNING = "running"
    SUCCESS = "success"
    ERROR = "error"
    INTERRUPTED = "interrupted"
    SKIPPED = "skipped"

    @property
    def is_final(self) -> bool:
        """Whether the run has ended."""
        return self is not Status.RUNNING


class TriggerKind(StrEnum):
    """What started a run."""

    SCHEDULE = "schedule"
    MANUAL = "manual"
    BACKFILL = "backfill"
    ASSET = "asset"
    SENSOR = "sensor"
    API = "api"


@dataclass(frozen=True, kw_only=True)
class Window:
    """The period of data a run is for."""

    start: datetime
    """Included, UTC."""
    end: datetime
    """Excluded, UTC."""
    time_zone: str | None = None
    """The schedule's zone by its IANA name."""
    extra: Mapping[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _as_texts(self, "time_zone")  # a ZoneInfo is its name
        object.__setattr__(self, "start", as_utc(self.start))
        object.__setattr__(self, "end", as_utc(self.end))
        if self.end <= self.start:
            raise ValueError(f"a window ends ({self.end}) after its start ({self.start})")


@dataclass(frozen=True, kw_only=True)
class TriggeredBy:
    """Who or what started a run, and why."""

    kind: TriggerKind
    actor: str | None = None
    """A user's name; None where nobody is known."""
    asserted_by: str | None = None
    """Who vouches for the actor: ``airflow``, ``dagster``, ``databricks``, ``os-user``; or
    ``ledger`` for a run that was imported."""
    reason: str | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _as_texts(self, "actor", "asserted_by", "reason")
        object.__setattr__(self, "kind", TriggerKind(self.kind))


@dataclass(frozen=True, kw_only=True)
class Orchestrator:
    """The scheduler's own names for this attempt."""

    name: str
    """``airflow``, ``dagster``, or another's own."""
    ids: Mapping[str, str] = field(default_factory=dict)
    """What identifies the scheduled run, without the attempt."""
    url: str | None = None
    """Its page; a password in it is masked."""
    attempt: int | None = None
    """Counted from 1."""
    max_attempts: int | None = None
    """How many there may be, the first one included."""
    extra: Mapping[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", str(self.name))
        _as_texts(self, "url")
        for name in ("attempt", "max_attempts"):
            number = getattr(self, name)
            if number is not None:
                object.__setattr__(self, name, int(number))
        texts = {str(name): str(text) for name, text in self.ids.items() if text is not None}
        object.__setattr__(self, "ids", texts)
        if self.url is not None:
            object.__setattr__(self, "url", masked_url(self.url))

    @property
    def scheduled_run(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """What all attempts of one scheduled run have in common."""
        return (self.name, tuple(sorted(self.ids.items())))

    def is_same_attempt(self, other: Orchestrator | None) -> bool:
        """Whether both stand for one attempt."""
        return (
            other is not None
            and self.scheduled_run == other.scheduled_run
            and self.attempt == other.attempt
        )


@dataclass(frozen=True, kw_only=True)
class Step:
    """One thing a run read or wrote."""

    name: str
    direction: str
    """``input`` or ``output``."""
    format: str = ""
    location: str = ""
    """A path or URL, without passwords."""
    row_count: int | None = None
    schema_hash: str | None = None
    """Of the columns' names and types: ``sha256:`` and 64 hexadecimal digits, like all hashes."""
    data_hash: str | None = None
    """Of every row, in any order of rows and columns."""
    hash_method: str | None = None
    """``rows-v1``; None where there is no data hash."""
    hash_error: str | None = None
    """Why there is no data hash."""
    hash_seconds: float | None = None
    route: str | None = None
    """Which kind of frame was hashed; a comparison reads again by the same route."""
    column_hashes: Mapping[str, str] | None = None
    """On request, the hash of each column by itself: they tell which one changed."""
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Pin:
    """What satisfied a requirement: evidence that stays with the run that asked."""

    task: str
    run_id: str
    data_hashes: Mapping[str, str | None] = field(default_factory=dict)
    """The data hash of each output of that run, by the output's name."""
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Override:
    """An argument of a run that is not what its spec or its schedule says."""

    name: str
    usual: str | None = None
    """What the spec or the schedule says, as text; None where it says nothing."""
    given: str | None = None
    """What the run was given instead, as text; None for null."""
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Timing:
    """How long one part of a run took."""

    step: str
    seconds: float
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """A rule that was checked, with counts and never with rows."""

    rule: str
    passed: bool | None
    output: str = ""
    """The input or output it speaks of."""
    failed: int | None = None
    """How many rows broke it."""
    total: int | None = None
    """Of how many."""
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Counts:
    """How many rows came through a run."""

    extracted: int | None = None
    """Read from the source."""
    reread: int | None = None
    """Read again, that an earlier run had read."""
    transformed: int | None = None
    """There after the work was done on them."""
    filtered: int | None = None
    """Left out on purpose."""
    quarantined: int | None = None
    """Put aside because they broke a rule."""
    loaded: int | None = None
    """Written."""
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Recorder:
    """The library that wrote a receipt."""

    name: str
    version: str
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """The record of one attempt of a task.

    A superset of ubunye-engine's run record, version 2. Times are UTC. Never changed once made:
    use ``dataclasses.replace``. ``ValueError`` for names or times that cannot be.
    """

    task: str
    run_id: str
    status: Status
    started_at: datetime
    ended_at: datetime | None = None
    duration_sec: float | None = None
    variables: Mapping[str, Scalar] = field(default_factory=dict)
    """Ours are texts; other recorders also keep numbers and booleans. Secrets are masked."""
    window: Window | None = None
    triggered_by: TriggeredBy | None = None
    orchestrator: Orchestrator | None = None
    heartbeat_at: datetime | None = None
    """The last sign of life."""
    heartbeat_every: timedelta | None = None
    """How often one is due; None where none is."""
    inputs: tuple[Step, ...] = ()
    outputs: tuple[Step, ...] = ()
    upstreams: tuple[Pin, ...] = ()
    overrides: tuple[Override, ...] = ()
    timings: tuple[Timing, ...] = ()
    expectations: tuple[Expectation, ...] = ()
    counts: Counts | None = None
    error: str | None = None
    """Why the run did not succeed; for ``skipped``, why it did not run."""
    outcome: str | None = None
    """A finer word than the status; ``refused`` when a gate stopped the run."""
    ended_by: str | None = None
    """Who wrote the end of a run that did not write its own."""
    host: str | None = None
    pid: int | None = None
    code_hash: str | None = None
    config_hash: str | None = None
    """ubunye-engine's, of the task's configuration."""
    environment: Mapping[str, Json] | None = None
    """Interpreter, platform, machine, and the packages that can change a result."""
    environment_hash: str | None = None
    time_zone: str | None = None
    """The zone of the process that ran."""
    recorder: Recorder | None = None
    record_version: int | None = RECORD_VERSION
    extra: Mapping[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_task(self.task)
        check_run_id(self.run_id)
        object.__setattr__(self, "status", Status(self.status))
        for name in ("started_at", "ended_at", "heartbeat_at"):
            moment = getattr(self, name)
            if moment is not None:
                object.__setattr__(self, name, as_utc(moment))
        if not timedelta(0) <= (self.heartbeat_every or timedelta(0)) <= LONGEST:
            raise ValueError("heartbeat_every is no length of time between two heartbeats")

    @property
    def batch(self) -> Batch:
        """Which data the run is for."""
        return Batch.of(self.variables)

    @property
    def finished_at(self) -> datetime:
        """When the run ended; its start where an old record of an ended run does not say."""
        return self.ended_at or self.started_at

    @property
    def last_sign_of_life(self) -> datetime:
        """The later of the start and the last heartbeat."""
        return max(self.started_at, self.heartbeat_at or self.started_at)

    def ids_in(self, scheduler: str) -> Mapping[str, str]:
        """A scheduler's own ids of the run; none where another one, or none, has run it."""
        by = self.orchestrator
        return by.ids if by is not None and by.name == scheduler else {}

    @property
    def has_tries_left(self) -> bool:
        """Whether its scheduler will attempt the run again after an error."""
        attempts = self.orchestrator
        return (
            self.status is Status.ERROR
            and attempts is not None
            and attempts.attempt is not None
            and attempts.max_attempts is not None
            and attempts.attempt < attempts.max_attempts
        )

    @property
    def was_refused(self) -> bool:
        """Whether a gate stopped the run before it did anything."""
        return self.status is Status.SKIPPED and self.outcome == "refused"

    @property
    def essentials(self) -> Receipt:
        """The receipt without its details: what a gate and a health check need."""
        return replace(
            self,
            window=self.window and replace(self.window, extra={}),
            triggered_by=self.triggered_by and replace(self.triggered_by, extra={}),
            orchestrator=self.orchestrator and replace(self.orchestrator, extra={}),
            inputs=(),
            outputs=(),
            upstreams=(),
            overrides=(),
            timings=(),
            expectations=(),
            counts=None,
            environment=None,
            extra={},
        )

    @property
    def order(self) -> tuple[datetime, str]:
        """Receipts are ordered by this, newest first."""
        return (self.started_at, self.run_id)
