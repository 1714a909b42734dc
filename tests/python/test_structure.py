"""What the sources say of their own structure is so."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_table_of_contents_of_the_fuser_names_each_of_its_files():
    """That of src/fuse/fuse.h: a line for each file but fuse.cpp, which runs the others."""
    folder = ROOT / "src" / "fuse"
    named = re.findall(r"^//   (\w+\.cpp) ", (folder / "fuse.h").read_text(), re.M)
    assert sorted(named) == sorted(path.name for path in folder.glob("*.cpp") if path.name != "fuse.cpp")


def test_no_product_knows_an_oracle():
    """The tool runs the oracles and tests compare with them: what they judge shares nothing with them."""
    for path in [*(ROOT / "src").rglob("CMakeLists.txt"), *(ROOT / "python").rglob("CMakeLists.txt")]:
        if path.is_relative_to(ROOT / "src" / "oracle"):
            continue
        text = path.read_text()
        for library in re.findall(r"inlay_library\((.*?)\)", text, re.S):
            links = re.search(r"\bLINKS\b(.*?)(?=\b(?:TEST_LINKS|TEST_LABELS|SOURCES)\b|$)", library, re.S)
            assert not links or "oracle" not in links[1], f"{path}: {library}"
        for linked in re.findall(r"target_link_libraries\((.*?)\)", text, re.S):
            assert "oracle" not in linked, f"{path}: {linked}"
    for path in (path for folder in ("src", "python/src") for path in (ROOT / folder).rglob("*.[ch]*")):
        if not path.is_relative_to(ROOT / "src" / "oracle") and "test" not in path.stem:
            assert '#include "oracle/' not in path.read_text(), path
