"""YAML as it is written: every scalar stays the text that stands in the file.

``2026-10``, ``010``, ``NO`` and ``1.10`` are texts here. Each value knows its file and line, so
that an error can name them.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ubunye_core.errors import ConfigError
from ubunye_core.masking import masked_text, masked_url
from ubunye_core.names import MAX_BYTES, near

if TYPE_CHECKING:
    import yaml

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+")  # a Path keeps one slash of it
MAX_CONFIG_BYTES = 1024 * 1024
MAX_VALUES = 100_000
MAX_DEPTH = 50
MAX_SAID = 500
"""So many characters of what is wrong are told: a value that is quoted may be as long as a file."""
_NULLS = ("", "~", "null", "Null", "NULL")
_TAGS = frozenset(
    f"tag:yaml.org,2002:{name}"
    for name in (
        *("str", "int", "float", "bool", "null", "timestamp", "binary", "merge", "value"),
        *("seq", "map", "set", "omap", "pairs"),
    )
)
_TRUE, _FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")


@dataclass(frozen=True)
class Written:
    """A value of a YAML file as it is written, and where it stands."""

    value: str | list[Written] | dict[str, Written]
    plain: bool
    """Whether a scalar stands without quotes."""
    file: str
    line: int

    def wrong(self, what: str, *, hint: str | None = None) -> ConfigError:
        """An error that names the file and the line."""
        return _wrong(self.file, self.line, what, hint=hint)

    @property
    def is_null(self) -> bool:
        """Whether nothing is written here."""
        return self.plain and isinstance(self.value, str) and self.value in _NULLS

    def entries(self, what: str, known: Collection[str] | None = None) -> dict[str, Written]:
        """The entries of a map; unknown keys are an error where ``known`` is given."""
        if not isinstance(self.value, dict):
            raise self.wrong(f"{what} is not a map.")
        for key, value in self.value.items():
            if known is not None and key not in known:
                meant = near(key[:MAX_BYTES], known)
                raise value.wrong(
                    f"'{key}' is not a known key of {what}.",
                    hint=(f"Did you mean '{meant[0]}'? " if meant else "")
                    + f"Known: {', '.join(known)}.",
                )
        return self.value

    def items(self, what: str, *, hint: str | None = None) -> list[Written]:
        """The items of a list; ``hint`` says how to write one."""
        if not isinstance(self.value, list):
            raise self.wrong(f"{what} is not a list.", hint=hint)
        return self.value

    def text(self, what: str) -> str:
        """A scalar, as it is written."""
        if not isinstance(self.value, str) or self.is_null:
            raise self.wrong(f"{what} is not a single value.")
        return self.value

    def boolean(self, what: str) -> bool:
        """``true`` or ``false``."""
        text = self.text(what)
        if text not in _TRUE + _FALSE:
            raise self.wrong(f"{what} is '{text}', not true or false.")
        return text in _TRUE


def read_yaml(path: Path) -> Written:
    """A YAML file as it is written. Aliases and merges are followed; nothing is constructed.

    Raises:
        ConfigError: it cannot be read, is empty, or is not one YAML document; a key stands
            twice; a tag is not one of YAML's own.
    """
    import yaml

    text = _text_of(path)
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise _wrong(path, line, f"{error.problem or 'it is not YAML'}.") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _wrong(path, line, "it holds a control character.") from error
    except RecursionError as error:
        raise _wrong(path, 1, "it is nested too deep.") from error
    except (ValueError, OverflowError) as error:  # "\UFFFFFFFF"
        raise _wrong(path, 1, "it holds an escape of no character.") from error
    if node is None:
        raise _wrong(path, 1, "it is empty.")
    return _Reader(str(path)).read(node)


def path_given(path: str | Path) -> Path:
    """A path that somebody wrote, with ``~`` for a home folder; there may be nothing.

    Raises:
        ConfigError: nothing can be there, or nobody can look whether something is; or it is a URL.
    """
    url = _URL.match(str(path))
    if url is not None:  # it may hold a password
        shown = masked_url(f"{url[1]}://{str(path)[url.end() :]}")
        raise ConfigError(f"'{shown}' is a URL, and not a path.", hint="Name a file or a folder.")
    try:
        found = Path(path).expanduser()
        found.stat()
    except (FileNotFoundError, NotADirectoryError):
        return found
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error
    except (RuntimeError, ValueError) as error:  # ~nobody; a NUL
        raise ConfigError(f"{path} is a path of nothing.") from error
    return found


def _text_of(path: Path) -> str:
    try:
        if not path.is_file():
            raise ConfigError(f"{path} is not a file that can be read.")
        with path.open("rb") as file:
            content = file.read(MAX_CONFIG_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error
    if len(content) > MAX_CONFIG_BYTES:
        raise ConfigError(f"{path} is larger than {MAX_CONFIG_BYTES} bytes.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _wrong(path, line, "it is not UTF-8 text.") from error


def _wrong(file: str | Path, line: int, what: str, *, hint: str | None = None) -> ConfigError:
    """An error that names a file and a line."""
    return ConfigError(f"{file}, line {line}: {_said(what)}", hint=hint and _said(hint))


def _said(text: str) -> str:
    """What may be told of a file: no password that stands in it, and no more than is read."""
    text = masked_text(text)  # first: a URL that is cut no longer shows that it holds one
    return text if len(text) <= MAX_SAID else f"{text[: MAX_SAID - 3]}..."


class _Reader:
    """Turns YAML nodes into written values; bounded, so that aliases cannot blow it up."""

    def __init__(self, file: str) -> None:
        self._file, self._count = file, 0

    def read(self, node: yaml.Node, depth: int = 0) -> Written:
        import yaml

        self._count += 1
        line = node.start_mark.line + 1
        if self._count > MAX_VALUES or depth > MAX_DEPTH:
            raise _wrong(self._file, line, "too many values, or nested too deep.")
        if node.tag not in _TAGS:
            raise _wrong(self._file, line, f"the tag '{node.tag}' is not allowed.")
        if isinstance(node, yaml.ScalarNode):
            return Written(node.value, node.style is None, self._file, line)
        if isinstance(node, yaml.SequenceNode):
            return Written(
                [self.read(each, depth + 1) for each in node.value], False, self._file, line
            )
        return Written(self._entries(node, depth), False, self._file, line)

    def _entries(self, node: yaml.Node, depth: int) -> dict[str, Written]:
        """A map's own entries, then what it merges in (``<<``) that it does not have itself."""
        import yaml

        own: dict[str, Written] = {}
        merged: list[Written] = []
        for key, value in node.value:
            line = key.start_mark.line + 1
            scalar = isinstance(key, yaml.ScalarNode)
            name = key.value if scalar else f"(the key at {line}:{key.start_mark.column + 1})"
            if name == "<<" and key.style is None:
                found = self.read(value, depth + 1)
                merged += found.value if isinstance(found.value, list) else [found]
            elif name in own:
                raise _wrong(self._file, line, f"'{name}' stands twice.")
            else:
                own[name] = self.read(value, depth + 1)
        for each in merged:
            for name, written in each.entries("what '<<' merges").items():
                own.setdefault(name, written)
        return own
