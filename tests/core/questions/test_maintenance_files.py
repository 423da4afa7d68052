"""The maintenance of a platform, as it stands in YAML."""

from __future__ import annotations

from pathlib import Path

import pytest

from ubunye_core import ConfigError, Maintenance, read_maintenance


def written(folder: Path, text: str) -> Path:
    path = folder / "maintenance.yaml"
    path.write_text(text)
    return path


def test_it_is_read_as_it_is_written(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        maintenance:
          - {name: backup warehouse, from: "00:00", to: 01:00, time_zone: Asia/Jakarta}
          - name: patches
            from: "23:00"
            to: "24:00"
            days: [sat, Sunday]
            start: 2026-01-01
            end: 2027-01-01T00:00:00Z
          - {name: month end, cron: 0 20 1 * *, takes: 4h}
        """,
    )
    assert read_maintenance(path) == (
        Maintenance(name="backup warehouse", from_="00:00", to="01:00", time_zone="Asia/Jakarta"),
        Maintenance(
            name="patches", from_="23:00", to="24:00", days=frozenset({5, 6}),
            start="2026-01-01", end="2027-01-01T00:00:00Z",
        ),
        Maintenance(name="month end", cron="0 20 1 * *", takes="4h"),
    )  # fmt: skip


def test_none_at_all_is_said_by_an_empty_list(tmp_path: Path) -> None:
    assert read_maintenance(written(tmp_path, "maintenance: []\n")) == ()


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("maintenance:\n  - {name: x, from: 0h, to: '01:00'}\n", 2, "no time of day for from"),
        ("maintenance:\n  - name: x\n    from: '00:00'\n    to: '25:00'\n", 4, "no time of day"),
        ("maintenance:\n  - name: x\n    cron: '0 0 * *'\n    takes: 1h\n", 3, "no cron"),
        ("maintenance:\n  - name: x\n    cron: 0 0 * * *\n    takes: long\n", 4, "length of time"),
        ("maintenance:\n  - name: x\n    time_zone: Mars/Base\n", 3, "no time zone"),
        ("maintenance:\n  - name: x\n    from: '00:00'\n    days: [funday]\n", 4, "no day"),
        ("maintenance:\n  - name: x\n    from: '00:00'\n    until: '01:00'\n", 4, "not a known"),
        ("maintenance:\n  - from: '00:00'\n    to: '01:00'\n", 2, "no 'name'"),
        ("maintenance:\n  - name: ok\n    from: 1:00\n    to: 2:00\n  - name: x\n", 5, "either"),
        ("maintenance: nightly\n", 1, "not a list"),
        ("windows: []\n", 1, "not a known key"),
        ("maintenance:\n  - name: x\n    from: '00:00'\n    from: '01:00'\n", 4, "stands twice"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, text: str, line: int, why: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError, match=why) as refused:
        read_maintenance(path)
    assert f"{path}, line {line}: " in str(refused.value)


@pytest.mark.parametrize("text", ["", "{}\n"])
def test_a_file_without_it_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r"is empty|no 'maintenance'"):
        read_maintenance(written(tmp_path, text))
