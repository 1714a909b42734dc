"""What the nodes of the outermost graph do with a variable, and what of the caller's a call may overwrite."""

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Apply, Constant
from pytensor.scan.op import Scan
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.shape import SpecifyShape


class Users:
    """Of the variables of one FunctionGraph. Those of a graph within it have none."""

    def __init__(self, fgraph):
        self._clients = fgraph.clients
        # Which outputs are values of shared variables.
        self.updates = frozenset(getattr(fgraph, "update_mapping", None) or ())
        self.donated = _donated_inputs(fgraph)

    def of(self, var):
        """(node, position among its inputs) of each."""
        return self._clients.get(var, ())

    def scan_of_steps(self, var):
        """The Scan that makes that many steps, or None."""
        scans = (user for user, i in self.of(var) if isinstance(user, Apply) and isinstance(user.op, Scan) and i == 0)
        return next(scans, None)

    def require_length(self, vector, counts):
        """The length that one of them insists on, of those that `counts(user)`, and what PyTensor raises where it is
        another; or None."""
        for user, _ in self.of(vector):
            if not counts(user):
                continue
            if isinstance(user, Apply) and isinstance(user.op, SpecifyShape) and isinstance(user.inputs[1], Constant):
                return int(user.inputs[1].data), AssertionError
            if isinstance(user, Apply) and isinstance(user.op, DimShuffle) and 0 not in user.op.new_order:
                return 1, ValueError  # the axis is dropped
        return None


def _donated_inputs(fgraph):
    """Whose contents a call may overwrite: `In(mutable=True)` and shared variables with an update. PyTensor protects the
    others, but for shared variables of a copy without updates, `f.copy(delete_updates=True)`."""
    protected = [feature.protected for feature in fgraph._features if hasattr(feature, "protected")]
    if not protected:
        return set()
    kept = {id(var) for inputs in protected for var in inputs}
    updated = set((getattr(fgraph, "update_mapping", None) or {}).values())
    kept |= {id(var) for i, var in enumerate(fgraph.inputs) if isinstance(var, SharedVariable) and i not in updated}
    return {var for var in fgraph.inputs if id(var) not in kept}
