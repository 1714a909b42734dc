"""clang-tidy over the files of build/release that changed since they were clean.

    scripts/tidy.py plain|analyzer SECONDS

A file is clean as it stands: itself, every header of ours that it includes, its flags, .clang-tidy, and clang-tidy. What was found
clean leaves a stamp named after all these in build/tidy. When SECONDS are over no file is begun; the next run goes on.
Prints what is wrong; the last line says how many files are clean. Exit code 0: all.
"""

import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD, STAMPS = ROOT / "build" / "release", ROOT / "build" / "tidy"
TIDY = shutil.which("clang-tidy-19") or "clang-tidy"
ANALYZER = "-*,clang-analyzer-core.*,clang-analyzer-cplusplus.*"
# In Boost's numbers of many limbs these find a shift that is not taken, and the address of a temporary that has no bytes.
# (asan looks at what is taken.)
LIMBS, NOT_IN_LIMBS = b"<boost/multiprecision/", ",-clang-analyzer-core.BitwiseShift,-clang-analyzer-core.StackAddressEscape"
# A function is left after so many nodes: a seventh of clang's number, a fifth of its time, and half an hour for all files.
NODES = [f"--extra-arg={flag}" for flag in ("-Xclang", "-analyzer-config", "-Xclang", "max-nodes=30000")]

# The flags are gcc's, some of which clang does not know; the second is as in cmake/build.cmake.
FLAGS = ["-Wno-unknown-warning-option", "-Wno-deprecated-declarations"]


@functools.cache
def version():
    return subprocess.check_output([TIDY, "--version"], text=True)


@functools.cache
def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def headers():
    """The files of ours that each object was made of, as ninja knows them."""
    out, object_file = {}, None
    for line in subprocess.check_output(["ninja", "-C", BUILD, "-t", "deps"], text=True).splitlines():
        if line.startswith("    "):
            path = (BUILD / line.strip()).resolve()
            if path.is_relative_to(ROOT):
                out[object_file].append(path)
        elif ": #deps" in line:
            object_file = line.split(": #deps")[0]
            out[object_file] = []
    return out


def checks(kind, path):
    """The arguments of clang-tidy that say what is looked for."""
    if kind == "plain":
        return ["--checks=-clang-analyzer-*"]
    return [f"--checks={ANALYZER}{NOT_IN_LIMBS if LIMBS in path.read_bytes() else ''}", *NODES]


def stamp(kind, command, path, headers):
    paths = [path, *headers]
    text = [kind, version(), *checks(kind, path), *FLAGS, command, digest(ROOT / ".clang-tidy"), *(f"{p} {digest(p)}" for p in sorted(set(paths)))]
    return STAMPS / hashlib.sha256("\n".join(text).encode()).hexdigest()


def main(kind, seconds):
    end = time.monotonic() + seconds
    STAMPS.mkdir(parents=True, exist_ok=True)
    made_of = headers()
    todo, clean = [], 0
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        is_ours = path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in ("src", "tools", "python", "tests", "bench")
        if not is_ours or path.suffix != ".cpp" or kind == "analyzer" and (path.stem.endswith("_test") or {"tests", "bench"} & {*path.parts}):
            continue
        object_file = entry["command"].split(" -o ")[1].split()[0]
        mark = stamp(kind, entry["command"], path, made_of.get(object_file, []))
        if mark.exists():
            clean += 1
        else:
            todo.append((path, mark))

    def tidy(path, mark):
        if time.monotonic() > end:
            return None
        command = [TIDY, "-p", BUILD, "--quiet", "--exclude-header-filter=/[.]venv", *checks(kind, path), *(f"--extra-arg={flag}" for flag in FLAGS), path]
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode == 0:
            mark.touch()
            return True
        print(done.stdout, flush=True)
        return False

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        results = list(pool.map(tidy, *zip(*todo))) if todo else []
    clean += results.count(True)
    print(f"{clean} files are clean, {results.count(False)} are not, {results.count(None)} were not looked at")
    if False in results:
        return 1
    # Not begun for want of time: no finding, and no pass either.
    return 75 if None in results else 0


sys.exit(main(sys.argv[1], float(sys.argv[2])))
