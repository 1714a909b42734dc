#include "ir/checks.h"

namespace inlay {

NodeId binder_of(const Graph& graph, const DimCheck& check) {
  NodeId last;
  for (const Dim* size : {&check.left, &check.right}) {
    for (SymbolId s : size->symbols()) {
      const NodeId binder = graph.binder_of(s);
      if (binder.valid() && (!last.valid() || last.index < binder.index)) last = binder;
    }
  }
  return last;
}

}  // namespace inlay
