"""Reading arrays from files: .npy, .npz, .safetensors, PyTorch .pt (weights only), .csv and .parquet.

Nothing is ever unpickled.

What is read comes back as an array that `check_projection` takes; bfloat16 and 8-bit floats, which NumPy lacks, come as
`Entries`-ready float32 numbers with the dtype that they are computed in beside them.
"""

from __future__ import annotations

import math
import os
import warnings
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

from .usage import first_line, shown

SUFFIXES = (".npy", ".npz", ".safetensors", ".pt", ".pth", ".csv", ".parquet")
LIMIT, DEFAULT_GIB = "ATTNPROOF_MOST_GIB", 2.0  # how much an array may unpack to, and the variable that raises it
MAGIC, PICKLE = b"\x93NUMPY", b"\x80"
DAMAGED = "is damaged, cut short or no {}; write it again"
PICKLED = "holds pickled objects, which can run code when read; save plain arrays instead"


@dataclass(frozen=True)
class Stored:
    """The arrays of one file: their keys (a lone "" for .npy), and how to load one. `close` frees the file."""

    path: Path
    keys: tuple[str, ...]
    load: Callable[[str], Any]

    def array(self, key: str | None, option: str) -> Any:
        """The array under a key; with no key, the only 2-D array there is.

        Raises ValueError that lists the keys when the key is missing, or when there are several to choose from, and for
        an array without entries: no projection has no slots.
        """
        found = self.load(self._chosen(key, option))
        if 0 in np.shape(found):
            raise ValueError(
                f"{self.path} holds an array of shape {np.shape(found)}, without entries; save one that has some"
            )
        return found

    def _chosen(self, key: str | None, option: str) -> str:
        listed = ", ".join(map(repr, self.keys[:12])) + (", …" if len(self.keys) > 12 else "")
        if self.keys == ("",):
            if key:
                remedy = "save both in one .npz" if option == "--keys-from" else "leave it out"
                raise ValueError(f"{option} {key!r} does not apply to {self.path}, which holds one array; {remedy}")
            return ""
        if key is None:
            if len(self.keys) == 1:
                return self.keys[0]
            if not self.keys:
                raise ValueError(f"{self.path} holds no array; save one there")
            raise ValueError(f"{self.path} holds {len(self.keys)} arrays; name one with {option}: {listed}")
        if key not in self.keys:
            raise ValueError(f"{option} {key!r} is not in {self.path}; its keys are {listed or 'none'}")
        return key


def readable(path: Path, option: str, wanted: str) -> None:
    """ValueError in one sentence unless the path is that of a file that can be read and holds something."""
    said = f"{option} {shown(path)}"
    if os.path.isdir(path):
        raise ValueError(f"{said} is a folder; pass the path of {wanted}")
    if not os.path.isfile(path):
        raise ValueError(f"{said} is not a file; pass the path of {wanted}")
    try:
        with path.open("rb") as file:
            if not file.read(1):
                raise ValueError(f"{said} is empty; write it again")
    except OSError as error:
        raise ValueError(f"{said} cannot be read ({error.strerror}); make it readable or pass another") from None


def real(values: Any, name: str) -> np.ndarray:
    """The values as float64; ValueError that names the dtype unless they are real numbers."""
    kind = str(getattr(values, "dtype", "")).removeprefix("torch.")
    tensor = hasattr(values, "double") and "complex" not in kind  # bfloat16 among them, which NumPy lacks
    array = np.asarray(values.to("cpu").double() if tensor else values)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} has dtype {kind or array.dtype}; save real numbers")
    return array.astype(np.float64)


