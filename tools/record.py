"""Compiles a model or a case of the fusion bench; what it becomes goes to INLAY_DUMP. See scripts/record.

    tools/record.py models | fusion             the names
    tools/record.py models | fusion NAME        compiles that one
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(ROOT / "examples"), str(ROOT / "examples" / "models"), str(ROOT / "bench")]


def names(group):
    if group == "models":
        import registry

        return registry.NAMES
    import fusion

    return [str(number) for number in range(len(fusion.CASES))]


def compile_model(name):
    import registry

    import inlay.pytensor

    with inlay.pytensor.default_mode():
        model = registry.model(name)
        function = model.logp_dlogp_function(ravel_inputs=True)
        function._pytensor_function  # noqa: B018  # compiled


def compile_case(number):
    import fusion
    import pytensor

    import inlay.pytensor  # noqa: F401  # the mode

    case = fusion.CASES[int(number)]
    for dtype in ("float64", "float32"):
        inputs, outputs = case.graph(dtype)
        pytensor.function(inputs, outputs, mode="INLAY")


def main(group, name=None):
    if name is None:
        print(*names(group), sep="\n")
    elif group == "models":
        compile_model(name)
    else:
        compile_case(name)


main(*sys.argv[1:])
