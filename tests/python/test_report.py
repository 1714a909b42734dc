"""`inlay.report`: what the page is made of, as its text says. How a browser shows it is in test_report_browser.py."""

import dataclasses
import errno
import os
import re
import resource
from html.parser import HTMLParser

import inlay
import inlay.pytensor
import models
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
import report_data
from inlay import pages, profiling, screen
from inlay._inlay import time_text
from inlay.reporting.page import page_of

MOST_BYTES = 300_000
NO_END = {"meta", "line", "rect", "br", "link", "img", "hr"}

PRODUCTS = """
graph @main(%a: f64[64, 64], %b: f64[64, 64], %o: f64[64, 64]) {
  %p = matmul %a, %b
  %e = exp %p
  %q = matmul %e, %b
  %u = slice %q[0:32, :]
  %z = update set %o[0:64:2, :], %u
  %s = reduce add %z [0] : f64
  return %z, %s
}
"""
LOOP = """
graph @main(%x: f64[n], %y: f64[m]) {
  %e = exp %x
  %s = sort %e
  %r = sub %e, %s
  %t = add %y, %y
  return %r, %t
}
"""


@pytest.fixture(autouse=True)
def few_calls(monkeypatch):
    monkeypatch.setattr(profiling, "_SECONDS", 0.0)
    monkeypatch.setattr(profiling, "machine_bandwidth", lambda: 40.0)


class Element:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent, self.children = tag, dict(attributes), parent, []

    def all(self, tag=None, **attributes):
        """The elements below of this tag with these attributes, in order."""
        for child in self.children:
            if isinstance(child, Element):
                if tag in (None, child.tag) and all(child.attributes.get(k) == v for k, v in attributes.items()):
                    yield child
                yield from child.all(tag, **attributes)

    @property
    def text(self):
        whole = "".join(child if isinstance(child, str) else child.text for child in self.children)
        return whole.replace("\N{NO-BREAK SPACE}", " ")


class Page(HTMLParser):
    """A tree, of a page in which each element ends where it should."""

    def __init__(self, html):
        super().__init__()
        self.root = self.now = Element("page", (), None)
        self.declarations = []
        self.feed(html)
        self.close()
        assert self.now is self.root, f"<{self.now.tag}> does not end"

    def handle_decl(self, declaration):
        self.declarations.append(declaration)

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), (tag, names)
        child = Element(tag, attributes, self.now)
        self.now.children.append(child)
        if tag not in NO_END:
            self.now = child

    def handle_startendtag(self, tag, attributes):
        self.now.children.append(Element(tag, attributes, self.now))

    def handle_endtag(self, tag):
        assert tag == self.now.tag, f"</{tag}> in <{self.now.tag}>"
        self.now = self.now.parent

    def handle_data(self, data):
        self.now.children.append(data)

    def section(self, name):
        (found,) = self.root.all("section", id=name)
        return found


