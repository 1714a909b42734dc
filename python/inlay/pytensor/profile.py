"""Rows of inlay's own in PyTensor's profile: kernels, library calls, host calls, draws, copies.

PyTensor's summary knows nodes of a graph with an op each. What inlay runs is no node of the user's graph: a kernel stands
for many. So each step is shown as a node whose op says what it is and what it computes.
"""


class Step:
    """What runs, as the op of a row."""

    def __init__(self, name, nodes):
        self._text = f"{name} ({', '.join(nodes)})" if nodes else name

    def __str__(self):
        return self._text


class Kernel(Step):
    pass


class LibraryCall(Step):
    pass


class HostCall(Step):
    pass


class Draw(Step):
    pass


class Copy(Step):
    pass


_CLASSES = {"kernel": Kernel, "library call": LibraryCall, "host call": HostCall, "draw": Draw, "copy": Copy}


class Row:
    """Stands where PyTensor's profile has a node."""

    inputs, outputs = (), ()

    def __init__(self, op):
        self.op = op

    def __str__(self):
        return str(self.op)


class Rows:
    """The steps of one function, in their order; stands where PyTensor's profile has the graph."""

    def __init__(self, compiled):
        self._program = compiled.program
        self._seen = []
        self._rows = []
        for step in self._program.step_times():
            nodes = dict.fromkeys(text.split(",")[0] for text in step["locations"] if text)
            self._rows.append(Row(_CLASSES[step["kind"]](step["name"], nodes)))
            self._seen.append((0.0, 0))

    def __getstate__(self):
        return self.__dict__ | {"_program": None}  # a profile is pickled with its function, which has new rows then

    def toposort(self):
        return self._rows

    def update_profile(self, profile):
        """What PyTensor's Function calls after each call of a function that is profiled."""
        for i, step in enumerate(self._program.step_times()):
            seconds, passes = self._seen[i]
            row = self._rows[i]
            profile.apply_time[self, row] += step["seconds"] - seconds
            profile.apply_callcount[self, row] += step["passes"] - passes
            profile.apply_cimpl[row] = not isinstance(row.op, HostCall)
            self._seen[i] = step["seconds"], step["passes"]
