"""The user's lines in the log density of a model.

PyMC makes the nodes of a log density long after the model, so what PyTensor keeps of the stack names PyMC's files and,
at best, the line that asked for the density. Here each node of a variable's term that has no line of the user's gets
the stack that made the variable, behind its own.
"""

import functools

from ..pytensor.traces import user_stack


def keep_lines(logprob):
    """`logprob`: the module pymc.logprob.basic."""
    conditional_logp = getattr(logprob, "conditional_logp", None)
    if conditional_logp is None or hasattr(conditional_logp, "keeps_lines"):
        return

    @functools.wraps(conditional_logp)
    def conditional_logp_with_lines(rv_values, *args, **kwargs):
        terms = conditional_logp(rv_values, *args, **kwargs)
        for variable, value in rv_values.items():
            stack = None if variable.owner is None else user_stack(variable.owner)
            if stack is not None and value in terms:
                _add(stack, terms[value])
        return terms

    conditional_logp_with_lines.keeps_lines = True
    logprob.conditional_logp = conditional_logp_with_lines


def _add(stack, term):
    """To `term` and what it is made of, as far as nothing has a line of its own: there the user's graph begins."""
    open_variables = [term]
    while open_variables:
        node = open_variables.pop().owner
        if node is None or user_stack(node) is not None:
            continue
        for variable in node.outputs:
            variable.tag.trace = [*(getattr(variable.tag, "trace", None) or ()), stack]
        open_variables += node.inputs
