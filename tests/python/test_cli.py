"""The command line tool: exit codes, help, colours, what is fed back, what is said of a wrong environment."""

import json
import os
import platform
import pty
import resource
import shutil
import signal
import subprocess
from pathlib import Path

import inlay
import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
TOOL = Path(os.environ.get("INLAY_TOOL", ROOT / "build" / "release" / "bin" / "inlay"))
COMMANDS = ["run", "test", "opt", "explain", "compile", "export", "plan", "cache", "list"]

PROGRAM = """graph @main(%x: f64[n], %s: f64) {
  %minus = neg %x
  %plus = neg %minus
  %a = div %plus, %s
  %two = literal 2.0 : f64
  %b = pow %a, %two
  %t = reduce add %b [0] : f64
  return %b, total = %t
}
"""


def tool(*arguments, code=0, **environment):
    done = subprocess.run(
        [TOOL, *arguments], capture_output=True, text=True, timeout=120, env={**os.environ, **environment}
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.inlay").write_text(PROGRAM)
    np.save(tmp_path / "x.npy", np.array([2.0, 6.0]))
    np.save(tmp_path / "s.npy", np.array(2.0))
    return tmp_path


ARGUMENTS = ["x=x.npy", "s=s.npy"]
RESULT = "b = f64[2] [1.0, 9.0]\ntotal = f64 10.0\n"


def test_exit_codes(program):
    assert tool("run", "p.inlay", *ARGUMENTS) == RESULT
    assert "no argument for %s" in tool("run", "p.inlay", "x=x.npy", code=1)
    assert "error[invalid-file]" in tool("opt", "missing.inlay", code=1)
    (program / "bad.inlay").write_text("graph @main(%x: f64) { return %y }")
    assert "error[unknown-name]" in tool("opt", "bad.inlay", code=1)
    (program / "dump-of-nothing").mkdir()
    (program / "test.inlay").write_text(PROGRAM + "#= count kernels 17\n")
    assert "0 of 1 program tests passed" in tool("test", "test.inlay", code=1)
    assert f"error[invalid-file]: {'a' * 300}: cannot be read: " in tool("test", "a" * 300, code=1)
    assert "no program test was found" in tool("test", str(program / "dump-of-nothing"), code=1)
    for wrong in [[], ["fly"], ["run"], ["opt", "--flag", "p.inlay"], ["opt", "--bisect=-1", "p.inlay"]]:
        tool(*wrong, code=2)


WRONG_USAGE = [
    ("", "wrong-argument-count", "no command is given", "the commands are run, test, opt, explain, compile, export, plan, cache, list; inlay --help"),
    ("frob", "unknown-name", "there is no command frob", "the commands are run, test, opt, explain, compile, export, plan, cache, list"),
    ("explian p.inlay", "unknown-name", "there is no command explian", "did you mean explain?"),
    ("--versoin", "unknown-name", "inlay has no option --versoin", "did you mean --version?"),
    ("run p.inlay --evaluatr llvm", "unknown-name", "inlay run has no option --evaluatr", "did you mean --evaluator?"),
    ("opt --stag=fuse p.inlay", "unknown-name", "inlay opt has no option --stag", "did you mean --stage?"),
    ("explain --jsn p.inlay", "unknown-name", "inlay explain has no option --jsn", "did you mean --json?"),
    ("test tests --sed 4", "unknown-name", "inlay test has no option --sed", "did you mean --seed?"),
    (
        "list ops --columns",
        "unknown-name",
        "inlay list has no option --columns",
        "it has --help, --json",
    ),
    ("run", "wrong-argument-count", "inlay run: file is required", "inlay run --help"),
    ("opt p.inlay q", "wrong-argument-count", "inlay opt: one argument too many: q", "inlay opt --help"),
    (
        "opt --stage=fus p.inlay",
        "syntax",
        "inlay opt: --stage: fus is none of read, rewrite, fuse, memory; did you mean fuse?",
        "inlay opt --help",
    ),
    (
        "list opps",
        "syntax",
        "inlay list: what: opps is none of ops, rules, passes, errors; did you mean ops?",
        "inlay list --help",
    ),
    ("run p.inlay --threads 0", "syntax", "inlay run: --threads: 0 is no whole number of 1 or more", "inlay run --help"),
    ("opt p.inlay --bisect 1.5", "syntax", "inlay opt: --bisect: 1.5 is no whole number of 0 or more", "inlay opt --help"),
    ("plan b.csv --budget-ms -1", "syntax", "inlay plan: --budget-ms: -1 is no whole number of 0 or more", "inlay plan --help"),
]


@pytest.mark.parametrize("line, code, message, help", WRONG_USAGE, ids=[line for line, *_ in WRONG_USAGE])
def test_a_wrong_command_line_is_explained(line, code, message, help):
    assert tool(*line.split(), code=2) == f"error[{code}]: {message}\n  help: {help}\n"


@pytest.mark.parametrize("line", ["plan b.csv --html", "explain p.inlay --memory", "run p.inlay --output", "compile p.inlay --output"])
def test_a_file_without_a_name(line):
    """What a shell makes of a variable that is not set."""
    command, _, option = line.split()
    said = f"error[syntax]: inlay {command}: {option}: its name is empty\n  help: inlay {command} --help\n"
    assert tool(*line.split(), "", code=2) == said


def test_what_is_given_twice(program):
    twice = "error[duplicate-name]: {}: the size n is given twice\n"
    assert tool("explain", "p.inlay", "--upper", "n=4,n=5", code=1) == twice.format("--upper")
    assert tool("explain", "p.inlay", "--upper", "n=4", "--upper", "n=4", code=1) == twice.format("--upper")
    assert tool("run", "p.inlay", "--profile", "--size", "n=4,n=5", code=1) == twice.format("--size")


def test_a_cache_that_is_a_file(program):
    for command in ["cache"], ["cache", "--clear"]:
        said = tool(*command, code=1, INLAY_CACHE=str(program / "p.inlay"))
        assert said == f"error[invalid-file]: {program / 'p.inlay'} is no folder: nothing is kept there\n"


def test_a_wrong_parameter_is_explained(program):
    takes = "it takes %x: f64[n], %s: f64"
    unknown = "error[unknown-name]: the program has no parameter %{}\n  help: {}\n"
    assert tool("run", "p.inlay", "y=x.npy", "s=s.npy", code=1) == unknown.format("y", f"did you mean %x? {takes}")
    assert tool("run", "p.inlay", "left=x.npy", "s=s.npy", code=1) == unknown.format("left", takes)


@pytest.mark.parametrize("command", COMMANDS)
def test_help(command):
    text = tool(command, "--help")
    if command != "list":
        assert "Examples:" in text
    if command not in ("list", "plan", "cache"):
        assert "--bisect" in text
        assert "--rewrite-off" in text


def test_help_of_all():
    text = tool("--help")
    assert all(command in text for command in COMMANDS)
    assert "Exit codes:" in text
    assert "INLAY_DUMP" in text


def test_rewrites_can_be_left_out(program, monkeypatch):
    assert "pow" in tool("opt", "--stage=rewrite", "--rewrite-off=pow-two,pow-three", "p.inlay")
    monkeypatch.setenv("INLAY_REWRITE_OFF", "pow-two")
    assert "pow" in tool("opt", "--stage=rewrite", "--rewrite-off=pow-three", "p.inlay")
    monkeypatch.delenv("INLAY_REWRITE_OFF")
    assert "pow" in tool("opt", "--stage=rewrite", "--bisect=1", "p.inlay")
    assert "pow" not in tool("opt", "--stage=rewrite", "p.inlay")
    assert "kernel @k0" in tool("opt", "--stage=fuse", "p.inlay")
    assert "arena" in tool("opt", "--stage=memory", "p.inlay")
    assert json.loads(tool("explain", "--json", "--bisect=1", "p.inlay"))["rewrites"]["neg-neg"] == 1
    assert tool("run", "p.inlay", *ARGUMENTS, "--bisect=0") == RESULT
    wrong = tool("opt", "--stage=rewrite", "--rewrite-off=pow-tow", "p.inlay", code=1)
    assert wrong == "error[unknown-name]: there is no rewrite rule or pass pow-tow\n  help: did you mean pow-two?\n"


def test_the_rewrite_that_breaks_a_test_is_found(program):
    # A count that holds before the second rewrite only stands in for a wrong one.
    signs = "graph @main(%x: f64[n]) { %m = literal -1.0 : f64; %a = mul %x, %m; %b = square %a; return %b }\n"
    (program / "broken.inlay").write_text(signs + "#= count ops 2\n")
    done = subprocess.run(
        [ROOT / "scripts" / "bisect", "broken.inlay"],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "INLAY_TOOL": str(TOOL)},
    )
    assert done.stdout.startswith("rewrite 2 breaks it: square-neg\n"), done.stdout + done.stderr