def check(html):
    """What holds for each report. Returns it as a tree."""
    assert len(html.encode()) <= MOST_BYTES
    page = Page(html)
    assert page.declarations == ["DOCTYPE html"]
    (document,) = page.root.all("html")
    assert document.attributes["lang"] == "en" and next(document.all("title")).text.strip()
    elements = list(document.all())

    # Nothing is loaded from elsewhere, and nothing runs.
    assert not {"script", "link", "img", "iframe", "object", "base", "form"} & {e.tag for e in elements}
    for element in elements:
        for name, value in element.attributes.items():
            assert not name.startswith("on") and name not in ("src", "srcset", "action"), (element.tag, name)
            assert name != "href" or value.startswith("#"), value
    style = next(document.all("style")).text
    assert "@import" not in style and "url(" not in style
    assert "://" not in style

    # Anchors: each once, each link has one.
    ids = [e.attributes["id"] for e in elements if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    named = {e.attributes[name] for e in elements for name in ("aria-labelledby",) if name in e.attributes}
    assert {e.attributes["href"][1:] for e in elements if "href" in e.attributes} | named <= set(ids)

    # Headings go down one level at a time; regions have names; lists and pictures too.
    levels = [int(e.tag[1]) for e in elements if re.fullmatch("h[1-6]", e.tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(b <= a + 1 for a, b in zip(levels, levels[1:], strict=False))
    landmarks = ["header", "nav", "main", "footer"]
    assert [e.tag for e in elements if e.tag in landmarks] == landmarks
    pictures = [e.attributes for e in document.all("svg") if e.parent.tag != "svg"]
    assert all(picture.get("aria-label") or picture.get("aria-hidden") for picture in pictures)

    for table in document.all("table"):
        assert next(table.all("caption")).text.strip()
        heads = [head for head in next(table.all("thead")).all("th")]
        assert heads and all(head.attributes["scope"] == "col" and head.text.strip() for head in heads)
        for row in next(table.all("tbody")).all("tr"):
            cells = [cell for cell in row.children if isinstance(cell, Element)]
            assert [cell.tag for cell in cells] == ["th"] + ["td"] * (len(heads) - 1)
            assert cells[0].attributes["scope"] == "row" and cells[0].text.strip()
            assert [cell.attributes["data-label"] for cell in cells[1:]] == [head.text for head in heads[1:]]
    for folded in document.all("details"):
        assert isinstance(folded.children[0], Element) and folded.children[0].tag == "summary"
        assert folded.children[0].text.strip()
    return page


def rows_of(section):
    """Of its first table, as lists of texts."""
    body = next(next(section.all("table")).all("tbody"))
    return [[cell.text for cell in row.children] for row in body.all("tr")]


def report(*args, **kwargs):
    return str(inlay.report(*args, **kwargs))


def moved(step):
    return step.bytes_read, step.bytes_written


def ones(*shape):
    return np.ones(shape)


def test_with_arguments():
    f = inlay.compile(PRODUCTS, "products.inlay")
    p = inlay.profile(f, ones(64, 64), ones(64, 64), ones(64, 64))
    page = check(report(f, None, p))
    rows = rows_of(page.section("steps"))
    assert len(rows) == len(p.rows)
    for shown, row in zip(rows, p.rows, strict=True):
        assert f"{100 * row.share:.1f} %" in shown[2] and time_text(row.seconds) in shown[2]
        assert shown[3:5] == [screen.bytes_text(n) for n in moved(row)]
        assert all(formula.split(" = ")[0] in shown[1] for formula in row.computes[:6])
    names, values = ([e.text for e in page.section("glance").all(tag)] for tag in ("dt", "dd"))
    figures = dict(zip(names, values, strict=True))
    assert figures["a call takes"] == time_text(p.total)
    assert figures["reads and writes"] == screen.bytes_text(sum(sum(moved(row)) for row in p.rows))
    assert figures["working memory"] == screen.bytes_text(inlay.explain(f).arena_bytes)
    assert figures["runs as"].endswith("2 library calls")
    times, bytes = list(page.section("glance").all("ol"))
    longest = sorted(p.rows, key=lambda row: -row.seconds)[:3]
    for item, row in zip(times.all("li"), longest, strict=True):
        assert f"{100 * row.share:.1f} %" in item.text
        named = row.computes[0] if len(row.computes) == 1 else f"makes {', '.join(row.makes)}"
        assert named in item.text
    assert "matmul" in bytes.text
    assert f"{p.calls} calls measured" in next(page.root.all("header")).text


def test_arguments_are_measured():
    f = inlay.compile(LOOP)
    page = check(report(f, None, ones(1000), y=ones(10)))
    assert "n = 1000, m = 10" in next(page.root.all("header")).text
    sort = next(row for row in rows_of(page.section("steps")) if "sort(e)" in row[1])
    assert sort[3:5] == ["8000 bytes"] * 2
    # And memory is that of these sizes.
    assert "8000 bytes" in next(page.section("glance").all("dl")).text
    assert list(page.section("memory").all("svg", role="img"))


def test_without_arguments():
    f = inlay.compile(PRODUCTS)
    page = check(report(f))
    e = inlay.explain(f)
    rows = rows_of(page.section("steps"))
    assert [row[3:] for row in rows] == [[screen.bytes_text(n) for n in moved(step)] for step in e.steps]
    assert "Nothing was measured" in page.section("glance").text
    assert "not measured" in next(page.root.all("header")).text
    shares = [float(row[2].split(" ")[0]) for row in rows if row[2]]
    assert sum(shares) == pytest.approx(100, abs=0.1 * len(shares))


def test_sizes_that_a_call_brings():
    page = check(report(inlay.compile(LOOP)))
    assert "depends on sizes" in page.section("glance").text and "8*n bytes" in page.section("steps").text
    assert "depends on sizes that a call brings" in page.section("memory").text
    assert [row[0] for row in rows_of(page.section("memory"))] == ["s"]


def test_unknown_sizes_do_not_hide_the_shares_of_known_ones():
    program = LOOP.replace("%y: f64[m]", "%y: f64[500]")
    page = check(report(inlay.compile(program)))
    told = page.section("glance").text
    assert "The others move 8000 bytes, of which their shares are" in told and "100.0 %" in told
    assert "share of known bytes" in page.section("steps").text


def test_memory_is_as_explain_has_it():
    f = inlay.compile(PRODUCTS)
    e = inlay.explain(f)
    assert e.buffers and all(b.offset + b.bytes <= e.plan.peak for b in e.buffers)
    of_storage = {s.name: s for s in e.plan.storages}
    for b in e.buffers:
        if b.name in of_storage:  # it is the first to lie there
            s = of_storage[b.name]
            assert (b.offset, b.begin) == (s.offset, s.lower) and b.bytes <= s.size and b.end <= s.upper
    number = {step.number: step for step in e.steps}
    for b in e.buffers:
        assert b.name in number[b.begin // 2].makes  # a step writes at an odd time, and what it reads ends behind it
        assert b.begin % 2 == 1 and b.end > b.begin
    section = check(report(f)).section("memory")
    assert [row[:4] for row in sorted(rows_of(section))] == sorted(
        [b.name, b.type, screen.bytes_text(b.bytes), str(b.offset)] for b in e.buffers
    )
    (picture,) = section.all("svg", role="img")
    boxes = [svg for svg in picture.children if svg.tag == "svg"]
    assert len(boxes) == len(e.buffers)
    for box, buffer in zip(boxes, sorted(e.buffers, key=lambda b: -b.bytes), strict=True):
        assert next(box.all("title")).text.startswith(f"{buffer.name}: {buffer.type}, ")
        place = {name: float(box.attributes[name].rstrip("%")) for name in ("x", "y", "width", "height")}
        assert place["y"] == pytest.approx(100 * buffer.offset / e.plan.peak, abs=0.01)
        assert place["height"] == pytest.approx(100 * buffer.bytes / e.plan.peak, abs=0.01)
        assert 0 <= place["x"] and place["x"] + place["width"] <= 100.01
    assert str(e.plan.peak // 1024) + " KiB in all" in section.text


def test_reasons_and_what_helps():
    f = inlay.compile(PRODUCTS)
    e = inlay.explain(f)
    page = check(report(f))
    (copy,) = e.copies
    assert copy.reason == "o belongs to the caller" and copy.help == "donate o, where its old values are not needed"
    glance, reasons = page.section("glance").text, page.section("reasons").text
    assert f"o is copied to z: {copy.reason}.What helps: {copy.help}." in glance
    for found in (*e.apart, *e.stored, *e.copies):
        assert found.reason.partition(": ")[2] in reasons and found.help in reasons
    for refusal in e.refusals:
        assert refusal in reasons


def helps_of(text, of="stored"):
    found = getattr(inlay.explain(inlay.compile(text)), of)
    return {x.reason.split(":")[0]: x.help for x in found}


def test_help_is_where_it_helps():
    """A product may be a loop, a sort may not, nor a product of sizes that are known to be long."""
    operand = "graph @main({}) {{\n %e = exp %x\n %r = {}\n return %r\n}}"
    assert helps_of(operand.format("%x: f64[n]", "sort %e"))["call-operand"] == ""
    assert "at most 16" in helps_of(operand.format("%x: f64[n, m], %y: f64[m]", "matmul %e, %y"))["call-operand"]
    assert helps_of(operand.format("%x: f64[64, 64], %y: f64[64]", "matmul %e, %y"))["call-operand"] == ""


def test_help_with_axes_is_where_sizes_may_be_equal():
    reads = (
        "graph @main(%x: f64[{}], %y: f64[{}]) {{\n %a = exp %x\n %b = exp %y\n %f = {} %a{}\n"
        " %g = add %b, %f\n return %a, %g\n}}"
    )
    across = helps_of(reads.format("n, m", "m, n", "transpose", " [1, 0]"), "apart")
    assert set(across) and set(across.values()) == {""}
    sums = helps_of(reads.format("n", "m", "reduce add", " [0] : f64"), "apart")
    assert set(sums) and set(sums.values()) == {""}


def test_a_profile_of_another_function():
    f = inlay.compile("graph @main(%x: f64[n]) {\n  %e = exp %x\n  return %e\n}")
    for text in (
        "graph @other(%z: f64[k, m]) {\n  %e = tanh %z\n  return %e\n}",
        "graph @main(%x: f64[n]) {\n  %e = tanh %x\n  return %e\n}",
    ):
        with pytest.raises(ValueError, match="this Profile is not of"):
            inlay.report(inlay.compile(text), None, inlay.profile(f, ones(10)))


def test_a_path_is_not_an_argument():
    f = inlay.compile("graph @main(%x: f64[n]) {\n  %e = exp %x\n  return %e\n}")
    for wrong in (ones(3), b"page.html", 3):
        with pytest.raises(TypeError, match="takes the path of a file, or None, before the function's arguments"):
            inlay.report(f, wrong, ones(3))


def test_what_runs_as_python():
    f = inlay.compile(
        'graph @main(%x: f64[n]) {\n  %y = host_call "mine" (%x) : f64[n]\n  %z = exp %y\n  return %z\n}',
        host_functions={"mine": lambda x: x + 1},
    )
    page = check(report(f, None, ones(5)))
    assert "mine runs as Python: a function of yours." in page.section("glance").text
    assert "host call, runs as Python" in page.section("steps").text


def test_all_in_registers():
    page = check(report(inlay.compile("graph @main(%x: f64) {\n  %y = exp %x\n  return %y\n}"), None, 1.0))
    assert "single numbers" in page.section("glance").text and "Nothing: no two loops" in page.section("glance").text
    assert "no working memory" in page.section("memory").text and "no loops" in page.section("kernels").text


def test_steps_of_a_loop():
    x = pt.dvector("x")
    rows = pytensor.scan(lambda v: 2 * v, outputs_info=[x], n_steps=4, return_updates=False)
    f = pytensor.function([x], rows, mode="INLAY")
    page = check(report(f, None, ones(3)))
    e = inlay.explain(f)
    heads = [head.text for head in next(page.section("steps").all("thead")).all("th")]
    assert "passes" in heads and {"4"} <= {row[heads.index("passes")] for row in rows_of(page.section("steps"))}
    assert len(rows_of(page.section("steps"))) == len(e.steps)
    check(report(f))


def test_steps_that_became_others_with_clocks():
    """Then the rows of the profile are the steps."""
    name, e, p = report_data.fixed()
    page = check(page_of(name, dataclasses.replace(e, steps=e.steps[:-1]), p))
    assert len(rows_of(page.section("steps"))) == len(p.rows)
    assert not list(page.section("memory").all("svg"))  # whose columns are steps of the other
    assert len(rows_of(page.section("memory"))) == len(e.buffers)


def test_of_pytensor_and_pymc(tmp_path):
    function, given = report_data.newton()
    page = check(report(function, None, *(value[:100] if value.ndim and len(value) > 20 else value for value in given)))
    assert next(page.root.all("h1")).text == "newton" and "test_report" not in page.section("steps").text
    assert "report_data.py:" in page.section("steps").text

    with pm.Model() as model:
        mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
        eta = pm.Normal("eta", 0, 1, shape=8)
        pm.Normal("obs", mu + tau * eta, np.arange(1.0, 9), observed=np.arange(8.0))
    logp = models.logp_and_gradient(model, "INLAY")
    inlay.report(logp, tmp_path / "model.html")
    assert "eta" in check((tmp_path / "model.html").read_text()).section("steps").text


HOSTILE = "<script>alert('1')</script>\"&amp;"


def test_names_that_are_html():
    x = pt.dmatrix(HOSTILE)
    product = x @ x
    product.name = f"</code></table>{HOSTILE}"
    f = pytensor.function([x], [pt.exp(product), product.sum()], mode="INLAY", name=HOSTILE)
    for args in ((), (np.eye(40),)):
        html = report(f, None, *args)
        page = check(html)
        assert "<script" not in html and next(page.root.all("h1")).text == HOSTILE


def test_each_text_is_escaped():
    """Of whatever holds some: an Explanation and a Profile of nothing but such texts."""
    name, e, p = report_data.fixed()

    def spoil(value, key=""):
        if dataclasses.is_dataclass(value):
            return dataclasses.replace(
                value, **{f.name: spoil(getattr(value, f.name), f.name) for f in dataclasses.fields(value)}
            )
        if isinstance(value, list):
            return [spoil(v, key) for v in value]
        if isinstance(value, dict):
            return {k + HOSTILE: spoil(v) for k, v in value.items()}
        if isinstance(value, str) and key not in ("kind", "planner"):
            return f"{value}{HOSTILE}\x00\ud800\u202e"
        return value

    html = page_of(name + HOSTILE, spoil(e), spoil(p))
    page = check(html)
    assert "<script" not in html and "alert(" in html and "\x00" not in html and "\u202e" not in html
    assert len(list(page.root.all("table"))) == len(list(check(page_of(name, e, p)).root.all("table")))


def large(nodes):
    """A program of so many nodes, of many kernels: sums that divide what follows."""
    lines = ["graph @main(%x0: f64[n]) {"]
    for i in range(nodes // 4):
        lines += [
            f"  %e{i} = exp %x{i}",
            f"  %s{i} = reduce add %e{i} [0] : f64",
            f"  %sorted{i} = sort %e{i}",
            f"  %x{i + 1} = div %sorted{i}, %s{i}",
        ]
    return "\n".join([*lines, f"  return %x{nodes // 4}", "}"])


def test_a_large_function_is_cut():
    f = inlay.compile(large(2000))
    e = inlay.explain(f)
    assert len(e.steps) > 900
    for args in ((), (ones(10),)):
        page = check(report(f, None, *args))
        for section, what in (("steps", "inlay.explain(f).steps"), ("kernels", "inlay.explain(f).kernels")):
            shown = [p.text for p in page.section(section).all("p") if "not shown" in p.text]
            assert len(shown) == 1 and what in shown[0]
        shown = len(rows_of(page.section("steps")))
        assert 30 < shown < len(e.steps)
        (told,) = [p.text for p in page.section("steps").all("p") if "not shown" in p.text]
        assert told.startswith(f"{len(e.steps) - shown} more steps are not shown")
    check(report(inlay.compile(large(200)), None, ones(10)))


def test_what_is_cut_is_what_takes_least():
    f = inlay.compile(large(2000))
    p = inlay.profile(f, ones(10))
    heavy = max(range(len(p.rows)), key=lambda i: p.rows[i].seconds if i > 700 else 0)
    rows = [dataclasses.replace(row, seconds=1.0 if i == heavy else row.seconds) for i, row in enumerate(p.rows)]
    page = check(report(f, None, dataclasses.replace(p, rows=rows)))
    assert f"step-{heavy + 1}" in {e.attributes.get("id") for e in page.section("steps").all("tr")}


def test_long_texts_are_cut():
    name, e, p = report_data.fixed()
    kernels = [dataclasses.replace(kernel, text="x" * 200_000) for kernel in e.kernels]
    steps = [dataclasses.replace(s, computes=["y = " + "x + " * 50_000] * 50, lines="l" * 10_000) for s in e.steps]
    e = dataclasses.replace(e, kernels=kernels, steps=steps, refusals=["z" * 50_000] * 100)
    check(page_of(name * 50_000, e, p))


def test_a_function_from_a_file(tmp_path):
    f = inlay.compile(LOOP)
    inlay.save(f, tmp_path / "f.inlayfn")
    check(report(inlay.load(tmp_path / "f.inlayfn"), None, ones(10), ones(3)))


def test_the_file_is_written_whole_or_not_at_all(tmp_path):
    f = inlay.compile(LOOP)
    page = tmp_path / "report.html"
    assert inlay.report(f, page, ones(10), ones(3)) is None
    check(page.read_text())
    page.write_text("old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(OSError, match="report.html'") as failure:
            inlay.report(f, page)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert failure.value.errno == errno.EFBIG
    assert page.read_text() == "old" and os.listdir(tmp_path) == ["report.html"]
    with pytest.raises(FileNotFoundError, match="none/report.html'"):
        inlay.report(f, tmp_path / "none" / "report.html")


def test_a_page_that_is_no_text_leaves_the_file_as_it_was(tmp_path):
    page = tmp_path / "page.html"
    page.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        pages.written("\ud800", page)
    assert page.read_text() == "old" and os.listdir(tmp_path) == ["page.html"]
    f = inlay.compile("graph @main(%x: f64[9]) {\n %s = sort %x\n %r = exp %s\n return %r\n}")
    assert "<h1>a\ufffdb\ufffd</h1>" in inlay.memory_page(f, title="a\ud800b\u202e")


def test_errors():
    with pytest.raises(TypeError, match="^an object of type list is not a function that inlay compiled, by"):
        inlay.report([1.0])
    f = inlay.compile(LOOP)
    with pytest.raises(inlay.InlayError, match="wrong-argument-count|argument"):
        inlay.report(f, None, ones(3))


def test_what_a_notebook_shows():
    f = inlay.compile(LOOP)
    page = inlay.report(f)
    assert page._repr_html_().startswith("<iframe ") and "srcdoc=" in page._repr_html_()
    p = inlay.profile(f, ones(100), ones(3))
    for html in (p._repr_html_(), inlay.explain(f)._repr_html_(), f._repr_html_()):
        fragment = Page(html)
        assert not {"style", "script"} & {e.tag for e in fragment.root.all()}  # nothing that reaches beyond it
        assert "color:" not in html.replace("currentColor", "")  # so it is readable in any theme
    rows = rows_of(Page(p._repr_html_()).root)
    order = sorted(p.rows, key=lambda row: -row.seconds)
    assert [row[1] for row in rows] == [time_text(row.seconds) for row in order]
    assert all(f"{100 * row.share:.1f} %" in shown[0] for shown, row in zip(rows, order, strict=True))


def test_a_profile_of_many_steps_in_a_notebook():
    p = inlay.profile(inlay.compile(large(200)), ones(10))
    assert len(p.rows) > 30
    html = p._repr_html_()
    assert len(rows_of(Page(html).root)) == 30 and f"and {len(p.rows) - 30} steps that take less" in html
