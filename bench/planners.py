"""Arenas of other compilers' programs: what their own planners take beside inlay's, as multiples of the lower bound. By hand:

    python bench/planners.py                  the problems of bench/data/memory: a table of docs/planner.md
    python bench/planners.py FILE.tflite ...  networks (needs the packages flatbuffers and tflite): the other one

The planner of TFLM is done again here, from what it is known to do. Of ExecuTorch and MiniMalloc the figures are those of
their own runs: ExecuTorch's default, `greedy` (1.5.1), and MiniMalloc asked for the capacity that was published.
"""

import csv
import pathlib
import sys
import time

import inlay

DATA = pathlib.Path(__file__).parent / "data" / "memory"

EXECUTORCH = {  # bytes, or of published problems the multiple
    "resnet50.plain": 14614528, "googlenet.plain": 7307264, "gpt6.plain": 557056, "lstm2.inplace": 346112,
    "train_unet.temps": 3776512, "onnx_magika.inplace": 3670016,
    "A": 1.442, "C": 1.504, "D": 1.334, "F": 1.409, "G": 1.446, "H": 1.428, "K": 1.736,
}  # fmt: skip


def tflm(buffers):
    """TFLM's GreedyMemoryPlanner: the largest first, of equal ones the last one first; each into the lowest gap between
    those that live beside it. Its lives have both ends in them, here they are half-open."""
    placed = []  # offset, end, lower, upper; by offset
    for size, lower, upper in sorted(reversed(buffers), key=lambda buffer: -buffer[0]):
        at = 0
        for begin, end, low, high in placed:
            if low < upper and lower < high:
                if begin - at >= size:
                    break
                at = max(at, end)
        placed.append((at, at + size, lower, upper))
        placed.sort(key=lambda place: place[0])
    return max((end for _, end, _, _ in placed), default=0)


def planned(storages, planner, **options):
    start = time.thread_time()
    plan = inlay.plan(storages, planner, **options)
    return plan, time.thread_time() - start


def row(title, storages, planner, peers, **options):
    """`peers`: what stands before the figures of TFLM and inlay, made of the lower bound."""
    theirs = tflm([(s.size, s.lower, s.upper) for s in storages])
    greedy, _ = planned(storages, "greedy")
    plan, seconds = planned(storages, planner, **options)
    bound = plan.lower_bound
    figures = [*peers(bound), f"{theirs / bound:.3f}", f"{greedy.peak / bound:.3f}", f"{plan.peak / bound:.3f}"]
    print(f"| {title} | {len(storages)} | {bound} | {' | '.join(figures)} | {1e3 * seconds:.1f} |", flush=True)


def head(*peers):
    columns = ["", "buffers", "bound, bytes", *peers, "TFLM", "inlay greedy", "inlay", "inlay, ms"]
    print(f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}")


def traces():
    files = sorted((DATA / "models").glob("*.csv")) + sorted((DATA / "minimalloc").glob("*.csv"))
    if not files:
        sys.exit(f"{DATA} has no traces: they are in the repository, not in a release of it")
    head("ExecuTorch", "MiniMalloc")
    for file in files:
        with open(file, newline="") as opened:
            storages = [inlay.Storage(r["id"], *(int(r[k]) for k in ("size", "lower", "upper"))) for r in csv.DictReader(opened)]
        name, capacity = (file.stem.split(".") if file.parent.name == "minimalloc" else (file.stem, None))
        options = {"capacity": int(capacity)} if capacity else {}

        def peers(bound, name=name, capacity=capacity):
            known = EXECUTORCH[name]
            of_minimalloc = f"{int(capacity) / bound:.3f}" if capacity else ""
            return f"{known / bound if known > 2 else known:.3f}", of_minimalloc

        row(name, storages, "max" if capacity else "search", peers, **options)


def networks(paths):
    import inlay.tflite

    head()
    for path in map(pathlib.Path, paths):
        row(path.stem, [inlay.Storage(s.name, s.size, s.lower, s.upper, s.alignment) for s in inlay.tflite.buffers(path)],
            "search", lambda bound: ())  # fmt: skip


if __name__ == "__main__":
    networks(sys.argv[1:]) if sys.argv[1:] else traces()