def test_the_tool_owns_no_opaque_values(program):
    (program / "o.inlay").write_text(
        "graph @main(%x: opaque, %y: f64[m] donated) {\n  return %x, %y\n}\n#= run m=2\n"
    )
    assert "error[unsupported]: output 0 is opaque: only its owner can take it" in tool("test", "o.inlay", code=1)


def test_a_folder_that_nobody_may_look_into(program, monkeypatch):
    monkeypatch.setenv("INLAY_DUMP", "/proc/1")
    said = tool("opt", "--stage=fuse", "p.inlay", code=1)
    assert said.startswith("error[invalid-file]: cannot "), said


KERNELS = """program @main(x: f64[n] param 0, y: f64[n] output 0) symbols n = x.0 {
  kernel @k0 {
    stage (i < n) {
      %0 = load x[PLACE] : f64
      store y[i] set %0
    }
  }
}
"""


@pytest.fixture
def saved(program):
    """A compiled function as `inlay.save` writes it."""
    shutil.copy(ROOT / "tests" / "format" / "1" / "shares.inlayfn", program)
    return "shares.inlayfn"


def test_a_saved_function_is_explained(saved):
    told = tool("explain", saved)
    file, graph = told.split("\n\n")[:2]
    rows = dict(line.strip().split("  ", 1) for line in file.splitlines()[1:])
    rows = {what: text.strip() for what, text in rows.items()}
    assert file.startswith("# the file\n")
    assert rows["format"] == "1, by inlay 0.1.0"
    assert rows["needs"] == "x86-64"
    assert rows["parameters"] == "x: f64[rows, n], w: f64[n] bound"
    assert rows["results"] == "share: f64[rows, n], most: f64[rows]"
    assert rows["can fail"] == "at 2 places"
    assert graph.startswith("# the graph, rewritten\ngraph @shares(")
    sections = [line for line in told.splitlines() if line.startswith("# ")]
    assert sections == ["# the file", "# the graph, rewritten", "# the kernels", "# the memory", "# stored"]


