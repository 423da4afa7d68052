"""The YAML files of a task, and the requirements that stand in them, read as they are written."""

from __future__ import annotations

from glob import escape, glob
from pathlib import Path
from typing import TYPE_CHECKING

from ubunye_core.config import Written, path_given, read_yaml
from ubunye_core.errors import ConfigError
from ubunye_core.names import MAX_BYTES
from ubunye_core.questions.requirements import KEYS, Requirement
from ubunye_core.questions.taskkeys import check_keys

if TYPE_CHECKING:
    from ubunye_core.schedules import Schedule

CONFIG_FILE, RECEIPTS_FILE = "config.yaml", "receipts.yaml"
_TOGETHER = frozenset({"windows", "schedule"})
"""Keys of a requirement that make sense together only."""
RECEIPTS_KEYS = ("requires", "schedule", "owner", "policy", "retention")
_OURS_IN_CONFIG = ("requires", "policy")
"""Parts of CONFIG with keys that this library gave them."""


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
    found = entry_of(path, "requires")
    if found is None:
        return ()
    entries = found.items("'requires'", hint=_as_a_list(found))
    if not entries:
        raise found.wrong("'requires' is empty.", hint="Leave it out if nothing is required.")
    return tuple(_from_yaml(each) for each in entries)


def entry_of(path: str | Path, key: str) -> Written | None:
    """What a task's files say under a key: ``config.yaml`` in CONFIG, ``receipts.yaml`` at its top.

    Raises:
        ConfigError: a file cannot be read, or both say something.
    """
    found = [entry for file in files_of(path) if (entry := _entry_in(file, key)) is not None]
    if len(found) > 1:
        raise found[1].wrong(f"'{key}' stands in {found[0].file} too; keep one of them.")
    return found[0] if found else None


def text_of(path: str | Path, key: str) -> str | None:
    """What a task's files say in words under a key; None where they say nothing.

    Raises:
        ConfigError: a file cannot be read, both say something, or it is no text.
    """
    found = entry_of(path, key)
    if found is None or found.is_null:
        return None
    text = _text(found, f"'{key}'").strip()
    if not text:
        raise found.wrong(f"'{key}' is empty.", hint="Leave it out if there is none.")
    return text


def files_of(path: str | Path) -> list[Path]:
    """The YAML files of a task, of which one or its folder is named.

    Raises:
        ConfigError: there are none, or nobody may look.
    """
    given = path_given(path)
    folder = given if given.is_dir() else given.parent
    files = {folder / CONFIG_FILE, folder / RECEIPTS_FILE}
    if not given.is_dir():
        files.add(given)
    present = sorted(file for file in files if path_given(file).exists() or file.is_symlink())
    if not given.is_dir() and given not in present:
        raise ConfigError(f"{given} does not exist.", hint="Name config.yaml or receipts.yaml.")
    if not present:
        # Not by the path's own glob: that one raises where a folder goes away meanwhile.
        of_task = min(glob(f"{escape(str(given))}/*/*/*/{RECEIPTS_FILE}"), default=None)
        raise ConfigError(
            f"{given} holds neither {CONFIG_FILE} nor {RECEIPTS_FILE}.",
            hint=of_task and f"Name the folder of one task: {Path(of_task).parent}.",
        )
    return present


def entries_of(file: Path) -> dict[str, Written]:
    """What stands in a ``receipts.yaml``, by its key.

    Raises:
        ConfigError: it cannot be read, or a key in any part of it is not known.
    """
    entries = read_yaml(file).entries(RECEIPTS_FILE, known=RECEIPTS_KEYS)
    check_keys(entries)
    return entries


def _entry_in(file: Path, key: str) -> Written | None:
    if file.name == RECEIPTS_FILE:
        return entries_of(file).get(key)
    entries = read_yaml(file).entries(file.name)
    config = entries.get("CONFIG")
    if key in entries:
        raise entries[key].wrong(f"'{key}' stands outside of CONFIG.")
    entries = {} if config is None or config.is_null else config.entries("CONFIG")
    check_keys({part: entries[part] for part in _OURS_IN_CONFIG if part in entries})
    return entries.get(key)


def _as_a_list(written: Written) -> str:
    """How to write what is required, where it is no list."""
    if isinstance(written.value, str) and not written.is_null:
        return f"Write 'requires: [{written.value[:MAX_BYTES]}]'."
    return "Write a list, such as [pay/monthly/calc], or leave it out if nothing is required."


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
        elif key == "schedule":
            values[key] = _schedule_of(entry)
        else:
            values[key] = _text(entry, f"'{key}'")
    task = {key: values[key] for key in values if key == "task"}
    for key, value in (task | values).items():  # one by one, so that an error names its line
        try:
            together = values.keys() & _TOGETHER if key in _TOGETHER else ()
            Requirement.of(task | {each: values[each] for each in together} | {key: value})
        except ConfigError as error:
            at = entries[key] if task else written
            raise at.wrong(error.message, hint=error.hint) from error
    return Requirement.of(values)


def _schedule_of(entry: Written) -> tuple[Schedule, ...]:
    """The schedule of an upstream: as it stands here, or in the upstream's own file or folder."""
    # Not at the top: that module reads files by this one.
    from ubunye_core.questions.schedulefiles import read_schedule, read_versions

    folder = Path(entry.file).parent
    if not isinstance(entry.value, str):
        return read_versions(entry, folder)
    found = read_schedule(folder / _text(entry, "'schedule'"))
    if not found:
        raise entry.wrong(
            "There is no schedule.", hint="Write 'schedule' into the upstream's receipts.yaml."
        )
    return found


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
