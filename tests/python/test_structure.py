"""What the sources say of their own structure is so."""

import ast
import re
from pathlib import Path

from cpp_structure import Class, Function, structure_of

ROOT = Path(__file__).parents[2]
BACKENDS = ROOT / "docs" / "backends.md"


def test_the_table_of_contents_of_the_fuser_names_each_of_its_files():
    """That of src/fuse/fuse.h: a line for each file but fuse.cpp, which runs the others."""
    folder = ROOT / "src" / "fuse"
    named = re.findall(r"^//   (\w+\.cpp) ", (folder / "fuse.h").read_text(), re.M)
    assert sorted(named) == sorted(path.name for path in folder.glob("*.cpp") if path.name != "fuse.cpp")


def test_the_table_of_folders_has_each_folder():
    """That of CONTRIBUTING.md: each folder of `src/` that is a library."""
    table = (ROOT / "CONTRIBUTING.md").read_text().partition("## Where things are\n")[2].partition("\n## ")[0]
    named = re.findall(r"^\| `([\w/]+)` \|", table, re.M)
    libraries = [
        str(path.parent.relative_to(ROOT / "src"))
        for path in (ROOT / "src").rglob("CMakeLists.txt")
        if re.search(r"^inlay_library\(", path.read_text(), re.M)
    ]
    assert sorted(named) == sorted(libraries)


def test_the_page_of_backends_says_how_long_the_backend_in_c_is():
    """To a hundred lines, so that small changes leave the page alone for a while."""
    said = re.search(r"`c` is (\d+) (\d+) lines, its functions in C and its\s+tests included", BACKENDS.read_text())
    files = [path for path in (ROOT / "src" / "backend" / "c").rglob("*") if path.is_file()]
    lines = sum(len(path.read_text().splitlines()) for path in files)
    assert abs(int(said[1] + said[2]) - lines) <= 150, lines


def test_the_page_of_backends_has_each_capability():
    caps = (ROOT / "src" / "kernel" / "caps.h").read_text().partition("struct BackendCaps {")[2].partition("\n};")[0]
    fields = re.findall(r"^  (?:int|int64_t|bool|BlockRule) (\w+)(?: = [^;]+)?;", caps, re.M)
    assert {"cost_of_call", "max_inline_cost", "moments_in_one_pass", "blocks"} <= set(fields)
    table = BACKENDS.read_text().partition("## What a backend tells the fuser\n")[2].partition("\n## ")[0]
    named = [name for row in re.findall(r"^\| (`.*?) \|", table, re.M) for name in re.findall(r"`(\w+)[`(]", row)]
    assert sorted(named) == sorted([*fields, "support"])


def test_nothing_asks_which_backend_it_is():
    """What differs is a column of kBackends (src/compiler/backends.cpp), or of kernel::BackendCaps."""
    for path in PRODUCT:
        asked = re.search(r'(?:backend|name)\)? [!=]= "(?:llvm|c)"', path.read_text())
        assert not asked, f"{path.relative_to(ROOT)}: {asked[0]}"


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



def test_each_note_is_cited():
    """`Note [Name]` begins an explanation that several places need, and they cite it."""
    texts = [path.read_text() for path in [*PRODUCT, *PYTHON]]
    notes = re.findall(r"^ *// Note \[([^]]+)\]$", "\n".join(texts), re.M)
    named = re.findall(r"Note \[([^]]+)\]", "\n".join(texts))
    assert len(set(notes)) == len(notes)
    assert {note for note in notes if named.count(note) == 1} == set()
    assert set(named) <= set(notes)


PRODUCT = [
    path
    for folder in ("src", "include", "python/src", "tools")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".h", ".c", ".cpp") and "test" not in path.stem and "testdata" not in path.parts
]
PYTHON = sorted((ROOT / "python" / "inlay").rglob("*.py"))

MOST_METHODS, MOST_LINES_OF_FUNCTION, MOST_LINES_OF_FILE = 30, 60, 600

# A line of a switch that is a table: labels, or all that is done there.
ONE_LINE_CASE = re.compile(r"\s*(?:case [^;{]*:|default:)(?:\s*(?:return\b[^;]*|break|[^;]*; break);)?(?:\s*//.*)?")


def test_what_is_counted_of_sources():
    text = """
namespace a {
struct S;  // (none)
template <class T = std::vector<int (*)(int)>>
class Both : public Base<int> {
 public:
  Both() = default;
  Both(const Both&) = delete;
  explicit Both(int x) : x_(x), y_{f(x)} {}          // 1
  friend bool same(const Both& a, const Both& b);
  static Both of(std::function<int(int)> f);         // 2
  bool operator==(const Both& other) const {         // 3
    const auto lambda = [&](int a) { return a; };
    return lambda(1) == 1;
  }
  int operator()(int x) const;                       // 4
  template <class T>
  [[nodiscard]] std::vector<T> all(int a = f(1),
                                   char b = '{') const;  // 5
  struct Inner {
    int f() const { return 1; }
    int x = f(2);
  };

 private:
  std::function<int(int)> function_;
  int (*pointer_)(int) = nullptr;
  int x_ = 1'000, y_ = g("}{");
  const std::map<int, int> table_ = {{1, 2}, {3, f(4)}};
};
constexpr Row kRows[] = {{1, [](int x) { return x; }}};
#if A
int one(int x) {
#else
int two(int x) {
#endif
  return x;
}
}  // namespace a
"""
    found = structure_of(text)
    classes = {each.name: each.methods for each in found if isinstance(each, Class)}
    assert classes == {"Both": 5, "Inner": 1}
    functions = [each.head.split("(")[0] for each in found if isinstance(each, Function)]
    assert functions == ["explicit Both", "bool operator==", "int f", "int one"]
    assert ONE_LINE_CASE.fullmatch("    case Op::add: return sum(a, b);  // both")
    assert not ONE_LINE_CASE.fullmatch("    case Op::add: {")


def test_no_class_has_more_methods_than_a_reader_can_hold():
    large = {}
    for path in PRODUCT:
        for each in structure_of(path.read_text()):
            if isinstance(each, Class) and each.methods > MOST_METHODS:
                large[each.name] = str(path.relative_to(ROOT))
    for path in PYTHON:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and sum(map(_is_function, node.body)) > MOST_METHODS:
                large[node.name] = str(path.relative_to(ROOT))
    assert not large, large


def test_no_function_is_longer_than_a_screen():
    """Lines of docstrings do not count, nor do those of a switch that are a case each."""
    long = {}
    for path in PRODUCT:
        text = path.read_text()
        lines = text.splitlines()
        for each in structure_of(text):
            if not isinstance(each, Function):
                continue
            length = sum(not ONE_LINE_CASE.fullmatch(line) for line in lines[each.first - 1 : each.last])
            if length > MOST_LINES_OF_FUNCTION:
                long[f"{path.relative_to(ROOT)}:{each.first}"] = length
    for path in PYTHON:
        for node in filter(_is_function, ast.walk(ast.parse(path.read_text()))):
            docstring = ast.get_docstring(node, clean=False) or ""
            length = node.end_lineno - node.lineno + 1 - len(docstring.splitlines())
            if length > MOST_LINES_OF_FUNCTION:
                long[f"{path.relative_to(ROOT)}:{node.lineno}"] = length
    assert not long


def test_no_file_is_long():
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in [*PRODUCT, *PYTHON]}
    assert not {path: length for path, length in lengths.items() if length > MOST_LINES_OF_FILE}


def _is_function(node):
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
