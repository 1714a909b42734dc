"""Plans of memory for TensorFlow Lite Micro: read from a .tflite file, and written into it.

`inlay.tflite.plan("net.tflite", "planned.tflite")` lays out the tensors of a network and writes the offsets where TFLM's
interpreter looks for them, the metadata `OfflineMemoryAllocation`: nothing else of the file changes. `buffers("net.tflite")`
are the sizes and lives alone. Both need the packages flatbuffers and tflite.
"""

import math
import os
import struct
from dataclasses import dataclass, replace
from pathlib import Path

from . import files
from .choices import a_kind
from .errors import InvalidFile
from .plan import Storage
from .plan import plan as lay_out

try:
    import flatbuffers
    import tflite
except ImportError as error:
    raise ImportError(
        "inlay.tflite needs the packages flatbuffers and tflite (pip install flatbuffers tflite): "
        f"{error.name} cannot be imported"
    ) from error

__all__ = ["buffers", "plan"]

ALIGNMENT = 16  # TFLM's: of where a buffer of the arena begins, and of its size
_IDENTIFIER = b"TFL3"
_METADATA = "OfflineMemoryAllocation"  # its buffer: a version, a subgraph, n, then n offsets; int32s, little endian
_ONLINE = -1  # an offset that the interpreter finds itself
_MOST = 2**31 - 1  # of bytes and offsets: they are int32s
_MODEL_FIELDS = 8  # of the schema: version, operator_codes, subgraphs, description, buffers, metadata_buffer, metadata, ...
_BUFFERS, _TABLES = 4, (1, 2, 3, 5, 7)  # and 6, the metadata: slots of what a field points to

_T = tflite.TensorType
_BYTES = {  # of an element. TFLM keeps an int4 of the arena in a byte
    _T.BOOL: 1, _T.INT4: 1, _T.INT8: 1, _T.UINT8: 1, _T.INT16: 2, _T.UINT16: 2, _T.FLOAT16: 2, _T.BFLOAT16: 2,
    _T.INT32: 4, _T.UINT32: 4, _T.FLOAT32: 4, _T.RESOURCE: 4, _T.INT64: 8, _T.UINT64: 8, _T.FLOAT64: 8, _T.COMPLEX64: 8,
    _T.COMPLEX128: 16,
}  # fmt: skip
_NAMES = {value: name for name, value in vars(_T).items() if name.isupper()}


def buffers(model):
    """What the interpreter keeps in its arena: a list of `Storage`, one for each tensor that has bytes there.

    `model`: the path of a .tflite file, or its bytes. Constants lie in the file, and variables (state from call to call)
    behind the arena's plan: neither is listed. Operator i is at time i + 1. Inputs live from time 0, results to the end, others
    from the operator that makes them to the last that reads them; one that no operator touches lives at -1, as in the
    interpreter. Sizes are rounded up to 16 bytes, as there. `offset` is that of a plan that the file has already.

    Errors: ValueError (InvalidFile) for what is no such file, and for networks of several subgraphs.
    """
    return [tensor.storage for tensor in _Network(model).tensors if tensor.is_planned]


def plan(model, path=None, planner="search", *, capacity=None, budget_ms=None):
    """Lays out a network's arena, and writes the network with the plan in it to `path`, if given. Returns the `Plan`.

    `model`: the path of a .tflite file, or its bytes. `planner`, `capacity` (bytes) and `budget_ms` are those of
    `inlay.plan`; a mapping from the tensors' names to offsets is proved and written. A plan that the file has already is
    replaced. `Plan.peak` is the head of the arena that the interpreter takes for tensors. What its kernels ask for besides
    while it starts (scratch buffers) it places itself, in gaps of the plan or above it.

    Errors: ValueError (InvalidFile) for what is no such file, for networks of several subgraphs, and for a file whose own
    plan lets tensors share bytes that are needed at one time: its maker knows more than the file says. Nothing is
    written then.

    >>> inlay.tflite.plan("net.tflite", "planned.tflite").peak
    128
    """
    network = _Network(model)
    network.require_own_plan_is_replaceable()
    planned = [tensor for tensor in network.tensors if tensor.is_planned]
    storages = [replace(tensor.storage, offset=None) for tensor in planned]
    found = lay_out(storages, planner, capacity=capacity, budget_ms=budget_ms)
    offsets = [_ONLINE] * len(network.tensors)
    for tensor, storage in zip(planned, found.storages, strict=True):
        if storage.offset + storage.size > _MOST:
            raise network.wrong(f"{tensor} ends at {storage.offset + storage.size}, and offsets have 31 bits")
        offsets[tensor.index] = storage.offset
    if path is not None:
        files.write_whole(path, network.with_offsets(offsets))
    return found


