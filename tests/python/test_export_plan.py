"""The header of an exported program has its plan of memory, which `inlay explain` reads from there."""

import json
import re
import subprocess
from pathlib import Path

import inlay
import inlay.pytensor
import pytensor
import pytensor.tensor as pt
import pytest
from test_export import COMPILERS, FLAGS, run, tool
from test_export_segments import POSITIVE

ROOT = Path(__file__).parents[2]
DEVICES = ROOT / "examples" / "devices"

PRODUCTS = """graph @products(%a: f64[64, 64], %s: f64[64] donated) {
  %p = matmul %a, %a
  %q = matmul %p, %a
  %r = matmul %q, %p
  %row = slice %r[0]
  %t = update add %s[0:64], %row
  return %r, %t
}
"""
SYMBOLIC = PRODUCTS.replace("[64", "[n").replace(" 64]", " n]").replace(":64]", ":n]")


def memory_of(text):
    """What `inlay explain` prints below # the memory, but for the order of steps, which is no part of the plan."""
    found = re.search(r"# the memory\n(?:the order of steps: .*\n)?(.*?)(?:\n#|\Z)", text, re.DOTALL)
    return found[1].strip()


def explained(*arguments, code=0):
    return tool("explain", *arguments, code=code)


@pytest.mark.parametrize("text", [PRODUCTS, SYMBOLIC, POSITIVE], ids=["fixed", "symbolic", "late"])
def test_what_explain_reads_is_the_plan(text, tmp_path, monkeypatch):
    monkeypatch.setenv("INLAY_BACKEND", "c")
    program, header = tmp_path / "program.inlay", tmp_path / "program.h"
    program.write_text(text)
    tool("export", program, "-o", tmp_path)
    assert memory_of(explained(header)) == memory_of(explained(program))
    read, wanted = json.loads(explained("--json", header)), json.loads(explained("--json", program))
    assert set(read) == {"memory", "notes", "arena_bytes"}
    assert read["memory"] == wanted["memory"]
    assert len(read["memory"]) > 3
    assert read["arena_bytes"] == wanted["arena_bytes"]


def test_what_it_says(tmp_path):
    header, _ = inlay.export(PRODUCTS, tmp_path)
    plan = json.loads(explained("--json", header))
    rows = {row["value"]: row for row in plan["memory"]}
    assert plan["arena_bytes"] == int(re.search(r"products_ARENA_BYTES (\d+)", header.read_text())[1]) > 0
    assert rows["p"] == {"step": "matmul", "value": "p", "type": "f64[64, 64]", "storage": "s1", "segment": 0, "at": "0",
                         "bytes": "32768", "lives": [1, 6], "reason": ""}  # fmt: skip
    assert rows["q"] == rows["p"] | {"value": "q", "storage": "s2", "at": "32768", "lives": [3, 6]}
    assert [(rows[name]["storage"], rows[name]["at"]) for name in "rt"] == [("out0", "+0"), ("out1", "+0")]
    assert "products_OUT_t = 1 /* f64[64], lies in the bytes of products_IN_s, at whose address" in header.read_text()


@pytest.mark.parametrize("kind", ["c", "object", "shared"])
def test_every_kind_has_it(kind, tmp_path):
    header, code = inlay.export(PRODUCTS, tmp_path, kind)
    assert explained(code) == explained(header)
    assert "  matmul  p " in explained(code)
    header.unlink()
    assert f"{header}: cannot be read" in explained(code, code=1)


def test_the_picture(tmp_path):
    header, _ = inlay.export(PRODUCTS, tmp_path)
    explained(header, "--memory", tmp_path / "map.html")
    page = (tmp_path / "map.html").read_text()
    assert 'data-name="p"' in page
    assert 'data-name="q"' in page
    symbolic, _ = inlay.export(SYMBOLIC, tmp_path, name="symbolic")
    assert "depends on sizes that are symbols" in explained(symbolic, "--memory", tmp_path / "none.html", code=1)
    assert not (tmp_path / "none.html").exists()


