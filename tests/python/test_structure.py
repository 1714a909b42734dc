"""What the sources say of their own structure is so."""

import ast
import re
from pathlib import Path

from cpp_structure import Class, Function, structure_of

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
