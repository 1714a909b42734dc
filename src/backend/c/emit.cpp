// From kernels to C: the table of contents.
//
//   kernel.cpp    a kernel is a function      stage.cpp     the loops of a stage
//   nest.cpp      what is called what there   statement.cpp what stands at a point
//   fold.cpp      variables of folds              scatter.cpp   writes that wait for a block of points
//   scalar.cpp    one op                      complex.cpp   one op of complex numbers
//   steps.cpp     everything that is no kernel
//   program.cpp   names, sizes, addresses     types.cpp     types and constants
//   freestanding.cpp  the form for machines without a C library
//   functions/    C99 sources of what a program needs and C has not
#include "backend/c/emit.h"

#include <algorithm>

#include "backend/c/freestanding.h"
#include "backend/c/functions.h"
#include "backend/c/layout.h"
#include "backend/c/steps.h"
#include "kernel/sizes.h"
#include "kernel/stopping.h"
#include "memory/commit.h"
#include "support/overloaded.h"

namespace inlay::c_backend {
namespace {

using kernel::Role;
using kernel::StepId;

class Emitter {
 public:
  Emitter(const kernel::KernelProgram& program, const memory::MemoryPlan& plan, const SourceOptions& options)
      : p_(program, plan, options), options_(options) {
    for (const kernel::Step& step : program.steps) {
      const kernel::StepAccess access = access_of(program, step);
      for (const auto* list : {&access.reads, &access.writes}) accessed_.insert(list->begin(), list->end());
      for (SymbolId symbol : symbols_bound_by(step)) late_.push_back(symbol);
    }
  }

  Source run() {
    Text steps(1);
    const std::vector<bool> writes = memory::may_have_written(p_.program, p_.plan.sharing);
    const std::vector<bool> looks = kernel::looks_before(p_.program);
    const std::vector<std::vector<Dim>> to_test = kernel::sizes_to_test(p_.program);
    for (std::size_t i = 0; i < p_.program.steps.size(); ++i) {
      if (looks[i]) steps.line(p_.look_up());
      p_.writing = writes[i];
      begin_segments_at(steps, i);
      require_fit(steps, to_test[i]);
      write_step(steps, StepId(i));
    }
    begin_segments_at(steps, p_.program.steps.size());
    Text places(1);
    write_places(places);
    Text sizes(1);
    write_sizes(sizes);
    if (options_.supplies) supply();
    const std::string body = p_.tables.text() + (p_.tables.text().empty() ? "" : "\n") + p_.kernels.text() +
                             str("int32_t ", options_.entry, "(InlayCall* call) {\n") + sizes.text() + places.text() +
                             steps.text() + "  return INLAY_OK;\n}\n" +
                             (options_.layout.empty() ? "" : "\n" + layout_text(p_, options_.layout));
    const std::string own = own_functions();
    return {head(own + body) + own + body, needed()};
  }

 private:
  /// Nobody else is to define what has a source.
  void supply() {
    std::erase_if(p_.needs.externals, [&](const auto& external) {
      const bool has_source = std::ranges::find(functions(), external.first, &Function::name) != functions().end();
      if (has_source) p_.needs.use(external.first);
      return has_source;
    });
  }

  /// Leaves where a size does not fit.
  void require_fit(Text& out, const std::vector<Dim>& sizes) {
    if (sizes.empty()) return;
    out.open("");
    out.line("bool overflows = false;");
    for (const Dim& size : sizes) out.line("(void)", p_.exact_size(size), ";");
    out.line("if (overflows) return INLAY_SIZE_OVERFLOW;");
    out.close();
  }

  void write_step(Text& out, StepId id) {
    std::visit(Overloaded{
                   [&](const kernel::Kernel& kernel) { write_kernel(p_, out, kernel); },
                   [&](const kernel::LibraryCall& call) { write_library_call(p_, out, call); },
                   [&](const kernel::HostCall& call) { write_host_call(p_, out, call); },
                   [&](const kernel::Copy& copy) {
                     if (copy.elided) return;
                     out.comment(str("copy: ", copy.reason));
                     write_transfer(p_, out, copy.source, copy.destination);
                   },
                   [&](const kernel::SizeCheck& check) { write_size_check(p_, out, check); },
                   [&](const kernel::BindSize& bind) { write_bind_size(p_, out, bind); },
                   [&](const kernel::LoopBegin& loop) {
                     const std::string step = variable(p_, loop.step);
                     out.open("for (", step, " = 0; ", step, " < ", p_.size(loop.count), "; ++", step, ")");
                     out.line(p_.look_up());
                   },
                   [&](const kernel::LoopEnd& loop) {
                     if (loop.go_on.valid()) out.line("if (!", condition(loop.go_on), ") break;");
                     out.close();
                   },
                   [&](const kernel::CondBegin& cond) { out.open("if (", condition(cond.condition), ")"); },
                   [&](const kernel::CondElse&) { out.reopen("else"); },
                   [&](const kernel::CondEnd&) { out.close(); },
               },
               p_.program.steps[id.index]);
  }

