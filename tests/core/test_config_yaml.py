"""YAML is read as it is written, and every error names the file and the line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ubunye_core import ConfigError
from ubunye_core.config import MAX_CONFIG_BYTES, MAX_SAID, Written, read_yaml


def written(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "config.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read(tmp_path: Path, text: str | bytes) -> dict[str, Written]:
    return read_yaml(written(tmp_path, text)).entries("the file")


@pytest.mark.parametrize(
    "scalar",
    ["2026-10", "2026-10-01", "010", "0x1F", "NO", "yes", "1.10", "1e3", "+1", "1_000", "12:30:45"],
)
def test_a_plain_scalar_stays_the_text_that_stands_in_the_file(tmp_path: Path, scalar: str) -> None:
    found = read(tmp_path, f"v: {scalar}\nq: '{scalar}'\n")
    assert found["v"].text("v") == found["q"].text("q") == scalar
    assert (found["v"].plain, found["q"].plain) == (True, False)


def test_each_value_knows_its_line(tmp_path: Path) -> None:
    found = read(tmp_path, "# what this is\na: 1\n\nb:\n  - x\n  - y\n")
    assert [each.line for each in (found["a"], *found["b"].items("b"))] == [2, 5, 6]
    assert str(found["a"].wrong("it is odd.")) == f"{tmp_path}/config.yaml, line 2: it is odd."


def test_only_a_plain_null_is_null(tmp_path: Path) -> None:
    found = read(tmp_path, "a:\nb: ~\nc: null\nd: ''\ne: 'null'\nf: nUll\n")
    assert [each.is_null for each in found.values()] == [True, True, True, False, False, False]
    with pytest.raises(ConfigError, match="line 1: a is not a single value"):
        found["a"].text("a")


def test_true_and_false_are_the_only_booleans(tmp_path: Path) -> None:
    found = read(tmp_path, "a: true\nb: False\nc: yes\nd: 1\n")
    assert (found["a"].boolean("a"), found["b"].boolean("b")) == (True, False)
    for name, line in (("c", 3), ("d", 4)):
        with pytest.raises(ConfigError, match=rf"line {line}: .* not true or false"):
            found[name].boolean(name)


def test_aliases_and_merges_are_followed_and_own_keys_win(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "base: &base {wait: 1h, poll: 5m}\nmore: &more {poll: 9m, x: 1}\n"
        "one: {<<: *base, wait: 2h}\ntwo:\n  <<: [*base, *more]\nsame: *base\n",
    )
    one, two = found["one"].entries("one"), found["two"].entries("two")
    assert {name: each.value for name, each in one.items()} == {"wait": "2h", "poll": "5m"}
    assert {name: each.value for name, each in two.items()} == {
        "wait": "1h",
        "poll": "5m",
        "x": "1",
    }
    assert found["same"].entries("same")["wait"].line == 1


def test_a_byte_order_mark_and_windows_line_ends_do_not_matter(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xef\xbb\xbfa: 1\r\nb: 2\r\n")["b"].value == "2"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: it is empty"),
        ("# only a comment\n", "line 1: it is empty"),
        ("a: 1\na: 2\n", "line 2: 'a' stands twice"),
        ("a: 1\n'a': 2\n", "line 2: 'a' stands twice"),
        ("a: 1\n\tb: 2\n", "line 2"),
        ("a: [1\nb: 2\n", "line 2"),
        ("a: 1\n--- \nb: 2\n", "line 2"),
        ("a: *nothing\n", "line 1"),
        ("a: &a [*a]\n", "line 1: too many values, or nested too deep"),
        ("<<: 7\n", "line 1: what '<<' merges is not a map"),
        ("x: 1\na: !!python/object/apply:os.system [echo]\n", "line 2: the tag"),
        ("a: !!python/name:os.system ''\n", "line 1: the tag"),
        ("a: !secret x\n", "line 1: the tag '!secret' is not allowed"),
        (b"a: 1\nb: \xff\xfe\n", "line 2: it is not UTF-8 text"),
        ("a: 1\n".encode("utf-16"), "line 1: it is not UTF-8 text"),
        (b"a: 1\nb: \x00\n", "line 2: it holds a control character"),
        (b"a: 1\nb: \x1b[31m\n", "line 2: it holds a control character"),
        ('a: "\\UFFFFFFFF"', "line 1: it holds an escape of no character"),
        ('a: "\\UD8000000"', "line 1: it holds an escape of no character"),
        ("[" * 20_000, "line 1: it is nested too deep"),
        ("a: " + "[" * 80 + "]" * 80, "nested too deep"),
        ("a: " + "x" * MAX_CONFIG_BYTES, "is larger than"),
    ],
)
def test_what_cannot_be_read_is_an_error_that_names_file_and_line(
    tmp_path: Path, text: str | bytes, said: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as wrong:
        read_yaml(path)
    assert str(path) in str(wrong.value)
    assert said in str(wrong.value)


def test_a_bomb_of_aliases_is_refused_before_it_goes_off(tmp_path: Path) -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    for level in range(1, 12):
        bomb += f"a{level}: &a{level} [" + ", ".join([f"*a{level - 1}"] * 9) + "]\n"
    with pytest.raises(ConfigError, match="too many values"):
        read_yaml(written(tmp_path, bomb))


def test_what_is_no_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    for name in ("pipe", "link", "nothing", "."):
        with pytest.raises(ConfigError, match="not a file that can be read"):
            read_yaml(tmp_path / name)


def test_wrong_shapes_and_unknown_keys_name_their_line(tmp_path: Path) -> None:
    found = read(tmp_path, "a: 1\nb: {x: 1,\n  z: 2}\nc: [1]\n")
    for what, ask in (
        ("line 1: it is not a map", lambda: found["a"].entries("it")),
        ("line 1: it is not a list", lambda: found["a"].items("it")),
        ("line 4: it is not a single value", lambda: found["c"].text("it")),
        (r"line 3: 'z' is not a known key of it. Known: x, y", lambda: _known(found["b"])),
    ):
        with pytest.raises(ConfigError, match=what):
            ask()


@pytest.mark.parametrize(
    "text",
    ["? {long}\n", "? {long}\n? {long}\n", "a: *{long}\n", "a: !{long} 1\n", "x: {long}\n"],
    ids=["unknown", "twice", "alias", "tag", "value"],
)
def test_an_error_quotes_no_more_than_somebody_reads(text: str, tmp_path: Path) -> None:
    path = written(tmp_path, text.replace("{long}", "k" * 100_000))

    def ask() -> None:
        found = read_yaml(path).entries("it", known=("x", "y"))["x"]
        raise found.wrong(f"'{found.value}' is wrong.", hint=f"Write no '{found.value}'.")

    with pytest.raises(ConfigError, match=r"config.yaml, line \d: .*kkk") as refused:
        ask()
    assert len(str(refused.value)) < 2 * MAX_SAID + len(str(path)) + 20


@pytest.mark.parametrize(
    "secret",
    ["postgresql://ada:geheim@db/pay", f"postgresql://ada:{'geheim' * 100}@db", "token=geheim"],
    ids=["url", "long", "assigned"],
)
def test_an_error_shows_no_password_that_stands_in_a_file(secret: str, tmp_path: Path) -> None:
    found = read(tmp_path, f"a: {secret}\nb: {{x: {secret}}}\nc: {{'{secret}': 1}}\n")
    for wrong in (
        lambda: found["a"].wrong(f"'{found['a'].value}' is wrong.", hint=f"Not '{secret}'."),
        lambda: found["a"].boolean("it"),
        lambda: found["c"].entries("it", known=("x",)),
    ):
        try:
            error = wrong()
        except ConfigError as raised:
            error = raised
        assert "geheim" not in str(error)
        assert "***" in str(error)


def _known(written: Written) -> dict[str, Written]:
    return written.entries("it", known=("x", "y"))
