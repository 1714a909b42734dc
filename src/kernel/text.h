#pragma once
// The text form of a KernelProgram: what dumps hold, what `explain` shows, and what `#= fuse` tests compare.
//
//   program @main(x: f64[n] param 0, g: i64[n] param 1 bound {min 0, max 84}, out: f64[n + 1] output 0, t: f64[85]
//   temporary,
//                 s: f64 scalar, c: f64[2] literal [1.0, 2.0], v: f64[5, 17] view of t) symbols n = x.0 {
//     check n <= 1000 #1
//     kernel @k0 {
//       outer (r < m)                             # where there are outer axes; (r < m) by 64: the last by tiles
//       local $3 start fill 0.0                   # each outer point's own, or each tile's
//       out t start fill 0.0                      # or: copy b; without such a line an output keeps what it holds
//       workspace w                               # what blocks of its loops fold, where that is much
//       once stage (i < n) { ... }                # before the first outer point
//       stage (i < n) {                           # (i < n, r): the points r of a tile, innermost
//         %0 = load g[i] : i64
//         %1 = load c[wrap(%0, 2) checked #0] : f64
//         %2 = mul %1, %1 : f64
//         %3 = axis i : i64                       # or: literal 1.5 : f64, size n + 1 : i64, cast %2 : f32
//         store out[1 + i] set %2
//         %5 = load x[min(1, m)*i] : f64          # the step of an axis is a size
//         store t[wrap(%0, 85) proved] add %2
//         fold add s[] %2 : f64
//         check %4 #2
//         store out[i] set %2 elided            # the plan has its bytes there; so a `start copy` and a `copy`
//       }
//     }
//     scalar { ... }                              # 0-d arithmetic: the statements of its one stage
//     call matmul t = a, b (1, m, k, n)          # the batch, then the sizes of the op's signature
//     call eigh w, v = a (k, n) upper workspace u #0 #1
//     host_call "name" 0 (a, b) -> h bind k = h.0 #3
//     copy a -> b "why"
//     loop i < k { ... } while p                # without the condition: k times. What stands within is steps
//     cond p { ... } else { ... }
//     sites { #0 index-out-of-bounds "index {0} is out of bounds" at "model.py:3" note "left" "%3" }
//     stored { t by-parts u call-operand "eigh" }   # why temporaries are there: a word of kernel/stored.def, and what
//                                                   # it is about
//     refusals { "%p stays a matmul: ..." }
//   }
//
// print -> parse -> print is the identity. `# ` begins a comment, `#0` is a site.
#include <string>
#include <string_view>

#include "kernel/kernel.h"

namespace inlay::kernel {

/// Prints the program. Every name in the text is an identifier for one thing: buffers that share a name or have none
/// get a free one, and so does an axis with the name of a symbol.
std::string print(const KernelProgram& program);
std::string print_statement(const KernelProgram& program, const Kernel& kernel, const Stage& stage,
                            const Statement& statement);

/// Parses a program. Throws Error(syntax, unknown_name, ...) at the first error, with its location as
/// "file:line:column". The result is well-formed but may be unsound: verify checks that.
KernelProgram parse(std::string_view text, std::string_view file_name = "<text>");

/// The names of buffers and symbols as the text uses them, each unique.
struct Names {
  IdMap<BufferId, std::string> buffers;
  IdMap<SymbolId, std::string> symbols;

  explicit Names(const KernelProgram& program);
  std::vector<std::string> axes(const Kernel& kernel, const Stage& stage) const;  // the outer ones first
};

}  // namespace inlay::kernel
