"""What a notebook shows, by a kernel of Jupyter's as nbclient runs it."""

import re

import pytest

pytest.importorskip("ipykernel")
nbformat = pytest.importorskip("nbformat")
NotebookClient = pytest.importorskip("nbclient").NotebookClient
from nbclient.exceptions import CellExecutionError  # noqa: E402

CELLS = (
    'import inlay\nf = inlay.compile("""\ngraph @twice(%x: f64[n]) {\n  %y = add %x, %x\n  return %y\n}""")\nf',
    "import numpy as np\nf(np.arange(3.0))",
    "inlay.explain(f)",
    "import inlay.pytensor, pytensor, pytensor.tensor as pt\nx = pt.dvector('x')\ng = pytensor.function([x], pt.exp(x).sum(), mode='INLAY')\ng",
    "inlay.pytensor.explain(g)",
    "pytensor.function([x], x + 1, mode='FAST_COMPILE')",
    "inlay.memory_page(g)",
    "from inlay import progress\nprogress.DELAY = 0.0\nimport time\ndef slow(storages):\n    time.sleep(1)\n    return [0] * len(storages)\n"
    "program = 'graph @main(%a: f64[64, 64]) {\\n  %p = matmul %a, %a\\n  %q = matmul %p, %p\\n  return %q\\n}'\n"
    "inlay.compile(program, planner=slow)",
    "f(np.arange(3))",
)


@pytest.fixture(scope="module")
def run():
    """By cell, its outputs; the error of the last cell instead."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    with pytest.raises(CellExecutionError):
        NotebookClient(notebook, timeout=300).execute()
    *outputs, failed = [cell.outputs for cell in notebook.cells]
    return outputs, failed[-1]


@pytest.fixture(scope="module")
def shown(run):
    outputs, failed = run
    return [dict(output[-1].data) for output in outputs], failed


def test_a_function_is_its_signature_and_its_counts(shown):
    (ours, _, _, of_pytensor, *_), _ = shown
    assert ours["text/plain"].startswith("<inlay function twice(")
    for data in (ours, of_pytensor):
        assert "1 kernel, " in data["text/plain"] and "1 kernel, " in data["text/html"]
    assert of_pytensor["text/plain"].startswith("<PyTensor function of inlay (x: ")


def test_an_explanation_is_its_screen(shown):
    (_, _, ours, _, of_pytensor, *_), _ = shown
    for data in (ours, of_pytensor):
        assert 1 < len(data["text/plain"].split("\n")) <= 40
        assert "Explanation(" not in data["text/plain"] and "<table" in data["text/html"]


def test_results_and_functions_of_other_modes_are_shown_as_ever(shown):
    (_, result, _, _, _, other, *_), _ = shown
    assert result["text/plain"] == "array([0., 2., 4.])" and list(other) == ["text/plain"]


def test_an_error_is_the_cell_s(shown):
    _, error = shown
    assert error.output_type == "error" and error.ename == "WrongDtype" and "x.astype" in error.evalue


def test_a_memory_page_is_a_page_within_the_page(shown):
    page = shown[0][6]
    assert page["text/plain"].startswith("<a page of HTML, ") and len(page["text/plain"]) < 120
    assert re.fullmatch(r'<iframe [^>]*srcdoc="&lt;!DOCTYPE html&gt;[^"<>]*"[^<>]*></iframe>', page["text/html"])


def test_progress_of_a_long_compilation_is_on_stderr(run):
    streams = [output for output in run[0][7] if output.output_type == "stream"]
    assert {stream.name for stream in streams} == {"stderr"}
    assert "inlay compiles" in "".join(stream.text for stream in streams)