@dataclass
class _Tensor:
    index: int
    label: str  # in the file
    name: str  # which no other has
    bytes: int  # 0: neither in the arena nor planned
    first: int = -1
    last: int = -1
    offset: int | None = None

    @property
    def is_planned(self):
        return self.bytes > 0

    @property
    def storage(self):
        size = -(-self.bytes // ALIGNMENT) * ALIGNMENT
        return Storage(self.name, size, self.first, self.last + 1, ALIGNMENT, self.offset)

    def used(self, time):
        self.first = time if self.first < 0 else min(self.first, time)
        self.last = max(self.last, time)

    def __str__(self):
        return f"tensor {self.index} ({self.label})"


class _Network:
    """A file of one subgraph: its tensors, their lives, and where a plan of theirs stands."""

    def __init__(self, model):
        self.name, self.data = _contents(model)
        if len(self.data) < 8 or self.data[4:8] != _IDENTIFIER:
            raise self.wrong("this is no .tflite file: TFL3 does not stand at byte 4")
        try:
            self._read()
        except InvalidFile:
            raise
        except (struct.error, IndexError, TypeError, ValueError, OverflowError) as error:  # what flatbuffers raises
            raise self.wrong(f"this file is cut off, or an offset in it points beyond its end ({error})") from error

    def wrong(self, message):
        return InvalidFile(f"error[invalid-file]: {self.name}: {message}")

    def _read(self):
        self.model = tflite.Model.GetRootAs(self.data)
        self._require_known()
        self.version = self.model.Version()
        self.kept = {slot: at for slot in _TABLES if (at := self._position(slot))}
        self.extents = [self._extent(j) for j in range(self.model.BuffersLength())]
        subgraph = self.model.Subgraphs(0)
        self.tensors, self.names = [], set()
        for i in range(subgraph.TensorsLength()):
            self.tensors.append(self._tensor(i, subgraph.Tensors(i)))
        self._mark_lives(subgraph)
        self.plan = self._read_plan(subgraph)

    def _require_known(self):
        table = self.model._tab
        extra = [i for i in range(_MODEL_FIELDS, 64) if table.Offset(4 + 2 * i)]
        if extra:
            raise self.wrong(f"field {extra[0]} of the model is of a newer schema than {_MODEL_FIELDS} fields")
        count = self.model.SubgraphsLength()
        if count != 1:
            raise self.wrong(
                f"there are {count} subgraphs, and a plan is of one: TFLM takes the offset at place i for tensor i of each"
            )

    def _position(self, slot):
        """Of what a field of the model points to; None: it has none."""
        table = self.model._tab
        field = table.Offset(4 + 2 * slot)
        position = table.Indirect(table.Pos + field) if field else None
        if field and position + 4 > len(self.data):
            raise self.wrong(f"field {slot} of the model lies at {position}, and the file ends at {len(self.data)}")
        return position

    def _extent(self, j):
        """Of buffer j: where its bytes begin and end, which lie in the file."""
        buffer = self.model.Buffers(j)
        if buffer.Offset() > 1 or buffer.Size() > 1:
            raise self.wrong(f"buffer {j} lies behind the flatbuffer, where TFLM does not look")
        field = buffer._tab.Offset(4)
        begin = buffer._tab.Vector(field) if field else 0
        end = begin + buffer.DataLength()
        if end > len(self.data):
            raise self.wrong(f"buffer {j} ends at {end}, and the file at {len(self.data)}: it is cut off")
        return begin, end

    def _tensor(self, i, tensor):
        label = (tensor.Name() or b"").decode(errors="replace")
        name = label or f"tensor {i}"
        while name in self.names:
            name += f"#{i}"
        self.names.add(name)
        out = _Tensor(i, label, name, 0)
        if tensor.Buffer() >= len(self.extents):
            raise self.wrong(f"{out} has buffer {tensor.Buffer()}, and there are {len(self.extents)} buffers")
        begin, end = self.extents[tensor.Buffer()]
        if begin == end and not tensor.IsVariable():
            out.bytes = self._bytes(out, tensor)
        return out

    def _bytes(self, out, tensor):
        dims = _ints(tensor.ShapeAsNumpy())
        if any(dim < 0 for dim in dims):
            raise self.wrong(f"{out} has the dims {dims}: TFLM needs sizes that are known")
        kind = tensor.Type()
        if kind not in _BYTES:
            raise self.wrong(f"{out} is of type {_NAMES.get(kind, kind)}, whose elements have no size in TFLM")
        bytes = math.prod(dims) * _BYTES[kind]
        if bytes > _MOST - ALIGNMENT:
            raise self.wrong(f"{out} has {bytes} bytes, and offsets have 31 bits")
        return bytes

    def _mark_lives(self, subgraph):
        end = subgraph.OperatorsLength()
        for tensor in self._named(subgraph.InputsAsNumpy(), "the inputs name"):
            tensor.used(0)
        for i in range(end):
            op = subgraph.Operators(i)
            for numbers in (op.InputsAsNumpy(), op.OutputsAsNumpy()):
                for tensor in self._named(numbers, f"operator {i} names"):
                    tensor.used(i + 1)
        for tensor in self._named(subgraph.OutputsAsNumpy(), "the results name"):
            if tensor.first < 0:
                tensor.used(0)
            tensor.used(end)

    def _named(self, numbers, who):
        for i in _ints(numbers):
            if i >= len(self.tensors) or i < -1:
                raise self.wrong(f"{who} tensor {i}, and there are {len(self.tensors)} tensors")
            if i >= 0:  # -1: an operand that is left out
                yield self.tensors[i]

    def _read_plan(self, subgraph):
        """Where the plan's numbers begin and end in the file; None: it has none. Tensors get their offsets."""
        found = [m for m in map(self.model.Metadata, range(self.model.MetadataLength())) if m.Name() == _METADATA.encode()]
        if not found:
            return None
        if len(found) > 1:
            raise self.wrong(f"there are {len(found)} plans ({_METADATA})")
        if found[0].Buffer() >= len(self.extents):
            raise self.wrong(f"the plan has buffer {found[0].Buffer()}, and there are {len(self.extents)} buffers")
        begin, end = self.extents[found[0].Buffer()]
        if end - begin < 12:
            raise self.wrong(f"the plan has {end - begin} bytes, and its head alone has 12")
        version, of, count = struct.unpack_from("<3i", self.data, begin)
        if version not in (0, 1) or of not in (0, 1):
            raise self.wrong(f"the plan is of version {version} for subgraph {of}; known are 0 and 1, of one subgraph")
        if count != len(self.tensors):
            first = self._first_without(count)
            raise self.wrong(f"the plan has offsets for {count} tensors, and there are {len(self.tensors)}{first}")
        if end - begin < 12 + 4 * count:
            had = (end - begin - 12) // 4
            raise self.wrong(f"the plan says that {count} offsets follow, and {had} do{self._first_without(had)}")
        for tensor, offset in zip(self.tensors, struct.unpack_from(f"<{count}i", self.data, begin + 12), strict=True):
            if offset < _ONLINE:
                raise self.wrong(f"the plan has {tensor} at {offset}")
            tensor.offset = None if offset == _ONLINE else offset
        self._require_private(begin, found[0].Buffer(), subgraph)
        return begin, begin + 12 + 4 * count

    def _first_without(self, count):
        return f": none for {self.tensors[count]}" if 0 <= count < len(self.tensors) else ""

    def _require_private(self, begin, buffer, subgraph):
        """That nothing but the plan reads its bytes, which are written over."""
        for tensor in self.tensors:
            if self.extents[subgraph.Tensors(tensor.index).Buffer()][0] == begin:
                raise self.wrong(f"{tensor} has the bytes of the plan, buffer {buffer}, as its own")

    def require_own_plan_is_replaceable(self):
        fixed = [tensor for tensor in self.tensors if tensor.is_planned and tensor.offset is not None]
        as_they_are = [replace(tensor.storage, size=tensor.bytes, alignment=1) for tensor in fixed]
        try:
            lay_out(as_they_are, "naive")
        except ValueError as error:
            told = str(error).removeprefix("inlay.plan: ")
            raise self.wrong(f"the file's own plan knows more than its graph says, and is kept: {told}") from error

    def with_offsets(self, offsets):
        """The file, with a plan of these."""
        words = struct.pack(f"<{3 + len(offsets)}i", 1, 0, len(offsets), *offsets)
        if self.plan is None:
            return self._with_metadata(words)
        begin, end = self.plan
        return self.data[:begin] + words + self.data[end:]

    def _with_metadata(self, words):
        """A new root before all that there is, whose bytes stay as they are: also what this package does not know of."""
        builder = flatbuffers.Builder(len(self.data) + 8 * (len(words) + len(self.extents)) + 4096)
        builder.Prep(ALIGNMENT, 0)
        whole = self.data + bytes(-len(self.data) % ALIGNMENT)
        builder.CreateByteVector(whole)  # at the end: what begins at p there has the offset len(whole) - p

        def at(position):
            return len(whole) - position

        tables = [at(self.model.Buffers(j)._tab.Pos) for j in range(len(self.extents))]
        tables.append(_buffer(builder, words))
        metadata = [at(self.model.Metadata(j)._tab.Pos) for j in range(self.model.MetadataLength())]
        metadata.append(_metadata(builder, buffer=len(tables) - 1))
        vectors = {_BUFFERS: _vector(builder, tables), 6: _vector(builder, metadata)}
        vectors |= {slot: at(position) for slot, position in self.kept.items()}
        tflite.ModelStart(builder)
        tflite.ModelAddVersion(builder, self.version)
        for slot, offset in vectors.items():
            builder.PrependUOffsetTRelativeSlot(slot, offset, 0)
        builder.Finish(tflite.ModelEnd(builder), file_identifier=_IDENTIFIER)
        return bytes(builder.Output())


def _contents(model):
    """Its name for messages, and its bytes."""
    if isinstance(model, str | os.PathLike):
        return os.fspath(model), Path(model).read_bytes()
    if not isinstance(model, bytes | bytearray | memoryview):
        raise TypeError(f"inlay.tflite takes a path or bytes, not {a_kind(model)}")
    return "the network", bytes(model)


def _ints(array):
    """Of what tflite returns for a vector: 0 where there is none."""
    return [] if isinstance(array, int) else array.tolist()


def _buffer(builder, words):
    builder.StartVector(1, len(words), ALIGNMENT)
    for byte in reversed(words):
        builder.PrependByte(byte)
    data = builder.EndVector()
    tflite.BufferStart(builder)
    tflite.BufferAddData(builder, data)
    return tflite.BufferEnd(builder)


def _metadata(builder, buffer):
    name = builder.CreateString(_METADATA)
    tflite.MetadataStart(builder)
    tflite.MetadataAddName(builder, name)
    tflite.MetadataAddBuffer(builder, buffer)
    return tflite.MetadataEnd(builder)


def _vector(builder, tables):
    builder.StartVector(4, len(tables), 4)
    for offset in reversed(tables):
        builder.PrependUOffsetTRelative(offset)
    return builder.EndVector()