def test_a_saved_function_is_explained_as_json(saved):
    told = json.loads(tool("explain", "--json", saved))
    assert [kernel["name"] for kernel in told["kernels"]] == ["k0"]
    assert "seconds" not in told and "rewrites" not in told
    file = told["file"]
    assert (file["format"], file["needs"], list(file["sections"])) == (1, ["x86-64"], ["python"])
    assert file["parameters"][1] == {"name": "w", "dtype": "f64", "dims": ["n"], "bound": True, "donated": False}
    assert 1000 < file["code_bytes"] < os.path.getsize(saved)


@pytest.mark.parametrize("single_precision", [False, True])
def test_a_saved_function_says_whether_it_is_of_single_precision(single_precision, program):
    fn = inlay.compile(PROGRAM.replace("[n]", "[3]"), single_precision=single_precision)
    inlay.save(fn, "p.inlayfn")
    inlay.save(inlay.load("p.inlayfn"), "again.inlayfn")
    for path in ("p.inlayfn", "again.inlayfn"):
        assert (", single_precision" in tool("explain", path)) == single_precision
        assert json.loads(tool("explain", "--json", path))["file"]["single_precision"] == single_precision


@pytest.mark.parametrize("command", ["explain", "run"])
def test_a_level_without_a_name_is_refused(command, program):
    assert "it names no level" in tool(command, "--cpu", "", program, code=2)


