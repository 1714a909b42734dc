"""What the sources say of their own structure is so."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_table_of_contents_of_the_fuser_names_each_of_its_files():
    """That of src/fuse/fuse.h: a line for each file but fuse.cpp, which runs the others."""
    folder = ROOT / "src" / "fuse"
    named = re.findall(r"^//   (\w+\.cpp) ", (folder / "fuse.h").read_text(), re.M)
    assert sorted(named) == sorted(path.name for path in folder.glob("*.cpp") if path.name != "fuse.cpp")