def open_file(path: str | Path, option: str = "FILE =") -> Stored:
    """The arrays of a file, by its suffix; `option` is how errors name the argument that gave the path.

    Raises ValueError in one sentence for a missing file, an unknown suffix, pickled objects and truncated files;
    ImportError naming the extra when a .pt file needs PyTorch.
    """
    path = Path(path)
    readable(path, option, f"one of {', '.join(SUFFIXES)}")
    readers: Mapping[str, Callable[[Path], Stored]] = {
        ".npy": _npy,
        ".npz": _npz,
        ".safetensors": _safetensors,
        ".pt": _torch,
        ".pth": _torch,
        ".csv": _table,
        ".parquet": _table,
    }
    suffix = path.suffix.lower()
    if suffix not in readers:
        said = f"{option} {shown(path)} ends in {path.suffix or 'nothing'!r}"
        raise ValueError(f"{said}; save it as one of {', '.join(SUFFIXES)}")
    return readers[suffix](path)


def refuse_size(path: Path, shape: tuple[int, ...], size: int) -> None:
    """ValueError, before anything is read, for an array of more bytes than the limit, or with a side beyond reason."""
    most = float(os.environ.get(LIMIT) or DEFAULT_GIB)
    if size > most * 2**30 or max(shape, default=0) > most * 2**30:
        said = f"an array of shape {shape}, {size / 2**30:.3g} GiB" if size else f"an empty array of shape {shape}"
        raise ValueError(f"{path} holds {said}, and the limit is {most:g} GiB; raise it with {LIMIT}, or save fewer")


def _npy(path: Path) -> Stored:
    with path.open("rb") as file:
        start = file.read(6)
    if start != MAGIC:
        raise ValueError(f"{path} {PICKLED if start[:1] == PICKLE else DAMAGED.format('.npy file')}")
    with path.open("rb") as file:
        shape, size = _numpy(path, lambda: _described(file))
    if not size:  # what is mapped from a file is read by the page, whatever its size
        refuse_size(path, shape, size)
    array = _numpy(path, lambda: np.load(path, mmap_mode="r", allow_pickle=False))
    return Stored(path, ("",), lambda _: array)


def _npz(path: Path) -> Stored:
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            start = file.read(1)
        raise ValueError(f"{path} {PICKLED if start == PICKLE else DAMAGED.format('.npz archive')}")
    archive: zipfile.ZipFile = _numpy(path, lambda: zipfile.ZipFile(path))
    members = dict.fromkeys(name for name in archive.namelist() if name.endswith(".npy"))
    return Stored(path, tuple(name.removesuffix(".npy") for name in members), lambda key: _member(path, archive, key))


def _member(path: Path, archive: zipfile.ZipFile, key: str) -> Any:
    """One array of an archive, once the header says that it is not too large."""

    def read() -> Any:
        name = f"{key}.npy"
        if archive.namelist().count(name) > 1:
            raise ValueError(f"{path} holds {key!r} more than once; save it anew")
        with archive.open(name) as file:
            refuse_size(path, *_described(file))
        with archive.open(name) as file:
            return np.lib.format.read_array(file, allow_pickle=False)

    return _numpy(path, read)


def _described(file: Any) -> tuple[tuple[int, ...], int]:
    """Shape and bytes of an array, from the header of its .npy file."""
    version = np.lib.format.read_magic(file)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    shape, _, kind = readers.get(version, np.lib.format.read_array_header_2_0)(file)
    if any(isinstance(side, bool) for side in shape):
        raise EOFError(f"shape {shape}")
    return shape, math.prod(shape) * kind.itemsize


def _table(path: Path) -> Stored:
    """A table of numbers without a header (.csv), or with named columns (.parquet)."""
    if path.suffix.lower() == ".csv":
        try:
            array = np.loadtxt(path, delimiter=",", ndmin=2)
        except (ValueError, OSError) as error:
            raise ValueError(
                f"{path} is no table of numbers ({first_line(error)}); write numbers with commas"
            ) from None
        return Stored(path, ("",), lambda _: array)
    from ..libraries import library

    parquet = library("pyarrow.parquet", f"reading {path}")
    try:
        frame = parquet.read_table(path)
        array = np.column_stack([column.to_numpy() for column in frame.columns])
    except Exception:  # whatever the reader trips over
        raise ValueError(f"{path} {DAMAGED.format('.parquet file')}") from None
    return Stored(path, ("",), lambda _: array)


