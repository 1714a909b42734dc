"""Classes and functions of C++ sources, as far as their braces tell: the sources are formatted, and nothing else is
known of them."""

import re
from dataclasses import dataclass

_NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w+)(?:[^\n\\]|\\.)*", re.M | re.S)
_TEMPLATE = re.compile(r"\btemplate\s*<[^{}]*?>\s*(?=(?:class|struct|union)\b)")
_CLASS = re.compile(r"(?:(?:typedef|static|inline|constexpr|const)\s+)*(?:class|struct|union)\b\s*([\w:]*)[^()=]*$")
_IN_SCOPE = ("file", "namespace", "class")


@dataclass
class Class:
    name: str
    line: int
    methods: int = 0  # declared in it; not those that are defaulted or deleted, no friends


@dataclass
class Function:
    head: str
    first: int
    last: int


@dataclass
class _Brace:
    kind: str
    head: str = ""
    begin: int = 0
    parentheses: int = 0  # around it
    methods: int = 0


def code_of(text):
    """The text with spaces for comments, literals, directives and all branches of an #if but the first."""

    def blank(found):
        return re.sub(r"[^\n]", " ", found[0])

    text = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", " ", text)
    text = _NO_CODE.sub(blank, text)
    out, end, others = [], 0, []  # `others`: for each #if around, whether this is a branch behind the first
    for found in _DIRECTIVE.finditer(text):
        part = text[end : found.start()]
        out += [re.sub(r"[^\n]", " ", part) if any(others) else part, blank(found)]
        end = found.end()
        if found[1] in ("if", "ifdef", "ifndef"):
            others.append(False)
        elif found[1] in ("else", "elif"):
            others[-1] = True
        elif found[1] == "endif":
            others.pop()
    return "".join([*out, text[end:]])


def structure_of(text):
    """The classes and functions that are defined in the text. A function in a function is a part of it."""
    code = code_of(text)
    found, around, begin, parentheses = [], [_Brace("file")], 0, 0
    for at, c in enumerate(code):
        parentheses += (c == "(") - (c == ")")
        top = around[-1]
        if c == "{":
            kind = "block" if parentheses else _kind(code[begin:at], top.kind)
            around.append(_Brace(kind, code[begin:at], begin, parentheses))
            parentheses = 0
            if kind != "block" or top.kind not in _IN_SCOPE:
                begin = at + 1
        elif c == "}":
            closed = around.pop()
            parentheses = closed.parentheses
            if closed.kind == "block" and around[-1].kind in _IN_SCOPE:
                continue  # of an initializer: the declaration goes on
            found += _defined(code, closed, at)
            around[-1].methods += closed.kind == "function" and around[-1].kind == "class"
            begin = at + 1
        elif c == ";" and not parentheses:
            top.methods += top.kind == "class" and _is_method(code[begin:at])
            begin = at + 1
        elif c == ":" and re.fullmatch(r"\s*(?:public|private|protected)\s*", code[begin:at]):
            begin = at + 1
    assert len(around) == 1, f"the braces do not match: {around[1:]}"
    return found


def _kind(head, around):
    """What a brace opens behind `head`."""
    if re.search(r'\bnamespace\b|\bextern\s*$', head):
        return "namespace"
    if re.search(r"\benum\b", head):
        return "enum"
    if _CLASS.match(_TEMPLATE.sub("", head).strip()):
        return "class"
    return "function" if around in _IN_SCOPE and "(" in head else "block"


def _defined(code, brace, end):
    first = brace.begin + len(brace.head) - len(brace.head.lstrip())
    line = code.count("\n", 0, first) + 1
    if brace.kind == "class":
        yield Class(_CLASS.match(_TEMPLATE.sub("", brace.head).strip())[1], line, brace.methods)
    if brace.kind == "function":
        yield Function(" ".join(brace.head.split()), line, code.count("\n", 0, end) + 1)


def _is_method(declaration):
    """Parentheses outside of template arguments and of initializers, with a name before them."""
    text = re.sub(r"\[\[.*?\]\]|\b(?:alignas|decltype|noexcept)\s*\([^()]*\)", "", declaration.strip())
    if re.match(r"(?:friend|using|typedef|static_assert)\b", text) or re.search(r"=\s*(?:default|delete)$", text):
        return False
    while (less := re.sub(r"(?<!operator)(?<!operator<)<[^<>;{}]*>", "", text)) != text:
        text = less
    if "operator" in text:
        return True
    return re.search(r"[\w~]\s*\((?!\s*\*)", re.split(r"[={]", text, maxsplit=1)[0]) is not None
