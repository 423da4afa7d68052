"""The hashes of what ran, and of what it ran on."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from importlib import metadata
from pathlib import Path

from ubunye_core.hashing import Environment, code_hash, environment, environment_hash


def _expected(*files: tuple[str, bytes]) -> str:
    fed = b"".join(name.encode() + b"\0" + content + b"\0" for name, content in files)
    return f"sha256:{hashlib.sha256(fed).hexdigest()}"


def _write(folder: Path, *files: tuple[str, bytes]) -> None:
    for name, content in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def test_files_are_taken_in_the_order_of_their_path_parts(tmp_path: Path) -> None:
    _write(tmp_path, ("a-b.py", b"2"), ("a/b.py", b"1"), ("a.py", b"3"), ("B.py", b"0"))
    assert code_hash(tmp_path) == _expected(
        ("B.py", b"0"), ("a/b.py", b"1"), ("a-b.py", b"2"), ("a.py", b"3")
    )


def test_line_ends_do_not_matter(tmp_path: Path) -> None:
    _write(tmp_path / "unix", ("a.py", b"x = 1\ny = 2\n"))
    _write(tmp_path / "windows", ("a.py", b"x = 1\r\ny = 2\r\n"))
    assert code_hash(tmp_path / "unix") == code_hash(tmp_path / "windows")


def test_hidden_and_compiled_files_do_not_matter(tmp_path: Path) -> None:
    root = tmp_path / ".hidden-above-is-fine" / "task"
    _write(root, ("a.py", b"1"))
    before = code_hash(root)
    _write(
        root,
        (".b.py", b""),
        (".venv/lib/c.py", b""),
        ("__pycache__/d.py", b""),
        ("sub/__pycache__/e.py", b""),
        ("f.txt", b""),
        ("folder.py/readme", b""),
    )
    assert before is not None
    assert code_hash(root) == before


def test_a_changed_or_renamed_file_changes_the_hash(tmp_path: Path) -> None:
    _write(tmp_path, ("a.py", b"1"))
    first = code_hash(tmp_path)
    _write(tmp_path, ("a.py", b"2"))
    second = code_hash(tmp_path)
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    assert len({first, second, code_hash(tmp_path)}) == 3


def test_one_file_hashes_like_a_folder_that_holds_only_it(tmp_path: Path) -> None:
    _write(tmp_path, ("alone/job.py", b"1\r\n"), ("beside/job.py", b"1\n"), ("beside/x.py", b"2"))
    assert code_hash(tmp_path / "beside" / "job.py") == code_hash(tmp_path / "alone")
    assert code_hash(str(tmp_path / "alone" / "job.py")) == _expected(("job.py", b"1\n"))


def test_no_code_has_no_hash(tmp_path: Path) -> None:
    assert code_hash(None) is None
    assert code_hash(tmp_path) is None
    assert code_hash(tmp_path / "nowhere") is None


def test_the_environment_is_that_of_this_process() -> None:
    here = environment()
    assert here.python == platform.python_version()
    assert here.implementation == platform.python_implementation()
    assert here.platform == sys.platform
    assert here.machine == platform.machine()
    assert here.packages["pyarrow"] == metadata.version("pyarrow")
    assert "pytest" not in here.packages
    assert environment() is here


def test_the_environment_hash_is_that_of_its_sorted_json() -> None:
    of = Environment(
        python="3.11.7",
        implementation="CPython",
        platform="linux",
        machine="x86_64",
        packages={"pyarrow": "26.0.1", "numpy": "2.2.6"},
    )
    text = (
        '{"implementation":"CPython","machine":"x86_64","packages":{"numpy":"2.2.6",'
        '"pyarrow":"26.0.1"},"platform":"linux","python":"3.11.7"}'
    )
    assert environment_hash(of) == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    assert json.loads(text) == of.fields()
