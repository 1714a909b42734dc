"""`print(explain(f))`: one screen, in the names of the model; and what a notebook shows."""

import re

import inlay.pytensor
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

HERE = "test_screen.py"


@pytest.fixture(scope="module")
def schools():
    """Eight schools, with the lines that make them."""
    with pm.Model(coords={"school": range(8)}) as model:
        mu = pm.Normal("mu", 0, 5)  # of mu
        tau = pm.HalfCauchy("tau", 5)  # of tau
        eta = pm.Normal("eta", 0, 1, dims="school")  # of eta
        theta = mu + tau * eta  # of theta
        pm.Normal("obs", theta, np.arange(1.0, 9), observed=np.arange(8.0))  # of obs
    return model


@pytest.fixture(scope="module")
def explanation(schools):
    return inlay.pytensor.explain(schools.logp_dlogp_function(ravel_inputs=True, mode="INLAY"))


def line_of(mark):
    return 1 + next(i for i, line in enumerate(open(__file__).read().split("\n")) if line.endswith(mark))


def test_it_speaks_of_the_model(explanation):
    screen = str(explanation)
    assert "mu + exp(tau_log__)*eta" in screen and "eta_grad = " in screen
    assert "joined_inputs" not in screen
    shown = ", ".join(str(line_of(f"# of {name}")) for name in ("tau", "theta", "obs"))
    assert f"[{HERE}:{shown}]" in screen
    # The log density of a variable is of the variable's line; the line that asked for it made nothing of the model.
    places = {origin.rpartition(", ")[2] for step in explanation.steps for origin in step.origins if HERE in origin}
    assert places == {f"{HERE}:{line_of(f'# of {name}')}" for name in ("mu", "tau", "eta", "theta", "obs")}


def test_the_graph_has_the_names_too(explanation):
    assert "%tau_log__ = slice %joined_inputs[" in explanation.graph
    assert "%mu_grad" in explanation.graph and "%tau_log___grad" in explanation.graph


def test_names_are_those_of_each_vector(schools):
    """Whoever joins vectors otherwise has no names, and wrong ones in no case."""
    v = pt.vector("v", shape=(4,))
    f = pytensor.function([v], pt.join(0, pt.exp(v[:2]), v[2:] * 2), mode="INLAY")
    assert "slice %v[0:2]" in inlay.pytensor.explain(f).graph
    variables = [schools["eta"], schools["mu"]]
    swapped = schools.logp_dlogp_function(grad_vars=variables, ravel_inputs=True, mode="INLAY")
    graph = inlay.pytensor.explain(swapped).graph
    assert "%eta = slice %joined_inputs[0:8]" in graph and "%mu = slice %joined_inputs[8:9]" in graph


def test_one_screen_of_lines_that_fit(explanation):
    a = power = pt.matrix("a", shape=(60, 60))
    for _ in range(30):
        power = pt.exp(power @ a)
    many = inlay.pytensor.explain(pytensor.function([a], power, mode="INLAY"))
    assert len(many.steps) > 50
    for e in (explanation, many):
        lines = str(e).splitlines()
        assert len(lines) <= 42 and max(map(len, lines)) <= 120
        assert max(map(len, e.text.splitlines())) <= 120
    assert "steps that move fewer bytes" in str(many)


def test_what_is_written_out_without_a_loop():
    z, mu, y = pt.dvector("z"), pt.dscalar("mu"), np.arange(3.0)
    e = inlay.explain(pytensor.function([z, mu], [(z**2).sum(), (-0.5 * (y - mu) ** 2).sum()], mode="INLAY"))
    for text in (str(e), e.text):
        assert "single numbers: makes " in text
        assert all(f"({i} - mu)**2" in text for i in range(3))
    assert [step.returns for step in e.steps] == [False, True]
    # Beside a loop that makes the result, what only hands it on is not worth a line.
    e = inlay.explain(pytensor.function([z], pt.exp(z).sum(), mode="INLAY"))
    assert "single numbers" not in str(e)


@pytest.mark.filterwarnings("ignore:pytensor.as_op is deprecated")
def test_who_reads_what_a_host_call_reads():
    @pytensor.compile.ops.as_op(itypes=[pt.dvector], otypes=[pt.dvector])
    def a_function_of_mine_with_a_long_name(x):
        return x * 2

    x = pt.dvector("x")
    e = inlay.explain(pytensor.function([x], a_function_of_mine_with_a_long_name(pt.exp(x)).sum(), mode="INLAY"))
    assert "a host call reads it from memory" in str(e)
    assert "runs as Python: FromFunctionOp{a_function_of_mine_with_a_long_name} #" in str(e)


def test_steps_are_data():
    text = "graph @main(%x: f64[n, m]) {\n  %e = exp %x\n  %s = reduce add %e [1] : f64\n  return %e, %s\n}"
    e = inlay.explain(inlay.compile(text, "rows.inlay"))
    (step,) = e.steps
    assert (step.kind, step.name, step.makes, step.loops) == ("kernel", "@k0", ["e", "s"], ["n x m"])
    assert step.computes == ["e = exp(x)", "s = sum(e)"]
    assert (step.bytes_read, step.bytes_written) == ("8*n*m", "16*n + 8*n*m")  # the sums begin with 0
    assert (step.title, step.flops) == ("@k0 over n x m", "2*n*m")
    assert "@k0 over n x m: makes e, s; reads 8*n*m bytes, writes 16*n + 8*n*m bytes  [rows.inlay:2, 3]" in str(e)
    assert e.to_dict()["steps"][0]["computes"] == step.computes


