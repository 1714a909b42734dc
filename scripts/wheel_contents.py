"""Looks at a wheel: scripts/wheel_contents.py WHEEL NEWEST_GLIBC MOST_DOWNLOAD MOST_INSTALLED

Prints what it found, and fails where there is a file that nobody needs, a library that is not of the system, an exported
symbol too many, a glibc that is too new, or too many bytes.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

SYSTEM = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "libpthread.so.0", "libdl.so.2"}
ALLOWED = re.compile(
    r"inlay/([\w/]+)\.(py|pyi)|inlay/py\.typed|inlay/_inlay\.(abi3|cpython-311-x86_64-linux-gnu)\.so|inlay/libinlay_jit\.so"
    r"|inlay-[\d.]+\.dist-info/(METADATA|RECORD|WHEEL|entry_points\.txt|licenses/LICENSE|sboms/.*)"
)


def readelf(path, *flags):
    return subprocess.run(["readelf", "-W", *flags, path], capture_output=True, text=True, check=True).stdout


def versions(path):
    """By version of glibc, (2, 34), the symbols that ask for it."""
    out = {}
    for name, major, minor in re.findall(r" UND (\w+)@GLIBC_(\d+)\.(\d+)", readelf(path, "--dyn-syms")):
        out.setdefault((int(major), int(minor)), []).append(name)
    return out


def look_at(path, newest_glibc):
    """What is wrong with a shared object: a list of sentences."""
    wrong = []
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", readelf(path, "--dynamic")))
    if needed - SYSTEM:
        wrong.append(f"{path.name} needs {', '.join(sorted(needed - SYSTEM))}")
    if re.search(r"R(UN)?PATH", readelf(path, "--dynamic")):
        wrong.append(f"{path.name} has a run path")
    if ".symtab" in readelf(path, "--sections"):
        wrong.append(f"{path.name} is not stripped")
    exported = re.findall(r"(?:FUNC|OBJECT) +(?:GLOBAL|WEAK|UNIQUE) +DEFAULT +\d+ (\S+)", readelf(path, "--dyn-syms"))
    expected = {"inlay_jit_emit"} if path.name == "libinlay_jit.so" else {"PyInit__inlay"}
    others = [name for name in exported if name not in expected]
    if others:
        wrong.append(f"{path.name} exports {', '.join(others[:20])}")
    found = versions(path)
    newest = max(found)
    print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB, glibc {newest[0]}.{newest[1]} for {', '.join(sorted(found[newest]))}")
    if newest > newest_glibc:
        wrong.append(f"{path.name} asks for glibc {newest[0]}.{newest[1]}")
    return wrong


def main(wheel, newest_glibc, most_download, most_installed):
    wheel = pathlib.Path(wheel)
    newest_glibc = tuple(map(int, newest_glibc.split(".")))
    wrong = []
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        installed = sum(entry.file_size for entry in archive.infolist())
        names = [name for name in archive.namelist() if not name.endswith("/")]
        wrong += [f"{name} is not needed" for name in names if not ALLOWED.fullmatch(name)]
        for name in names:
            if name.endswith(".so"):
                wrong += look_at(pathlib.Path(archive.extract(name, folder)), newest_glibc)
    download = wheel.stat().st_size
    print(f"{wheel.name}: {download / 1e6:.1f} MB, installed {installed / 1e6:.1f} MB")
    if download > int(most_download):
        wrong.append(f"it is {download} bytes, and {most_download} are allowed")
    if installed > int(most_installed):
        wrong.append(f"it is {installed} bytes when installed, and {most_installed} are allowed")
    if wrong:
        sys.exit("\n".join(f"error: {sentence}" for sentence in wrong))


if __name__ == "__main__":
    main(*sys.argv[1:])
