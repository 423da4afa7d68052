"""Many random values for each rule of text, built with numpy and without Python objects."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Generator = np.random.Generator
Make = Callable[[Generator, int], pa.Array]


def _bits(chance: Generator, count: int, width: type) -> np.ndarray:
    size = np.dtype(width).itemsize
    return np.frombuffer(chance.bytes(size * count), width)


def _short_decimals(chance: Generator, count: int) -> np.ndarray:
    digits = chance.integers(-(10**7), 10**7, count)
    return digits / 10.0 ** chance.integers(0, 9, count)


def _of_all_sizes(chance: Generator, count: int, low: float, high: float) -> np.ndarray:
    return chance.choice([-1.0, 1.0], count) * 10 ** chance.uniform(low, high, count)


def _near_powers(chance: Generator, count: int, width: type) -> np.ndarray:
    """Powers of two and of ten, one and two digits, and what stands next to them."""
    info = np.finfo(width)
    twos = np.ldexp(1.0, chance.integers(info.minexp - info.nmant, info.maxexp, count))
    tens = chance.integers(1, 100, count) * 10.0 ** chance.integers(-44, 37, count)
    with np.errstate(over="ignore", under="ignore"):
        values = np.where(chance.random(count) < 0.5, twos, tens).astype(width)
    steps = chance.integers(-1, 2, count)
    unsigned = values.view(np.uint64 if width is np.float64 else np.uint32)
    return (unsigned + steps.astype(unsigned.dtype)).view(width)


def _with_nulls(
    chance: Generator, values: np.ndarray, type_: pa.DataType | None = None
) -> pa.Array:
    array = pa.array(values, mask=chance.random(len(values)) < 0.05)
    return array if type_ is None else array.view(type_)


def _integers(type_: pa.DataType, low: int, high: int) -> Make:
    width = np.int32 if type_.bit_width == 32 else np.int64

    def make(chance: Generator, count: int) -> pa.Array:
        values = chance.integers(low, high, count, width, endpoint=True)
        return _with_nulls(chance, values, type_)

    return make


def _decimals(precision: int, scale: int, bits: int = 128) -> Make:
    type_ = (pa.decimal128 if bits == 128 else pa.decimal256)(precision, scale)

    def make(chance: Generator, count: int) -> pa.Array:
        # Of any length: the product of a random 63-bit number and a power of ten, cut to fit.
        words = np.zeros((count, bits // 64), np.int64)
        words[:, 0] = _bits(chance, count, np.int64) >> chance.integers(0, 64, count)
        words[:, 1:] = (words[:, 0] >> 63)[:, None]
        if precision >= 38:
            wide = chance.random(count) < 0.5
            words[wide, 1] = chance.integers(-(2**62), 2**62, wide.sum())
            words[:, 2:] = (words[:, 1] >> 63)[:, None]
        else:
            words[:, 0] %= 10 ** min(precision, 18) - 1
            negative = chance.random(count) < 0.5
            words[negative, 0] *= -1
            words[:, 1:] = (words[:, 0] >> 63)[:, None]
        data = pa.py_buffer(words.tobytes())
        return pa.Array.from_buffers(type_, count, [None, data])

    return make


def _strings(chance: Generator, count: int) -> pa.Array:
    alphabet = np.array([*map(chr, range(0x21)), *'"\\"\\az/<&', "\x7f", "é", "\u2028", "😀"])
    picked = alphabet[chance.integers(0, len(alphabet), (count, 4))]
    texts = picked[:, 0]
    for at in range(1, 4):
        texts = np.char.add(texts, picked[:, at])
    return pa.array(texts, pa.string(), mask=chance.random(count) < 0.05)


def _mostly_clean_strings(chance: Generator, count: int) -> pa.Array:
    clean = pa.array(["", "plain", "é", "😀 and more"]).take(pa.array(chance.integers(0, 4, count)))
    few = pa.array(chance.random(count) < 0.05)
    return pc.if_else(few, _strings(chance, count), clean)


def _binaries(chance: Generator, count: int) -> pa.Array:
    lengths = chance.integers(0, 8, count)
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    data = pa.py_buffer(chance.bytes(int(offsets[-1])))
    return pa.Array.from_buffers(pa.binary(), count, [None, pa.py_buffer(offsets), data])


_CENTURIES = 4 * 10**15  # microseconds
_YEARS = 253_402_300_799  # the last second of the year 9999

RULES: dict[str, Make] = {
    "doubles of random bits": lambda r, n: pa.array(_bits(r, n, np.float64)),
    "doubles with few digits": lambda r, n: _with_nulls(r, _short_decimals(r, n)),
    "doubles of all sizes": lambda r, n: pa.array(_of_all_sizes(r, n, -12, 22)),
    "doubles near powers": lambda r, n: pa.array(_near_powers(r, n, np.float64)),
    "subnormal doubles": lambda r, n: pa.array(r.integers(0, 2**52, n).view(np.float64)),
    "floats of random bits": lambda r, n: pa.array(_bits(r, n, np.float32)),
    "floats with few digits": lambda r, n: _with_nulls(r, _short_decimals(r, n).astype(np.float32)),
    "floats of all sizes": lambda r, n: pa.array(_of_all_sizes(r, n, -9, 20).astype(np.float32)),
    "floats near powers": lambda r, n: pa.array(_near_powers(r, n, np.float32)),
    "half floats": lambda r, n: pa.array(_bits(r, n, np.float16)),
    "integers": _integers(pa.int64(), -(2**63), 2**63 - 1),
    "unsigned integers": lambda r, n: pa.array(_bits(r, n, np.uint64)),
    "dates": _integers(pa.date32(), -719_528, 2_932_896),
    "dates of all years": _integers(pa.date32(), -(2**31), 2**31 - 1),
    "dates in milliseconds": _integers(pa.date64(), -(2**46), 2**47),
    "instants of our centuries": _integers(pa.timestamp("us", "UTC"), -_CENTURIES, _CENTURIES),
    "instants of the years to 9999": _integers(
        pa.timestamp("us", "UTC"), -62_167_219_200_000_000, _YEARS * 10**6
    ),
    "instants of all years": _integers(pa.timestamp("us", "UTC"), -(2**63), 2**63 - 1),
    "wall times in nanoseconds": _integers(pa.timestamp("ns"), -(2**63), 2**63 - 1),
    "wall times in milliseconds": _integers(pa.timestamp("ms"), -62 * 10**12, _YEARS * 10**3),
    "wall times in seconds": _integers(pa.timestamp("s"), -62 * 10**9, _YEARS),
    "decimals(10,2)": _decimals(10, 2),
    "decimals(18,6)": _decimals(18, 6),
    "decimals(20,7)": _decimals(20, 7),
    "decimals(38,18)": _decimals(38, 18),
    "decimals(38,37)": _decimals(38, 37),
    "decimals(5,-2)": _decimals(5, -2),
    "decimals(60,20)": _decimals(60, 20, 256),
    "strings": _strings,
    "strings with few escapes": _mostly_clean_strings,
    "binaries": _binaries,
}
"""What each rule of text is tried on: random arrays of a given length."""
