"""What must be on record before a run may start: from Python, or from a task's YAML files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

from ubunye_core.batch import text_of
from ubunye_core.config import Written, read_yaml
from ubunye_core.errors import ConfigError
from ubunye_core.masking import is_secret_name
from ubunye_core.names import check_task_or_pattern
from ubunye_core.times import duration

CONFIG_FILE, RECEIPTS_FILE = "config.yaml", "receipts.yaml"
KEYS = (
    "task",
    "variables",
    "wait",
    "poll",
    "max_age",
    "on_failed",
    "optional",
    "allow_unknown",
)


class OnFailed(StrEnum):
    """What a gate does once the batch's newest run is finally not a success."""

    WAIT = "wait"
    FAIL = "fail"


@dataclass(frozen=True)
class Requirement:
    """A task whose success, for a batch, must be on record before another may start.

    Lengths of time are timedeltas or texts such as ``2h``.

    Raises:
        ConfigError: a value cannot be what it stands for.
    """

    task: str
    """The upstream task, or a pattern: then every task that fits must be met."""
    variables: Sequence[str] | Mapping[str, object] | None = None
    """Names whose values must be those of this run; or names and values; None means all batch
    variables of this run. An empty list is met by any success: best with ``max_age``."""
    wait: timedelta | str | None = field(default=None, kw_only=True)
    """How long to keep looking; None looks once."""
    poll: timedelta | str | None = field(default=None, kw_only=True)
    """How long to pause between two looks; None means 60 seconds."""
    max_age: timedelta | str | None = field(default=None, kw_only=True)
    """How old the success may be."""
    on_failed: OnFailed | str = field(default=OnFailed.WAIT, kw_only=True)
    optional: bool = field(default=False, kw_only=True)
    """Whether a miss is recorded, and passes."""
    allow_unknown: bool = field(default=False, kw_only=True)
    """Whether to wait for a task that the store has never seen."""

    def __post_init__(self) -> None:
        check_task_or_pattern(self.task)
        object.__setattr__(self, "variables", _variables(self.task, self.variables))
        for name in ("wait", "poll", "max_age"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, duration(value, what=f"'{name}'"))
        if self.poll == timedelta(0):
            raise ConfigError("'poll' is zero; two looks need a pause.")
        if self.on_failed not in list(OnFailed):
            raise ConfigError(f"'on_failed' is {self.on_failed!r}.", hint="Use one of: wait, fail.")
        object.__setattr__(self, "on_failed", OnFailed(self.on_failed))
        for name in ("optional", "allow_unknown"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(f"'{name}' is {getattr(self, name)!r}, not true or false.")

    @property
    def length(self) -> timedelta:
        """How long to keep looking."""
        return self.wait if isinstance(self.wait, timedelta) else timedelta(0)

    @classmethod
    def of(cls, given: RequirementLike) -> Requirement:
        """A requirement from what an author may write: itself, a task's name, or a mapping.

        Raises:
            ConfigError: a key is not known, or a value is wrong.
        """
        if isinstance(given, Requirement):
            return given
        if isinstance(given, str):
            return cls(given)
        if not isinstance(given, Mapping):
            raise ConfigError(f"{given!r} is not a requirement.", hint="Name a task.")
        unknown = [str(key) for key in given if key not in KEYS]
        if unknown:
            raise ConfigError(
                f"'{unknown[0]}' is not a known key of a requirement.",
                hint=f"Known: {', '.join(KEYS)}.",
            )
        if "task" not in given:
            raise ConfigError("A requirement has no 'task'.")
        return cls(**given)  # type: ignore[arg-type]  # each value is checked above


RequirementLike = Requirement | str | Mapping[str, object]
"""What an author may write for one: itself, a task's name, or a mapping with its keys."""


def requirements_of(
    given: RequirementLike | Iterable[RequirementLike],
) -> tuple[Requirement, ...]:
    """One requirement or several, from what an author may write.

    Raises:
        ConfigError: there is none, or one is wrong. A gate that requires nothing would be open.
    """
    if isinstance(given, Requirement | str | Mapping):
        given = [given]
    found = tuple(Requirement.of(each) for each in given)
    if not found:
        raise ConfigError(
            "Nothing is required, so this gate would always be open.", hint="Name a task."
        )
    return found


def _variables(task: str, given: object) -> tuple[str, ...] | dict[str, str] | None:
    if given is None:
        return None
    if isinstance(given, Mapping):
        found = {}
        for name, value in given.items():
            text = text_of(value, name=str(name))
            if text is None:
                raise ConfigError(
                    f"The variable '{name}' of the requirement on {task} has no value.",
                    hint="Give one, or leave the variable out.",
                )
            found[str(name)] = text
        names: Iterable[object] = found
    elif isinstance(given, str) or not isinstance(given, Iterable):
        raise ConfigError(
            f"'variables' of the requirement on {task} is {given!r}.",
            hint="Use a list of names, [month], or names and values, {month: '2026-10'}.",
        )
    else:
        names = list(given)
        found = None
    for name in names:
        if not isinstance(name, str) or not name:
            raise ConfigError(f"{name!r} is not a name for a variable.")
        if is_secret_name(name):
            raise ConfigError(
                f"The requirement on {task} names the variable '{name}', which is masked in "
                f"every receipt and so can never be compared.",
                hint="Leave it out.",
            )
    return found if found is not None else tuple(dict.fromkeys(map(str, names)))


def read_requirements(path: str | Path) -> tuple[Requirement, ...]:
    """The requirements of a task's files.

    Args:
        path: A task's folder, or its ``config.yaml`` (``CONFIG.requires``) or ``receipts.yaml``
            (``requires``). The other file beside it is read too.

    Raises:
        ConfigError: a file cannot be read, both have ``requires``, or an entry is wrong; names
            file and line.

    Returns:
        An empty tuple where neither file has ``requires``: that task needs no upstream.
    """
    given = Path(path).expanduser()
    folder = given if given.is_dir() else given.parent
    files = {folder / CONFIG_FILE, folder / RECEIPTS_FILE}
    if not given.is_dir():
        files.add(given)
    present = sorted(file for file in files if file.exists() or file.is_symlink())
    if not given.is_dir() and given not in present:
        raise ConfigError(f"{given} does not exist.", hint="Name config.yaml or receipts.yaml.")
    if not present:
        raise ConfigError(f"{given} holds neither {CONFIG_FILE} nor {RECEIPTS_FILE}.")
    found = [written for file in present if (written := _requires_in(file)) is not None]
    if len(found) > 1:
        raise found[1].wrong(f"'requires' stands in {found[0].file} too; keep one of them.")
    if not found:
        return ()
    entries = found[0].items("'requires'")
    if not entries:
        raise found[0].wrong("'requires' is empty.", hint="Leave it out if nothing is required.")
    return tuple(_from_yaml(each) for each in entries)


def _requires_in(file: Path) -> Written | None:
    document = read_yaml(file)
    if file.name == RECEIPTS_FILE:
        entries = document.entries(RECEIPTS_FILE, known=("requires", "owner"))
    else:
        entries = document.entries(file.name)
        config = entries.get("CONFIG")
        if "requires" in entries:
            raise entries["requires"].wrong("'requires' stands outside of CONFIG.")
        entries = {} if config is None or config.is_null else config.entries("CONFIG")
    return entries.get("requires")


def _from_yaml(written: Written) -> Requirement:
    if isinstance(written.value, str):
        entries = {"task": written}
    else:
        entries = written.entries("a requirement", known=KEYS)
    values: dict[str, object] = {}
    for key, entry in entries.items():
        if key == "variables":
            values[key] = _variables_written(entry)
        elif key in ("optional", "allow_unknown"):
            values[key] = entry.boolean(f"'{key}'")
        else:
            values[key] = _text(entry, f"'{key}'")
    task = {key: values[key] for key in values if key == "task"}
    for key, value in (task | values).items():  # one by one, so that an error names its line
        try:
            Requirement.of(task | {key: value})
        except ConfigError as error:
            at = entries[key] if task else written
            raise at.wrong(error.message, hint=error.hint) from error
    return Requirement.of(values)


def _text(entry: Written, what: str) -> str:
    """A scalar as it is written; one that hopes to be filled in would never match anything."""
    text = entry.text(what)
    if "{{" in text or "{%" in text:
        raise entry.wrong(
            f"{what} is a template, and requirements are read as written.",
            hint="Name the variable, [month], and its value is that of the run that asks.",
        )
    return text


def _variables_written(entry: Written) -> list[str] | dict[str, str]:
    if isinstance(entry.value, list):
        return [_text(each, "a variable's name") for each in entry.value]
    if isinstance(entry.value, dict):
        return {name: _text(each, f"the variable '{name}'") for name, each in entry.value.items()}
    raise entry.wrong(
        "'variables' is neither a list nor a map.",
        hint="Use [month], {month: 2026-10}, or [] for any success.",
    )
