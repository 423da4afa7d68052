"""The text of values, against slow and independent reckonings."""

from __future__ import annotations

import datetime
import decimal
import random
import struct
from collections.abc import Iterator
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubunye_core.hashing import canonical_lines, text


def _cells(array: pa.Array) -> list[str]:
    return [line.removeprefix('{"":')[:-1] for line in canonical_lines(pa.table({"": array}))]


# Floats: an oracle in exact fractions, which knows no shortcut.


def _neighbours(bits: int, layout: str) -> tuple[Fraction, Fraction, bool]:
    """The ends of the interval of numbers that round to a positive float; are they part of it?"""
    integer, real = {"<f": ("<I", "<f"), "<d": ("<Q", "<d")}[layout]

    def at(pattern: int) -> Fraction:
        return Fraction(struct.unpack(real, struct.pack(integer, pattern))[0])

    value = at(bits)
    below = at(bits - 1)
    largest = {"<f": 0x7F7FFFFF, "<d": 0x7FEFFFFFFFFFFFFF}[layout]
    above = at(bits + 1) if bits < largest else value + (value - below)
    return (below + value) / 2, (value + above) / 2, bits % 2 == 0


def _java(bits: int, layout: str) -> str:
    integer, real = {"<f": ("<I", "<f"), "<d": ("<Q", "<d")}[layout]
    value = Fraction(struct.unpack(real, struct.pack(integer, bits))[0])
    low, high, closed = _neighbours(bits, layout)
    shortest = next(_closest_decimals(value, low, high, closed, digits=range(1, 18)))
    if (
        len(str(shortest[0]).rstrip("0")) == 1
    ):  # one digit: the closest of at most two, if it rounds to the value
        two = next(_closest_decimals(value, low, high, closed, digits=range(2, 3)), None)
        shortest = two or shortest
    digits, power = str(shortest[0]).rstrip("0"), shortest[1]
    exponent = len(str(shortest[0])) - 1 + power
    if -3 <= exponent < 7:
        if exponent < 0:
            return f"0.{'0' * (-exponent - 1)}{digits}"
        digits = digits.ljust(exponent + 2, "0")
        return f"{digits[: exponent + 1]}.{digits[exponent + 1 :]}"
    return f"{digits[0]}.{digits[1:] or '0'}E{exponent}"


def _closest_decimals(
    value: Fraction, low: Fraction, high: Fraction, closed: bool, *, digits: range
) -> Iterator[tuple[int, int]]:
    exponent = len(str(value.numerator)) - len(str(value.denominator))
    while Fraction(10) ** exponent > value:
        exponent -= 1
    while Fraction(10) ** (exponent + 1) <= value:
        exponent += 1
    for count in digits:
        power = exponent - count + 1
        scaled = value / Fraction(10) ** power
        candidates = []
        for whole in (scaled.__floor__(), scaled.__floor__() + 1):
            there = whole * Fraction(10) ** power
            if low < there < high or (closed and there in (low, high)):
                candidates.append((abs(there - value), whole % 2, whole))
        if candidates:
            yield min(candidates)[2], power


def _double_bits() -> list[int]:
    chance = random.Random(19)
    powers = [exponent << 52 for exponent in range(1, 2047, 13)]
    near_tens = [
        struct.unpack("<Q", struct.pack("<d", float(f"{digit}e{power}")))[0] + ulps
        for power in range(-323, 308, 7)
        for digit in (1, 2, 9)
        for ulps in (-1, 0, 1)
    ]
    return [
        *(bits for bits in near_tens if bits > 0),
        *powers,
        *(chance.randrange(1, 0x7FEFFFFFFFFFFFFF) for _ in range(1_500)),
        *range(1, 60),
    ]


def _float_bits() -> list[int]:
    chance = random.Random(7)
    plain = [struct.unpack("<I", struct.pack("<f", chance.uniform(1e6, 1e7)))[0] for _ in range(99)]
    return [
        *plain,
        *(chance.randrange(1, 0x7F7FFFFF) for _ in range(3_000)),
        *range(1, 150),
        *(exponent << 23 for exponent in range(1, 255)),
        0x7F7FFFFF,
    ]


@pytest.mark.slow
def test_a_double_has_the_text_of_java_19() -> None:
    for bits in _double_bits():
        value = struct.unpack("<d", struct.pack("<Q", bits))[0]
        assert text.float64_bare(value) == _java(bits, "<d")
        assert text.float64_bare(-value) == "-" + _java(bits, "<d")