@pytest.mark.parametrize("compiler", COMPILERS)
def test_names_that_a_comment_cannot_have(compiler, tmp_path):
    a, s = pt.dmatrix("a */ b /* c  d"), pt.dmatrix("\ne\tf")
    product = (a @ s).astype("float64")
    product.name = "x /*/ y\n*/ int z"
    fn = pytensor.function([a, s], pt.sort(product @ a, axis=0), mode="INLAY")
    header, code = inlay.export(fn, tmp_path, name="odd")
    run(compiler, *FLAGS, "-c", code, "-o", tmp_path / "odd.o")
    plan = explained(header)
    assert "# the memory\nmemory: an arena" in plan
    assert plan.count("\n") >= 5


def fails(header, text):
    """The one error of explain, and in which line."""
    header.write_text(text)
    said = explained(header, code=1)
    assert said.startswith("error[invalid-file]: ")
    assert said.count("error[") == 1
    return said


def test_damage(tmp_path):
    header, _ = inlay.export(PRODUCTS, tmp_path)
    text = header.read_text()
    line = 1 + text[: text.index("  matmul  p ")].count("\n")
    row = text.splitlines()[line - 1]
    assert "has no plan of memory, as headers of inlay export have" in fails(header, "int main(void);\n")
    assert "has no plan of memory" in fails(header, "")
    assert "the plan of memory is cut off" in fails(header, text[: text.index(row)])
    for wrong, message in [
        (row.replace("[64, 64]  ", "[64, 64] "), "has 6 fields, where 7 are expected"),
        (row.replace("  0 ", "  64000 "), "p does not lie in the arena"),
        (row.replace("  0 ", "  x "), "`x` is no offset"),
        (row.replace(" s1 ", " t1 "), "`t1` is no storage"),
        (row.replace("[1, 6)", "[1 6)"), "are no ticks"),
        (row.replace("32768", "32\x01768"), "has a character that is no part of a text"),
    ]:
        assert wrong != row
        said = fails(header, text.replace(row, wrong))
        assert message in said
        assert f"{header}:{line}" in said
    assert "does not say how large" in fails(header, text.replace("memory: arena ", "memory: arena of "))
    assert "not the columns of a memory map" in fails(header, text.replace("  step  ", "  steps  "))


def test_lines_that_end_otherwise(tmp_path):
    header, _ = inlay.export(PRODUCTS, tmp_path)
    wanted = explained(header)
    header.write_bytes(header.read_bytes().replace(b"\n", b"\r\n"))
    assert explained(header) == wanted


def test_it_is_compiled_already(tmp_path):
    header, _ = inlay.export(PRODUCTS, tmp_path)
    assert f"{header} is compiled already" in explained(header, "--fuse=none", code=1)


@pytest.mark.parametrize("path", sorted(DEVICES.glob("*.inlay")), ids=lambda path: path.stem)
def test_programs_of_devices(path, tmp_path):
    """The header is C, whatever the plan says."""
    sizes = re.findall(r"%(\w+): \w+\[.*?\] bound", path.read_text())
    if sizes:
        pytest.skip("its arrays are not here")
    tool("export", path, "--freestanding", "-o", tmp_path)
    header = tmp_path / f"{path.stem}.h"
    done = subprocess.run(["cc", *FLAGS, "-fsyntax-only", "-x", "c", header], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"memory: arena {re.search(r'ARENA_BYTES ([0-9]+)', header.read_text())[1]} bytes" in explained(header)


@pytest.mark.parametrize("kind", ["c", "object", "shared"])
def test_explain_takes_the_files_of_an_export(kind, tmp_path):
    header, code = inlay.export(PRODUCTS, tmp_path, kind)
    for path in (header, str(code)):
        memory = inlay.explain(path)
        told = json.loads(explained("--json", str(path)))
        assert f"# the memory\n{memory}" == explained(str(path))
        assert memory.arena_bytes == told["arena_bytes"] and memory.notes == told["notes"]
        assert [row["value"] for row in memory.rows] == [row["value"] for row in told["memory"]]
        assert [[row["begin"], row["end"]] for row in memory.rows] == [row["lives"] for row in told["memory"]]
        assert memory.to_dict()["rows"] == memory.rows


def test_explain_says_what_a_path_has_to_be(tmp_path):
    with pytest.raises(TypeError, match=r"takes a function, or the path of an exported header, and other.txt ends in no .h, .c"):
        inlay.explain("other.txt")
    (tmp_path / "mine.h").write_text("int main(void);\n")
    with pytest.raises(ValueError, match="mine.h"):
        inlay.explain(tmp_path / "mine.h")
    with pytest.raises(FileNotFoundError):
        inlay.explain(tmp_path / "none.h")
