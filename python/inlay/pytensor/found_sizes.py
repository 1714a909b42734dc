"""Ops whose results have other sizes than their types say, found when the function runs.

PyTensor's own modes believe an op's `perform` rather than its `make_node`. Here sizes that types say are compiled in: so the
function is compiled once more where one of them is wrong, with sizes that the call finds, and the call is made again.
A call that failed has changed nothing but generators, and those are set back. What an op's own code did it does twice.
"""

import threading

import numpy as np

from .. import errors
from .translate.host_call import HostCall, OtherSizes
from .user_lines import warn_user


class WithFoundSizes:
    """A vm that is another one after a call that found other sizes; what is known of it is known of that one."""

    def __init__(self, make, cells, vm):
        """`make(found)`: a vm for which these sizes of results are not known. `cells`: what it reads. `vm`: the first."""
        self._make, self._cells, self._lock = make, cells, threading.Lock()
        self._found = frozenset()
        self._all = frozenset()
        self._doubter = None  # the vm that finds all sizes that types say; not made before it is asked for
        self._use(vm)

    def _use(self, vm):
        known = vars(self)  # one dict for all of them
        known.update(vars(vm))
        vm.__dict__ = known
        vm.on_error.known_of_vm = known
        self._vm = vm

    def __call__(self, *args, **kwargs):
        while True:
            vm, states = self._vm, self._states()
            try:
                return vm(*args, **kwargs)
            except OtherSizes as error:
                self._set_back(states)
                self._compile_again(error, vm)
            except errors.ShapeMismatch as error:
                # What is compared with a size that a type says may be refused before the op has run.
                if vm is self._doubter:
                    raise
                self._set_back(states)
                if vm is self._vm:  # else another thread has compiled it again
                    return self._believing_no_type(error, vm, args, kwargs)

    def _states(self):
        """What the call is given, which an op that calls this function takes away, and the states of generators."""
        given = [cell[0] for cell in self._cells]
        return given, [(x, x.bit_generator.state) for x in given if isinstance(x, np.random.Generator)]

    def _set_back(self, states):
        given, generators = states
        for cell, x in zip(self._cells, given, strict=True):
            cell[0] = x
        for generator, state in generators:
            generator.bit_generator.state = state

    def _compile_again(self, error, vm):
        with self._lock:
            if vm is not self._vm:
                return  # another thread has
            if error.found <= self._found:
                raise error
            self._found |= error.found
            self._use(self._make(self._found))
        _warn(error)

    def _believing_no_type(self, error, vm, args, kwargs):
        """Where this call fails too, the error is the caller's."""
        doubter, states = self._made_to_doubt(), self._states()
        if doubter is vm:
            raise error
        try:
            results = doubter(*args, **kwargs)
        except Exception:
            self._set_back(states)
            raise error from None
        with self._lock:
            is_news = self._vm is not doubter
            if is_news:
                self._found = self._all
                self._use(doubter)
        if is_news:
            calls = doubter.compiled.translation.host_calls
            for other in [c.differed for c in calls if getattr(c, "differed", None)][:1]:
                _warn(other)
        return results

    def _made_to_doubt(self):
        with self._lock:
            if self._doubter is None:
                calls = [c for c in self.compiled.translation.host_calls if isinstance(c, HostCall)]
                self._all = self._found.union(*(call.said_axes() for call in calls))
                self._doubter = self._make(self._all) if self._all > self._found else self._vm
            return self._doubter


def _warn(error):
    warn_user(f"{error.said}: the function was compiled once more, with sizes that it finds")
