"""Looks at a wheel: scripts/wheel_contents.py WHEEL NEWEST_GLIBC MOST_DOWNLOAD MOST_INSTALLED

Prints what it found, and fails where there is a file that nobody needs, a library that is not of the system, an exported
symbol too many, a glibc that is too new, too many bytes, or code of another architecture than the tag says.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

SYSTEM = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libpthread.so.0", "libdl.so.2"}
# By the end of the tag: what readelf calls it, and its loader, which a library of thread-local variables names.
ARCHITECTURES = {"x86_64": ("X86-64", "ld-linux-x86-64.so.2"), "aarch64": ("AArch64", "ld-linux-aarch64.so.1")}


def allowed(architecture):
    return re.compile(
        rf"inlay/([\w/]+)\.(py|pyi)|inlay/py\.typed|inlay/pymc/bridgestan_c/\w+\.[ch]|inlay/_inlay\.(abi3|cpython-311-{architecture}-linux-gnu)\.so"
        r"|inlay/libinlay_jit\.so|inlay-[\d.]+\.dist-info/(METADATA|RECORD|WHEEL|entry_points\.txt|licenses/LICENSE|sboms/.*)"
    )


def readelf(path, *flags):
    return subprocess.run(["readelf", "-W", *flags, path], capture_output=True, text=True, check=True).stdout


def versions(path):
    """By version of glibc, (2, 34), the symbols that ask for it."""
    out = {}
    for name, major, minor in re.findall(r" UND (\w+)@GLIBC_(\d+)\.(\d+)", readelf(path, "--dyn-syms")):
        out.setdefault((int(major), int(minor)), []).append(name)
    return out


def look_at(path, architecture, newest_glibc):
    """What is wrong with a shared object: a list of sentences."""
    wrong = []
    machine, loader = ARCHITECTURES[architecture]
    if not re.search(rf"Machine: .*\b{machine}$", readelf(path, "--file-header"), re.MULTILINE):
        return [f"{path.name} is not for {architecture}"]
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", readelf(path, "--dynamic")))
    if others := needed - SYSTEM - {loader}:
        wrong.append(f"{path.name} needs {', '.join(sorted(others))}")
    if re.search(r"R(UN)?PATH", readelf(path, "--dynamic")):
        wrong.append(f"{path.name} has a run path")
    if ".symtab" in readelf(path, "--sections"):
        wrong.append(f"{path.name} is not stripped")
    exported = re.findall(r"(?:FUNC|OBJECT) +(?:GLOBAL|WEAK|UNIQUE) +DEFAULT +\d+ (\S+)", readelf(path, "--dyn-syms"))
    expected = {"inlay_jit_emit"} if path.name == "libinlay_jit.so" else {"PyInit__inlay"}
    others = [name for name in exported if name not in expected]
    if others:
        wrong.append(f"{path.name} exports {', '.join(others[:20])}")
    unversioned = re.findall(r" GLOBAL DEFAULT +UND (?!_?Py)(\w+)$", readelf(path, "--dyn-syms"), re.MULTILINE)
    if unversioned:
        wrong.append(f"{path.name} asks for no version of {', '.join(unversioned)}")
    found = versions(path)
    newest = max(found)
    print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB, glibc {newest[0]}.{newest[1]} for {', '.join(sorted(found[newest]))}")
    if newest > newest_glibc:
        wrong.append(f"{path.name} asks for glibc {newest[0]}.{newest[1]}")
    return wrong


def main(wheel, newest_glibc, most_download, most_installed):
    wheel = pathlib.Path(wheel)
    architecture = next(name for name in ARCHITECTURES if wheel.name.endswith(f"_{name}.whl"))
    newest_glibc = tuple(map(int, newest_glibc.split(".")))
    wrong = []
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        installed = sum(entry.file_size for entry in archive.infolist())
        names = [name for name in archive.namelist() if not name.endswith("/")]
        wrong += [f"{name} is not needed" for name in names if not allowed(architecture).fullmatch(name)]
        for name in names:
            if name.endswith(".so"):
                wrong += look_at(pathlib.Path(archive.extract(name, folder)), architecture, newest_glibc)
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
