"""Writes src/onnx/signatures.def, which attributes and inputs the ops of ONNX have, from the schemas of the package `onnx`."""

from pathlib import Path

TABLE = Path(__file__).parents[2] / "src" / "onnx" / "signatures.def"
OLDEST = 7  # the first version of the operator set that inlay reads
HEAD = """// Of each op of ONNX that inlay has, and each version: how many inputs it takes at most (-1: any number), and its
// attributes. tools/docs/onnx_signatures.py writes this file.
"""


def signatures(names):
    """The text of the table, for the ops of these names."""
    from onnx import defs

    of_op = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.name in names and not schema.deprecated:
            of_op.setdefault(schema.name, []).append(schema)
    lines = []
    for name, schemas in sorted(of_op.items()):
        schemas.sort(key=lambda schema: schema.since_version)
        rows = []
        for i, schema in enumerate(schemas):
            if i + 1 < len(schemas) and schemas[i + 1].since_version <= OLDEST:
                continue
            most = schema.max_input if schema.max_input < 2**31 - 1 else -1
            row = (most, " ".join(sorted(schema.attributes)))
            if not rows or rows[-1][1] != row:
                rows.append((schema.since_version, row))
        lines += [f'SIGNATURE({name}, {since}, {most}, "{words}")' for since, (most, words) in rows]
    return HEAD + "\n".join(lines) + "\n"


def names():
    """Of ONNX's own ops that inlay has."""
    from inlay import _inlay

    return {name for domain, name, _ in _inlay.onnx_ops() if domain == ""}


if __name__ == "__main__":
    TABLE.write_text(signatures(names()))