def test_a_float_has_the_text_of_java_19() -> None:
    patterns = _float_bits()
    values = [struct.unpack("<f", struct.pack("<I", bits))[0] for bits in patterns]
    assert _cells(pa.array(values, pa.float32())) == [_java(bits, "<f") for bits in patterns]


def test_every_half_float_is_written_as_the_float_it_equals() -> None:
    values = [struct.unpack("<e", struct.pack("<H", bits))[0] for bits in range(0x10000)]
    halves, floats = pa.array(values, pa.float16()), pa.array(values, pa.float32())
    assert _cells(halves) == _cells(floats)


def test_two_digits_round_to_the_same_float_through_a_double() -> None:
    for power in range(-47, 40):
        for digits in range(10, 100):
            decimal_text = f"{digits // 10}.{digits % 10}e{power:+03d}"
            exact = Fraction(digits) * Fraction(10) ** (power - 1)
            try:
                through = struct.unpack("<f", struct.pack("<f", float(decimal_text)))[0]
            except OverflowError:
                continue
            bits = struct.unpack("<I", struct.pack("<f", through))[0]
            if bits == 0:
                assert exact <= Fraction(1, 2**150)
                continue
            low, high, closed = _neighbours(bits, "<f")
            assert low < exact < high or (closed and exact in (low, high))


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (0.001, "0.001"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (1e-4, "1.0E-4"),
        (9.999999999999998e-4, "9.999999999999998E-4"),
        (2e23, "2.0E23"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (12345678912.0, "1.2345678912E10"),
        (5e-324, "4.9E-324"),
        (1e-323, "9.9E-324"),
        (float("inf"), '"Infinity"'),
        (float("-inf"), '"-Infinity"'),
        (float("nan"), '"NaN"'),
    ],
)
def test_a_double_is_written(value: float, written: str) -> None:
    assert _cells(pa.array([value])) == [written]


@given(st.integers(-(2**127), 2**127 - 1), st.integers(-20, 40))
def test_a_decimal_has_the_text_of_its_scale(unscaled: int, scale: int) -> None:
    # Python writes (sign, digits, exponent) by the rule of Java's BigDecimal.toString.
    digits = tuple(int(digit) for digit in str(abs(unscaled)))
    expected = str(decimal.Decimal((int(unscaled < 0), digits, -scale)))
    assert text.decimal_bare(unscaled, scale) == expected


@pytest.mark.parametrize(
    "type_", [pa.decimal32(9, 2), pa.decimal64(18, 2), pa.decimal128(38, 2), pa.decimal256(76, 2)]
)
def test_decimals_of_every_width_share_their_text(type_: pa.DataType) -> None:
    values = [decimal.Decimal("1.10"), None, decimal.Decimal("-12345.67"), decimal.Decimal(0)]
    array = pa.array([None, *values], type_)[1:]
    assert _cells(array.filter(array.is_valid())) == ["1.10", "-12345.67", "0.00"]
    assert len(list(canonical_lines(pa.table({"": array})))) == 4


@given(st.dates())
def test_a_date_has_its_iso_text(date: datetime.date) -> None:
    assert text.date_bare((date - datetime.date(1970, 1, 1)).days) == date.isoformat()


@pytest.mark.parametrize(
    ("days", "written"),
    [
        (2**31 - 1, "+5881580-07-11"),
        (-(2**31), "-5877641-06-23"),
        (-719529, "-0001-12-31"),
        (-719528, "0000-01-01"),
        (2932897, "+10000-01-01"),
        (-141432, "1582-10-10"),
    ],
)
def test_a_date_may_lie_in_any_year(days: int, written: str) -> None:
    assert _cells(pa.array([days], pa.int32()).view(pa.date32())) == [f'"{written}"']


def test_a_date64_is_rounded_down() -> None:
    array = pa.array([-1, 0, 86_399_999], pa.int64()).view(pa.date64())
    assert _cells(array) == ['"1969-12-31"', '"1970-01-01"', '"1970-01-01"']


@given(st.datetimes(), st.sampled_from(["us", "ns"]))
def test_a_naive_timestamp_is_its_own_wall_time(moment: datetime.datetime, unit: str) -> None:
    micros = (moment - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)  # noqa: DTZ001
    if unit == "ns" and not -(2**63) <= micros * 1000 < 2**63:
        return
    raw = micros if unit == "us" else micros * 1000
    array = pa.array([raw], pa.int64()).view(pa.timestamp(unit))
    assert _cells(array) == [f'"{moment.isoformat(timespec="microseconds")}"']