  std::string condition(BufferId buffer) {
    if (p_.is_constant(buffer)) return constant(p_.needs, p_.root_buffer(buffer).elements[0]);
    return p_.is_scalar(buffer) ? variable(p_, buffer) : str(variable(p_, buffer), "[0]");
  }

  /// Segment 0 is there when the call begins.
  void begin_segments_at(Text& out, std::size_t step) {
    const auto& starts = p_.plan.sharing.segment_starts;
    for (std::size_t segment = 1; segment < starts.size(); ++segment) {
      if (starts[segment].index != step) continue;
      out.open("");
      out.line("const int32_t status = call->begin_segment(call, ", segment, ");");
      out.line("if (status != INLAY_OK) return status;");
      out.close();
      for (BufferId b : accessed_) {
        if (has_place(b) && p_.segment_of(b) == static_cast<int>(segment))
          out.line(variable(p_, b), " = ", p_.place(b), ";");
      }
    }
  }

  bool has_place(BufferId b) const {
    const kernel::Buffer& buffer = p_.program.buffers[b];
    return buffer.role != Role::scalar && buffer.role != Role::host &&
           !(buffer.dtype == DType::opaque && buffer.role != Role::param);
  }

  /// A variable for each buffer that a step names: where it is, or the 0-d value itself.
  void write_places(Text& out) {
    for (BufferId b : accessed_) {
      if (std::ranges::count(p_.uses.buffers, b) == 0) continue;
      const kernel::Buffer& buffer = p_.program.buffers[b];
      use_type(p_.needs, buffer.dtype);
      const bool is_given = buffer.role == Role::param || buffer.role == Role::literal;
      // gcc 12.2 with AVX-512 copies {1, 1, 1, 0} as {1, 1, 1, 1}: it is not to see what a table holds.
      const bool is_table = buffer.role == Role::literal || p_.bound_elements(b) != nullptr;
      const char* pointer = buffer.role == Role::scalar ? " " : is_table ? "* volatile " : "* ";
      const std::string name = str(is_given ? "const " : "", memory_type(buffer.dtype), pointer, p_.name(b));
      if (buffer.role == Role::scalar) {
        out.line(name, is_complex(buffer.dtype) ? " = {0, 0};" : " = 0;");
      } else {
        const bool is_known = has_place(b) && p_.segment_of(b) == 0;
        out.line(name, " = ", is_known ? p_.place(b) : "NULL", ";");
      }
    }
  }

  void write_sizes(Text& out) {
    for (SymbolId s : ids<SymbolId>(p_.program.symbols.size())) {
      if (std::ranges::count(p_.uses.symbols, s) == 0) continue;
      const bool is_late = std::ranges::count(late_, s) > 0;
      out.line(is_late ? "" : "const ", "int64_t ", p_.symbol(s), " = ",
               is_late ? "0" : str("call->symbols[", s.index, "]"), ";");
    }
  }

  /// A C compiler keeps the order of a sum of floats, and so adds one after the other, unless it is told otherwise.
  void write_lanes(std::string& text) {
    if (!p_.needs.folds_in_lanes) return;
    text += R"(#if defined INLAY_SIMD && defined __GNUC__
/* Give it with -fopenmp-simd: floats are folded in lanes, in another order. */
#define PRAGMA(text) _Pragma(#text)
#define IN_LANES(...) PRAGMA(omp simd __VA_ARGS__)
)";
    for (const char* type : {"f64", "f32"}) {
      for (const char* name : {"max", "min"}) {
        const std::string function = str(name, "_", type);
        if (!p_.needs.functions.contains(function)) continue;
        text +=
            str("#pragma omp declare reduction(", function, " : ", type == std::string_view("f64") ? "double" : "float",
                " : omp_out = ", function, "(omp_out, omp_in)) initializer(omp_priv = ",
                name == std::string_view("max") ? "-INFINITY" : "INFINITY", ")\n");
      }
    }
    text += "#else\n#define IN_LANES(...)\n#endif\n\n";
  }

