"""Random modules, planned by inlay and run by ExecuTorch, against PyTorch.

INLAY_FUZZ_SECONDS=600 INLAY_FUZZ_SEED=1 pytest tests/executorch/test_random_modules.py
"""

import collections
import copy
import os
import time

import pytest

pytest.importorskip("executorch")

import inlay.executorch  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
from executorch.exir import ExecutorchBackendConfig, to_edge  # noqa: E402
from executorch.runtime import Runtime  # noqa: E402
from torch._higher_order_ops.map import map as torch_map  # noqa: E402

SECONDS = float(os.environ.get("INLAY_FUZZ_SECONDS", 20))
SEED = int(os.environ.get("INLAY_FUZZ_SEED", 0))
UNARY = (
    torch.relu,
    torch.sigmoid,
    torch.tanh,
    torch.abs,
    torch.neg,
    lambda x: torch.exp(torch.clamp(x, -3, 3)),  # of more, a last bit of x is many of the result
    torch.nn.functional.hardswish,
    torch.clone,
)
BINARY = (torch.add, torch.mul, torch.sub, torch.minimum, torch.maximum)


class Random(torch.nn.Module):
    """The same steps in each call; what fits where is found while they are made, from values (`values`: of the arguments)."""

    def __init__(self, seed, num_inputs):
        super().__init__()
        self.seed, self.num_inputs = seed, num_inputs
        self.register_buffer("state", torch.ones(4, 6))

    def forward(self, *inputs):
        rng, values = np.random.default_rng(self.seed), list(inputs)

        def some():
            # What was made last is read most: chains are what is in place.
            return values[-1] if rng.random() < 0.5 else values[int(rng.integers(len(values)))]

        for _ in range(int(rng.integers(3, 16))):
            x, kind = some(), int(rng.integers(16))
            if kind < 3:
                values.append(UNARY[int(rng.integers(len(UNARY)))](torch.clamp(x, -3, 3) if kind == 2 else x))
            elif kind < 6:
                y = some()
                fits = all(m == n or m == 1 or n == 1 for m, n in zip(x.shape[::-1], y.shape[::-1], strict=False))
                values.append(BINARY[int(rng.integers(len(BINARY)))](x, y if fits else torch.full_like(x, 0.5)))
            elif kind == 6:
                values.append(x.reshape(-1) if x.dim() > 1 else x.reshape(1, -1))
            elif kind == 7:
                values.append(x.transpose(0, 1).contiguous() if x.dim() == 2 else x[: x.shape[0] // 2])
            elif kind == 8:
                values.append(x.sum(-1, keepdim=bool(rng.integers(2))) if x.dim() > 1 else torch.softmax(x, -1))
            elif kind == 9:
                at = torch.tensor([0, x.shape[0] - 1])
                values.append(torch.index_put(x, (at,), torch.zeros(2, *x.shape[1:], dtype=x.dtype)))
            elif kind == 10:
                perm = torch.tensor(rng.permutation(x.shape[0]))
                values.append(torch.index_put(x, (perm,), x))
            elif kind == 14:
                axis = int(rng.integers(x.dim()))
                values += torch.chunk(x, int(rng.integers(2, 4)), axis)
            elif kind == 15:
                at = torch.tensor(rng.permutation(24)[:3])
                values.append(torch.index_put(self.state.view(-1), (at,), torch.full((3,), 0.5)))
            elif kind == 11:
                values.append(branch(rng, x, some()))
            elif kind == 12 and x.dim() == 2:
                values.append(each_row(rng, x, some()))
            elif x.shape == self.state.shape:
                self.state.mul_(0.5).add_(x)
                values.append(self.state + 1)
            else:
                y = some()
                values.append(torch.cat([x, y]) if x.dim() == y.dim() == 1 else x * 2)
        made = values[self.num_inputs :]
        return tuple([made[-1]] + [made[int(rng.integers(len(made)))] for _ in range(int(rng.integers(3)))])


def branch(rng, x, y):
    """One of two, by a sum that may have either sign, of views and results of an operand."""
    first, second = (UNARY[int(rng.integers(len(UNARY) - 1))] for _ in range(2))
    is_viewed, is_scaled = (bool(each) for each in rng.integers(2, size=2))

    def taken(x):
        a = first(torch.clamp(x, -3, 3))
        return (a.reshape(-1) * 2).reshape(x.shape) if is_viewed else a * 2

    def other(x):
        a = x.reshape(-1) * 0.5 if is_viewed else x * 0.5
        return second(torch.clamp(a + 1 if is_scaled else a, -3, 3)).reshape(x.shape)

    return torch.cond(y.sum() > 0, taken, other, (x,))


def each_row(rng, x, y):
    op, is_viewed = UNARY[int(rng.integers(len(UNARY) - 1))], bool(rng.integers(2))

    def body(row, y):
        a = op(torch.clamp(row, -3, 3)) * 0.5
        return a + (y.reshape(-1) * 2 if is_viewed else torch.relu(y)).sum()

    return torch_map(body, x, y)


def check(seed):
    rng = np.random.default_rng(seed)
    shapes = [[(4, 6), (6,), (1, 6), (4, 1), (24,)][int(rng.integers(5))] for _ in range(int(rng.integers(1, 4)))]
    inputs = tuple(torch.from_numpy(rng.uniform(-1, 1, shape).astype("float32")) for shape in [(4, 6), *shapes])
    module = Random(seed, len(inputs))
    try:
        edge = to_edge(torch.export.export(copy.deepcopy(module), inputs, strict=False))
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0][:60]}"  # it does not fit, or cannot be exported
    planning = inlay.executorch.MemoryPlanningPass(
        add_ops=["aten.index_put"], overwrite=[["input"], ["state"], []][seed % 3], in_place=seed % 7 != 0
    )
    options = {"run_reinplace_pass": seed % 2 == 0}
    theirs = copy.deepcopy(edge)
    try:
        program = edge.to_executorch(ExecutorchBackendConfig(memory_planning_pass=planning, **options))
    except Exception as error:
        try:
            theirs.to_executorch(ExecutorchBackendConfig(**options))
        except Exception:
            return f"ExecuTorch: {str(error).splitlines()[0][:60]}"
        raise
    method = Runtime.get().load_program(program.buffer).load_method("forward")
    if edge.exported_program().graph_signature.buffers_to_mutate:
        module.state.zero_()  # ExecuTorch does not keep what a state holds at first
    for scale in (1.0, -0.5):
        arguments = tuple(x * scale for x in inputs)
        got = [x.clone() for x in method.execute(list(arguments))]
        torch.testing.assert_close(
            got, list(module(*arguments)), msg=lambda text: f"INLAY_FUZZ_SEED={seed}: {text}\n{planning.report}"
        )
    return None


def test_random_modules(record_property):
    seed, end, refused = SEED, time.monotonic() + SECONDS, collections.Counter()
    while time.monotonic() < end:
        try:
            refused[check(seed)] += 1
        except AssertionError:
            raise
        except Exception as error:
            raise AssertionError(f"INLAY_FUZZ_SEED={seed}") from error
        seed += 1
    checked = refused.pop(None, 0)
    assert checked > sum(refused.values()), refused
    record_property("modules", checked)
    record_property("refused", dict(refused))