def test_loops_and_host_calls():
    x = pt.dvector("x")
    rows = pytensor.scan(lambda a: pt.sin(a[::-1]), outputs_info=[x], n_steps=5, return_updates=False)
    e = inlay.pytensor.explain(pytensor.function([x], rows[-1], mode="INLAY"))
    loop = next(i for i, step in enumerate(e.steps) if step.kind == "loop")
    assert e.steps[loop + 1].depth == 1 and "for " in str(e) and "\n  @k" in str(e)


def test_every_reason_has_plain_words():
    import reasons
    from inlay.screen import PLAIN_REASONS

    assert PLAIN_REASONS.keys() == reasons.STORED


class Printer:
    """What IPython gives to `_repr_pretty_`."""

    def __init__(self):
        self.shown = ""

    def text(self, text):
        self.shown += text

    def break_(self):
        self.shown += "\n"


def shown_by_ipython(thing):
    printer = Printer()
    thing._repr_pretty_(printer, False)
    return printer.shown


def test_in_a_terminal_of_ipython(explanation):
    assert shown_by_ipython(explanation) == str(explanation).rstrip()


def tags(html):
    """Those of the text, which must be well-formed."""
    from html.parser import HTMLParser

    class Reader(HTMLParser):
        def __init__(self):
            super().__init__()
            self.open, self.seen, self.data = [], [], ""

        def handle_starttag(self, tag, attrs):
            self.seen.append(tag)
            if tag != "br":
                self.open.append(tag)

        def handle_endtag(self, tag):
            assert self.open.pop() == tag

        def handle_data(self, data):
            self.data += data

    reader = Reader()
    reader.feed(html)
    assert reader.open == []
    return reader.seen, reader.data


def test_in_a_notebook(explanation):
    seen, text = tags(explanation._repr_html_())
    assert {"table", "details", "code"} <= set(seen) and "script" not in seen and "style" not in seen
    assert "mu + exp(tau_log__)*eta" in text and "graph @main" in text


def test_functions_of_text():
    f = inlay.compile("graph @twice(%x: f64[n]) {\n  %y = add %x, %x\n  return %y\n}")
    text = shown_by_ipython(f)
    assert text.startswith("<inlay function twice(x: f64[n]) -> f64[n]>\n1 kernel, ")
    seen, shown = tags(f._repr_html_())
    assert "twice(x: f64[n])" in shown and "1 kernel, " in shown


class Formatter(dict):
    """What IPython's formatters are to who registers."""

    def for_type(self, kind, show):
        self[kind] = show

    def for_type_by_name(self, module, name, show):
        self[module, name] = show


def test_functions_of_pytensor():
    from inlay.pytensor.ipython import register_with

    formatters = {"text/plain": Formatter(), "text/html": Formatter()}
    register_with(formatters)
    x = pt.dvector("x")
    ours = pytensor.function([x], x + x, mode="INLAY")
    other = pytensor.function([x], x + x, mode="FAST_COMPILE")
    printer = Printer()
    formatters["text/plain"][type(ours)](ours, printer, False)
    assert "x: Vector(float64" in printer.shown and "\n1 kernel, " in printer.shown
    assert "1 kernel, " in tags(formatters["text/html"][type(ours)](ours))[1]
    printer = Printer()
    formatters["text/plain"][type(other)](other, printer, False)
    assert printer.shown == repr(other) and formatters["text/html"][type(other)](other) is None


def test_in_ipython_itself():
    formatters = pytest.importorskip("IPython.core.formatters").DisplayFormatter()
    from inlay.pytensor.ipython import register_with

    register_with(formatters.formatters)
    x = pt.dvector("x")
    of_text = inlay.compile("graph @twice(%x: f64[n]) {\n  %y = add %x, %x\n  return %y\n}")
    of_pytensor = pytensor.function([x], x + x, mode="INLAY")
    for thing in (of_text, of_pytensor, inlay.explain(of_text)):
        shown, _ = formatters.format(thing)
        assert "1 kernel, " in shown["text/plain"] and "1 kernel, " in shown["text/html"]


def test_what_is_html_is_text_there():
    x = pt.dvector("<b>x</b>")
    seen, _ = tags(inlay.pytensor.explain(pytensor.function([x], pt.lt(x, 2), mode="INLAY"))._repr_html_())
    assert "b" not in seen


def test_measured_times(schools):
    """Of a function that is compiled to tell: what each step takes of the time, as data, on the screen, in a notebook."""
    logp = schools.logp_dlogp_function(ravel_inputs=True, mode="INLAY", profile=True)
    assert "steps took" not in str(inlay.explain(logp))
    logp.set_extra_values({})  # PyMC 5 asks for it
    for _ in range(3):
        logp(np.zeros(10))
    explanation = inlay.explain(logp)
    (kernel,) = [step for step in explanation.steps if step.kind == "kernel"]
    assert kernel.passes == 3 and kernel.seconds > 0
    screen, page = str(explanation), explanation._repr_html_()
    assert " us a call, of 3 calls; each has its share" in screen
    assert re.search(r"makes \$\d+, eta_grad; \d+ %, reads 64 bytes", screen) and re.search(r">\d+ %</td>", page)
    plain = inlay.explain(schools.logp_dlogp_function(ravel_inputs=True, mode="INLAY"))
    assert {step.seconds for step in plain.steps} == {None} and ">time</th>" not in plain._repr_html_()