  /// What stands before it uses nothing of the C library.
  std::string head(const std::string& code) {
    Text out;
    out.comment(str("Program @", p_.program.name, ", made by inlay. ", options_.entry,
                    " is called as the declarations below say."));
    out.comment(
        "C99. Compile it with -ffp-contract=off -fno-strict-aliasing: sums are not to be fused with products, and one "
        "byte of working memory holds numbers of several types, one after the other.");
    if (options_.freestanding) {
      out.comment(
          "It includes no header of a hosted C, and allocates nothing. With gcc and clang -ffreestanding is right for "
          "it; -fno-math-errno spares calls of sqrt. What it declares of libm is linked from there.");
    }
    write_needed(out);
    write_arena(out);
    write_errors(out);
    std::string text = out.text();
    text += options_.freestanding ? freestanding_head(code) : hosted_head();
    const std::string_view declarations = options_.declarations.empty() ? runtime_header() : options_.declarations;
    return str(text, "\n", declarations, "\n");
  }

  std::string hosted_head() const {
    std::string text;
    for (const char* header : {"math.h", "stdbool.h", "stdint.h", "string.h"}) text += str("#include <", header, ">\n");
    if (needs_complex_header(p_.needs.functions)) text += "#include <complex.h>\n";
    return text;
  }

  /// Functions that the program brings with it, and declarations of those that it does not.
  std::string own_functions() {
    std::string text = text_of(p_.needs.functions, {.index = p_.index_type(),
                                                    .sum_parts = most_parts(p_.needs.most_points),
                                                    .freestanding = options_.freestanding});
    write_lanes(text);
    if (!p_.needs.externals.empty()) text += "/* Whoever links this file defines these. */\n";
    for (const auto& [name, external] : p_.needs.externals) text += external.declaration + "\n";
    if (!p_.needs.externals.empty()) text += "\n";
    return text;
  }

  std::vector<NeededFunction> needed() const {
    std::vector<NeededFunction> out;
    for (const auto& [name, external] : p_.needs.externals) {
      const std::string values = join(external.values, ", ");
      out.push_back({name, values.empty() ? external.op : str(external.op, " (", values, ")")});
    }
    for (const std::string& name : p_.needs.functions) {
      // That header is no part of a freestanding C, nor are the types of complex numbers.
      if (options_.freestanding && needs_complex_header({name})) out.push_back({"a function of <complex.h>", name});
    }
    return out;
  }

  void write_needed(Text& out) const {
    const std::vector<std::string> of_blas = blas_calls(p_.needs.functions);
    if (!of_blas.empty()) {
      out.comment(str("Links with a BLAS and a LAPACK that have Fortran's names and integers of 32 bits, for: ",
                      join(of_blas, ", "), "."));
    }
    if (p_.needs.externals.empty()) return;
    out.comment(
        "Does not link alone. Functions that are called and have no C source here, and the ops that call them:");
    for (const NeededFunction& function : needed()) out.comment(str(function.name, ": ", function.what));
  }

  /// What a caller must bring.
  void write_arena(Text& out) {
    if (!p_.plan.is_static) {
      return out.comment(
          "The sizes of working memory depend on those of the arguments: call->offsets brings the "
          "places of values in call->segments.");
    }
    for (std::size_t s = 0; s < p_.plan.layouts.size(); ++s) {
      out.comment(str("call->segments[", s, "] has ", p_.plan.layouts[s].arena_bytes,
                      " bytes, at a multiple of 64; call->offsets is not read."));
    }
  }

  void write_errors(Text& out) {
    if (p_.program.sites.size() == 0) return;
    out.comment("Errors, by call->failure_site:");
    for (SiteId s : ids<SiteId>(p_.program.sites.size())) {
      const kernel::Site& site = p_.program.sites[s];
      out.comment(str(s.index, ": ", code_name(site.code), ": ", site.message,
                      site.location.empty() ? "" : str(" (", site.location.text, ")")));
    }
  }

  ProgramText p_;
  const SourceOptions& options_;
  std::set<BufferId> accessed_;  // roots that steps read or write
  std::vector<SymbolId> late_;   // bound on the way
};

}  // namespace

Source write_source(const kernel::KernelProgram& program, const memory::MemoryPlan& plan,
                    const SourceOptions& options) {
  return Emitter(program, plan, options).run();
}

}  // namespace inlay::c_backend