@pytest.mark.parametrize(
    ("micros", "written"),
    [
        (2**63 - 1, "+294247-01-10T04:00:54.775807Z"),
        (-(2**63), "-290308-12-21T19:59:05.224192Z"),
        (-62135596800000001, "0000-12-31T23:59:59.999999Z"),
    ],
)
def test_a_timestamp_may_lie_in_any_year(micros: int, written: str) -> None:
    array = pa.array([micros], pa.int64()).view(pa.timestamp("us", "Africa/Johannesburg"))
    assert _cells(array) == [f'"{written}"']


def test_nanoseconds_of_an_arrow_timestamp_are_cut_downwards() -> None:
    array = pa.array([-1, -1000, 999, 1999], pa.int64()).view(pa.timestamp("ns"))
    assert _cells(array) == [
        '"1969-12-31T23:59:59.999999"',
        '"1969-12-31T23:59:59.999999"',
        '"1970-01-01T00:00:00.000000"',
        '"1970-01-01T00:00:00.000001"',
    ]


def test_times_leave_out_a_zero_fraction() -> None:
    assert _cells(pa.array([3661], pa.time32("s"))) == ['"01:01:01"']
    assert _cells(pa.array([3600100], pa.time32("ms"))) == ['"01:00:00.100000"']
    assert _cells(pa.array([1], pa.time64("us"))) == ['"00:00:00.000001"']


def test_durations_are_spark_intervals() -> None:
    array = pa.array([90061000000, -1, 100000, 0], pa.duration("us"))
    assert _cells(array) == [
        "\"INTERVAL '1 01:01:01' DAY TO SECOND\"",
        "\"INTERVAL '-0 00:00:00.000001' DAY TO SECOND\"",
        "\"INTERVAL '0 00:00:00.1' DAY TO SECOND\"",
        "\"INTERVAL '0 00:00:00' DAY TO SECOND\"",
    ]
    assert _cells(pa.array([-1], pa.duration("s"))) == ["\"INTERVAL '-0 00:00:01' DAY TO SECOND\""]


def test_strings_escape_what_the_format_names_and_no_more() -> None:
    written = _cells(pa.array(['\b\t\n\f\r\x1f\x0b"\\', "/\x7f\x85\u2028\uffff\U0001f600<&"]))
    assert written == [
        '"\\b\\t\\n\\f\\r\\u001F\\u000B\\"\\\\"',
        '"/\x7f\x85\u2028\uffff\U0001f600<&"',
    ]


def test_extension_types_have_texts_of_their_own() -> None:
    assert _cells(pa.array([bytes(range(16))], pa.uuid())) == [
        '"00010203-0405-0607-0809-0a0b0c0d0e0f"'
    ]
    assert _cells(pa.array([5, 0], pa.int8()).cast(pa.bool8())) == ["true", "false"]
    json_ = pa.ExtensionArray.from_storage(pa.json_(), pa.array(['{"a": 1}']))
    assert _cells(json_) == ['"{\\"a\\": 1}"']


@pytest.mark.parametrize(
    ("keys", "type_", "written"),
    [
        (["b", "\U0001f600", "\uffff"], pa.string(), ["b", "\uffff", "\U0001f600"]),
        ([10, 9, -1], pa.int32(), ["-1", "9", "10"]),
        ([True, False], pa.bool_(), ["false", "true"]),
        ([0.1, float("nan"), -1.0], pa.float32(), ["-1.0", "0.1", "NaN"]),
        (
            [float("inf"), float("nan"), 1e7],
            pa.float64(),
            ["1.0E7", "Infinity", "NaN"],
        ),
        (
            [decimal.Decimal("10.00"), decimal.Decimal("9.50")],
            pa.decimal128(10, 2),
            ["9.50", "10.00"],
        ),
        ([datetime.date(2024, 1, 1), datetime.date(1969, 12, 31)], pa.date32(), ["-1", "19723"]),
        ([1704067200, 0], pa.timestamp("s", "UTC"), ["0", "1704067200000000"]),
    ],
)
def test_map_entries_are_ordered_by_key_value(
    keys: list[object], type_: pa.DataType, written: list[str]
) -> None:
    array = pa.array([[(key, 1) for key in keys]], pa.map_(type_, pa.int8()))
    expected = ",".join(f'"{key}":1' for key in written)
    assert _cells(array) == [f"{{{expected}}}"]