def test_the_memory_of_a_saved_function_is_drawn(program):
    inlay.save(inlay.compile(PROGRAM.replace("[n]", "[3]")), "p.inlayfn")
    tool("explain", "--memory=map.html", "p.inlayfn")
    assert "<svg" in Path("map.html").read_text()


WRONG_FILE = [
    (["explain", "--planner=max", "f"], "error[unsupported]: f is compiled already\n  help: options of a compilation"),
    (["opt", "f"], "error[unsupported]: f is a compiled function, not the text of a program\n  help: inlay explain"),
    (["run", "f"], "error[unsupported]: f is a compiled function, not the text of a program"),
    (["export", "f", "-o", "out", "--name=f"], "error[unsupported]: f is a compiled function, not the text"),
    (["explain", "cut"], "error[invalid-file]: cut is damaged: it has 1000 of "),
    (["explain", "newer"], "error[invalid-file]: newer was written in format 9999, and this inlay reads format 1"),
    (["explain", "short"], "error[invalid-file]: short is damaged: it ends in the middle"),
]


@pytest.mark.parametrize("words, message", WRONG_FILE, ids=[" ".join(words) for words, _ in WRONG_FILE])
def test_what_cannot_be_shown_of_a_saved_function_is_said(words, message, saved):
    data = Path(saved).read_bytes()
    Path("f").write_bytes(data)
    Path("cut").write_bytes(data[:1000])
    Path("short").write_bytes(data[:9])
    Path("newer").write_bytes(data[:8] + (9999).to_bytes(4, "little") + data[12:])
    assert tool(*words, code=1).startswith(message)


def test_kernels_that_reach_too_far(program):
    kernels = program / "far.kernels"
    kernels.write_text(KERNELS.replace("PLACE", "i"))
    assert tool("run", "far.kernels", "x=x.npy") == "y = f64[2] [2.0, 6.0]\n"
    for place in ["i + 100000000", "-1*i - 1", "3*i + n"]:
        kernels.write_text(KERNELS.replace("PLACE", place))
        for command in [["opt", "far.kernels"], ["run", "far.kernels", "x=x.npy"]]:
            said = tool(*command, code=1)
            assert said.startswith("error[invalid-program]: kernel @k0, stage 0, `%0 = load x["), said
            assert "`: subscript 0 leaves its dim\n  at     far.kernels" in said
    # What only some sizes show is seen when it runs.
    kernels.write_text(KERNELS.replace("PLACE", "100000000"))
    said = tool("run", "far.kernels", "x=x.npy", code=1)
    assert said.startswith("error[invalid-program]: kernel k0 touches element 100000000 of dim 0 of `x`, which is 2\n")