def _numpy(path: Path, read: Callable[[], Any]) -> Any:
    try:
        return read()
    except (RuntimeError, NotImplementedError) as error:  # of zipfile: a password, or a way of packing it lacks
        why = first_line(error)
        raise ValueError(f"{path} cannot be unpacked ({why}); save it with numpy.savez") from None
    except (ValueError, EOFError, OSError, TokenError, zlib.error, zipfile.BadZipFile, zipfile.LargeZipFile) as error:
        if str(error).startswith(str(path)):
            raise
        if "pickle" in str(error).lower() or "object" in str(error).lower():
            raise ValueError(f"{path} {PICKLED}") from None
        raise ValueError(f"{path} {DAMAGED.format(f'{path.suffix} file')}") from None


def _safetensors(path: Path) -> Stored:
    from safetensors import SafetensorError, safe_open

    try:
        file: Any = safe_open(path, framework="numpy")
        keys = tuple(file.keys())
    except (SafetensorError, OSError, ValueError):
        raise ValueError(f"{path} {DAMAGED.format('.safetensors file')}") from None

    def load(key: str) -> Any:
        kind = file.get_slice(key).get_dtype()
        if kind in WIDENED:
            return _widened(path, key, kind)
        try:
            return file.get_tensor(key)
        except (TypeError, KeyError, AttributeError, SafetensorError):
            raise ValueError(
                f"{key!r} in {path} has dtype {kind}, which NumPy lacks; save it as float32 or bfloat16"
            ) from None

    return Stored(path, keys, load)


def _of_e4m3fn(bits: np.ndarray) -> np.ndarray:
    """8-bit floats without infinity, exactly: a sign, four bits of exponent with bias 7, three of mantissa."""
    exponent, mantissa = bits >> 3 & 15, (bits & 7).astype(np.float32)
    size = np.ldexp(np.where(exponent > 0, 8 + mantissa, mantissa), np.maximum(exponent, 1).astype(int) - 10)
    size[bits & 127 == 127] = np.nan
    return np.asarray(np.where(bits >> 7, -size, size), np.float32)


WIDENED: Mapping[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {  # what NumPy lacks, as float32, exactly
    "BF16": ("<u2", lambda bits: (bits.astype(np.uint32) << 16).view(np.float32)),  # the upper half of a float32
    "F8_E5M2": ("u1", lambda bits: (bits.astype(np.uint16) << 8).view(np.float16).astype(np.float32)),  # of a float16
    "F8_E4M3": ("u1", _of_e4m3fn),
}


def _widened(path: Path, key: str, kind: str) -> Any:
    """A tensor of bfloat16 or of 8-bit floats, marked as computed in bfloat16."""
    import json

    from ..causal.projection.entries import Labelled

    with path.open("rb") as file:  # safe_open has validated the header already
        length = int.from_bytes(file.read(8), "little")
        entry = json.loads(file.read(length))[key]
        start, stop = entry["data_offsets"]
        file.seek(8 + length + start)
        stored, widened = WIDENED[kind]
        bits = np.frombuffer(file.read(stop - start), stored)
    return Labelled(widened(bits).reshape(entry["shape"]), "bfloat16")


def _torch(path: Path) -> Stored:
    import pickle

    from ..libraries import library

    torch = library("torch", f"reading {path}")

    try:
        with warnings.catch_warnings():  # an error says more than PyTorch's musings about protocols
            warnings.simplefilter("ignore")
            found = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        raise ValueError(
            f"{path} holds more than tensors and would run code when read; save a state_dict instead"
        ) from None
    except Exception:  # whatever the reader trips over: it was written for files that are whole
        raise ValueError(f"{path} {DAMAGED.format('PyTorch file')}") from None
    if isinstance(found, torch.Tensor):
        return Stored(path, ("",), lambda _: found)
    if not isinstance(found, Mapping):
        raise ValueError(f"{path} holds a {type(found).__name__}, not tensors by name; save a state_dict instead")
    tensors = {str(k): v for k, v in found.items() if isinstance(v, torch.Tensor)}
    return Stored(path, tuple(tensors), tensors.__getitem__)