def test_kernels_are_fed_back(program):
    tool("explain", "p.inlay", INLAY_DUMP=str(program / "dump"))
    dumped = sorted((program / "dump").glob("*.kernels"))
    assert [file.name.partition("-")[2] for file in dumped] == ["fuse.kernels", "name-kernels.kernels"]
    for file in dumped:
        assert tool("opt", str(file)) == file.read_text()
        assert tool("run", str(file), *ARGUMENTS) == RESULT
    kernels = dumped[-1]
    for evaluator in ["kernel", "kernel/naive", "kernel/greedy", "llvm"]:
        assert tool("run", str(kernels), *ARGUMENTS, "--evaluator", evaluator) == RESULT
    assert "# the memory" in tool("explain", str(kernels))
    (graph,) = (program / "dump").glob("*simplify.inlay")
    assert tool("run", str(graph), *ARGUMENTS) == RESULT
    assert "there is no evaluator reference" in tool(
        "run", str(kernels), *ARGUMENTS, "--evaluator", "reference", code=1
    )
    kernels.write_text(kernels.read_text().replace("store", "stroe", 1))
    assert "error[" in tool("opt", str(kernels), code=1)


def test_a_wrong_environment_is_said(program):
    missing = str(program / "nowhere.so")
    text = tool("run", "p.inlay", *ARGUMENTS, code=1, INLAY_JIT=missing)
    assert text.startswith("error[unsupported]: INLAY_JIT names no code generator: ")
    assert missing in text
    whole = (TOOL.parents[1] / "lib" / "libinlay_jit.so").read_bytes()
    for content, sentence in [
        (whole[: len(whole) // 2], "the file is cut short"),
        (whole[:1000], "the file is cut short"),
        (whole[:30], "file too short"),
        (b"", "file too short"),
        (whole[:18] + b"\x28\0" + whole[20:], "the file is of another architecture"),  # 32-bit ARM
        (b"text" * 1000, "invalid ELF header"),
    ]:
        (program / "damaged.so").write_bytes(content)
        text = tool("run", "p.inlay", *ARGUMENTS, code=1, INLAY_JIT=str(program / "damaged.so"))
        assert sentence in text.splitlines()[0]
        assert "help: name libinlay_jit.so, or unset INLAY_JIT" in text
    text = tool("explain", "p.inlay", code=1, INLAY_DUMP="/proc/nowhere")
    assert text.startswith("error[invalid-file]: cannot make the folder /proc/nowhere for the dumps: ")


def test_a_level_of_the_cpu_can_be_chosen(program):
    level, other = ("sse2", "neon") if platform.machine() == "x86_64" else ("neon", "sse2")
    assert tool("run", "p.inlay", *ARGUMENTS, "--cpu", level) == tool("run", "p.inlay", *ARGUMENTS)
    assert tool("explain", "p.inlay", "--cpu", level)
    assert f"this CPU has no {other}" in tool("explain", "p.inlay", "--cpu", other, code=1)
    assert f"error[unsupported]: this CPU has no {other}" in tool("run", "p.inlay", *ARGUMENTS, "--cpu", other, code=1)
    assert "the C compiler chooses its CPU" in tool(
        "run", "p.inlay", *ARGUMENTS, "--cpu", level, "--evaluator", "c", code=1
    )
    text = tool("run", "p.inlay", *ARGUMENTS, code=1, INLAY_BACKEND="llvm", INLAY_CPU_FEATURES="haswell")
    assert text.startswith("error[unknown-name]: INLAY_CPU_FEATURES: there is no CPU feature `haswell`")


def at_a_terminal(*arguments, **environment):
    """What the tool writes when stdout and stderr are a terminal."""
    master, slave = pty.openpty()
    done = subprocess.Popen(
        [TOOL, *arguments], stdout=slave, stderr=slave, env={**os.environ, "TERM": "xterm", **environment}
    )
    os.close(slave)
    text = b""
    while True:
        try:
            chunk = os.read(master, 4096)
        except OSError:
            break
        if not chunk:
            break
        text += chunk
    done.wait()
    return text.decode()


def test_colour_only_at_a_terminal(program, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1;31merror[invalid-file]" in at_a_terminal("opt", "missing.inlay")
    assert "\x1b" not in at_a_terminal("opt", "missing.inlay", NO_COLOR="1")
    assert "\x1b" not in tool("opt", "missing.inlay", code=1)


def test_list():
    assert "pow-two" in tool("list", "rules")
    assert {row["name"] for row in json.loads(tool("list", "ops", "--json"))} > {"add", "exp", "select"}
    assert "shape-mismatch        ValueError" in tool("list", "errors")


def test_compile_writes_c_that_compiles_alone(program):
    text = tool("compile", "p.inlay", "--emit=c")
    assert "static int32_t k0(" in text and "int32_t inlay_entry(InlayCall* call) {" in text
    assert tool("compile", "p.inlay", "--emit=c", "-o", "p.c") == ""
    assert Path("p.c").read_text() == text
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run(["cc", *flags, "-c", "p.c", "-o", "p.o"], check=True)
    assert "error[syntax]: inlay compile: --emit: rust not in {c}" in tool("compile", "p.inlay", "--emit=rust", code=2)


def test_compiled_c_has_the_name_that_is_asked_for(program):
    tool("compile", "p.inlay", "--name=shift", "-o", "shift.c")
    tool("compile", "p.inlay", "--name=move", "-o", "move.c")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run(["cc", *flags, "-shared", "-fPIC", "shift.c", "move.c", "-o", "both.so", "-lm"], check=True)
    said = tool("compile", "p.inlay", "--name=2x", code=2)
    assert "inlay compile: --name: `2x` is no C identifier" in said
    assert "--name: `exp` has a meaning in the C file already" in tool("compile", "p.inlay", "--name=exp", code=2)


def test_compiled_c_foretells_link_errors(program):
    Path("layer.inlay").write_text(
        "graph @main(%x: f32[784], %w: f32[784, 32]) {\n %h = matmul %x, %w\n %r = j0 %h\n return %r\n}\n"
    )
    done = subprocess.run([TOOL, "compile", "layer.inlay", "-o", "layer.c"], capture_output=True, text=True, check=True)
    assert done.stdout == "" and done.stderr == (
        "note: the C file does not link alone: it calls functions of inlay (`inlay export --c` writes those that have a C source)\n"
        "  inlay_l_matmul_f32: matmul (h)\n"
        "  inlay_s_j0: j0\n"
    )
    head = Path("layer.c").read_text().split("#include")[0]
    assert "/* inlay_l_matmul_f32: matmul (h) */" in head
    subprocess.run(["cc", "-std=c99", "-c", "layer.c", "-o", "layer.o"], check=True)
    undefined = subprocess.run(["nm", "-u", "layer.o"], capture_output=True, text=True, check=True).stdout.split()
    assert {name for name in undefined if name.startswith("inlay_")} == {"inlay_l_matmul_f32", "inlay_s_j0"}
    assert subprocess.run([TOOL, "compile", "p.inlay"], capture_output=True, check=True).stderr == b""


def test_backends(program):
    assert tool("run", "p.inlay", *ARGUMENTS, INLAY_BACKEND="c") == RESULT
    assert tool("run", "p.inlay", *ARGUMENTS, "--evaluator=c") == RESULT
    assert tool("run", "p.inlay", *ARGUMENTS, INLAY_BACKEND="rust", code=1) == (
        "error[unknown-name]: there is no backend `rust`\n  help: the backends are llvm and c\n"
    )


def test_results_that_cannot_be_written_are_an_error(program):
    np.save("x.npy", np.ones(3))
    Path("file").write_text("")
    Path("double.inlay").write_text("graph @main(%x: f64[n]) {\n  %y = add %x, %x\n  return %y\n}\n")
    said = tool("run", "double.inlay", "x=x.npy", "-o", "file", code=1)
    assert said == "error[invalid-file]: file: the folder cannot be made: Not a directory\n"


def write_at_most_100_bytes():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


def test_a_file_that_cannot_be_written_whole_is_as_it_was(program):
    """A folder has no parts of files in it, and a program test that is updated is not cut off."""
    Path("old.c").write_text("/* old */")
    Path("link.c").symlink_to("old.c")
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    for command in ("compile p.inlay -o new.c", "compile p.inlay -o link.c", "test --update p.inlay"):
        name = command.split()[-1]
        Path("p.inlay").write_text(PROGRAM + "#= run n=3\n#= count kernels 9\n")
        before["p.inlay"] = Path("p.inlay").read_bytes()
        done = subprocess.run(
            [TOOL, *command.split()], capture_output=True, text=True, preexec_fn=write_at_most_100_bytes
        )
        assert done.returncode == 1
        assert done.stderr == f"error[invalid-file]: {name}: cannot be written: File too large\n"
        assert {path.name: path.read_bytes() for path in Path().iterdir()} == before
    Path("old.c").chmod(0o600)
    tool("compile", "p.inlay", "-o", "link.c")
    assert Path("link.c").is_symlink() and "inlay_entry" in Path("old.c").read_text()
    assert Path("old.c").stat().st_mode & 0o777 == 0o600
    tool("compile", "p.inlay", "-o", "/dev/null")
    assert Path("/dev/null").is_char_device()


def test_numbers_for_parameters_that_are_one(program):
    assert tool("run", "p.inlay", "x=x.npy", "s=2.0") == tool("run", "p.inlay", "x=x.npy", "s=2") == RESULT
    assert tool("run", "p.inlay", "x=x.npy", "s=1e400", code=1) == "error[wrong-dtype]: %s: 1e400 does not fit f64\n"
    assert "error[invalid-file]: 2x: cannot be read" in tool("run", "p.inlay", "x=x.npy", "s=2x", code=1)
    assert "error[invalid-file]: 2: cannot be read" in tool("run", "p.inlay", "x=2", "s=2", code=1)
    assert "the program has no parameter %t" in tool("run", "p.inlay", "x=x.npy", "t=2", code=1)


def test_files_that_cannot_be_read(program):
    """Not on the way either: what has come until then is no file."""
    for path, why in [("none", "No such file or directory"), ("/", "Is a directory"), ("/proc/self/mem", "Input/output error")]:
        said = f"error[invalid-file]: {path}: cannot be read: {why}\n"
        assert tool("opt", path, code=1) == tool("run", "p.inlay", f"x={path}", code=1) == said
    for argument in ("x", "x=", "=x.npy"):
        said = f"error[wrong-argument-count]: `{argument}`: expected parameter=file.npy, or parameter=number\n"
        assert tool("run", "p.inlay", argument, code=1) == said


def test_help_that_cannot_be_written(program):
    with open("/dev/full", "w") as full:
        assert subprocess.run([TOOL, "--help"], stdout=full).returncode == 1


def test_compiled_c_runs_without_inlay(program):
    Path("softmax.inlay").write_text(
        "graph @main(%x: f64[4]) {\n %e = exp %x\n %s = reduce add %e [0] : f64\n %y = div %e, %s\n return %y\n}\n"
    )
    tool("compile", "softmax.inlay", "-o", "softmax.c")
    Path("main.c").write_text("""
        #include "softmax.c"
        #include <stdio.h>
        int main(void) {
          double x[4] = {0, 1, 2, 3}, y[4];
          static double arena[64];
          const void* params[] = {x};
          void *outputs[] = {y}, *segments[] = {arena};
          InlayCall call = {.params = params, .outputs = outputs, .segments = segments};
          if (inlay_entry(&call) != INLAY_OK) return 1;
          for (int i = 0; i < 4; ++i) printf("%.15f\\n", y[i]);
          return 0;
        }""")
    subprocess.run(["cc", "-std=c99", "-O2", "main.c", "-o", "main", "-lm"], check=True)
    printed = subprocess.run(["./main"], capture_output=True, text=True, check=True).stdout
    e = np.exp(np.arange(4.0))
    np.testing.assert_allclose(np.array(printed.split(), dtype=float), e / e.sum(), rtol=1e-12)
