#include "export.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "explain/memory_comment.h"
#include "export/export.h"
#include "export/sizes.h"
#include "from_python.h"
#include "interrupt.h"
#include "numpy_api.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace inlay::python {
namespace {

/// Of arrays by name, which are row-major.
std::vector<BoundArray> bound_arrays(const Graph& graph, nb::dict given) {
  std::vector<BoundArray> out;
  for (const auto& [key, value] : given) {
    auto* array = reinterpret_cast<PyArrayObject*>(value.ptr());
    BoundArray& made = out.emplace_back();
    made.name = nb::cast<std::string>(key);
    made.dtype = dtype_of(array);
    for (const Param& param : graph.params) {  // whose dtype NumPy may write as this one: bf16
      const DType dtype = graph.type(param.value).dtype;
      if (graph.name_text(param.value) == made.name && numpy_type(dtype) == PyArray_TYPE(array)) made.dtype = dtype;
    }
    for (int i = 0; i < PyArray_NDIM(array); ++i) made.dims.push_back(PyArray_DIM(array, i));
    made.elements = PyArray_DATA(array);
  }
  return out;
}

nb::tuple file_of(const ExportedFile& file) {
  return nb::make_tuple(file.name, nb::bytes(file.bytes.data(), file.bytes.size()));
}

/// `sizes`: as given, by name.
nb::tuple exported_program(const std::string& text, const std::string& file_name, nb::handle name, nb::handle kind,
                           nb::handle sizes, nb::dict bound, bool freestanding, bool blas, nb::handle section,
                           bool single_precision) {
  ExportRequest request{.name = text_of(name, "name="),
                        .kind = export_kind_named(text_of(kind, "kind=")),
                        .sizes = sizes_of(sizes),
                        .freestanding = freestanding,
                        .blas = blas};
  if (!section.is_none()) request.section = text_of(section, "section=");
  request.options.rewrite.single_precision = single_precision;
  request.bound = bound_arrays(parse(text, file_name), bound);
  Exported made;
  unless_interrupted([&] { made = exported(text, file_name, request); });
  nb::dict bytes;
  bytes["text"] = made.sizes.text;
  bytes["rodata"] = made.sizes.rodata;
  bytes["data"] = made.sizes.data;
  bytes["stack"] = made.sizes.stack;
  bytes["arena"] = made.sizes.arena;
  return nb::make_tuple(file_of(made.header), file_of(made.code), bytes);
}

nb::dict exported_memory(const std::string& text, const std::string& path) {
  const explain::MemoryTable table = explain::read_memory_comment(text, path);
  nb::list rows;
  for (const explain::MemoryRow& row : table.rows) {
    nb::dict d;
    d["step"] = row.step;
    d["value"] = row.value;
    d["type"] = row.type;
    d["storage"] = row.storage;
    d["segment"] = row.segment;
    d["at"] = row.at;
    d["bytes"] = row.bytes;
    d["begin"] = row.begin;
    d["end"] = row.end;
    d["reason"] = row.reason;
    rows.append(d);
  }
  nb::dict out;
  out["rows"] = rows;
  out["notes"] = table.notes;
  out["arena_bytes"] = table.arena_bytes ? nb::cast(*table.arena_bytes) : nb::none();
  out["text"] = explain::text(table);
  return out;
}

nb::object loaded_sections_of(nb::bytes elf) {
  const auto sections = loaded_sections({static_cast<const std::byte*>(elf.data()), elf.size()});
  if (!sections) return nb::none();
  nb::list out;
  for (const LoadedSection& section : *sections) {
    const char* use = section.use == Use::text ? "text" : section.use == Use::rodata ? "rodata" : "data";
    out.append(nb::make_tuple(nb::bytes(section.name.data(), section.name.size()).attr("decode")("utf-8", "replace"),
                              use, section.num_bytes));
  }
  return out;
}

/// `parts`: (text, what errors call it, name, arrays by name) each; `code`: text by name of the file.
nb::bytes exported_library_of(nb::list parts, const std::map<std::string, std::string>& code) {
  LibraryRequest request;
  for (nb::handle each : parts) {
    const nb::tuple part = tuple_of(each, 4, "a part of the library");
    LibraryRequest::Part& made = request.parts.emplace_back();
    made.text = text_of(part[0], "the text of a part");
    made.file_name = text_of(part[1], "the file name of a part");
    made.name = text_of(part[2], "the name of a part");
    made.bound = bound_arrays(parse(made.text, made.file_name), nb::cast<nb::dict>(part[3]));
  }
  for (const auto& [name, text] : code) request.code.push_back({name, text});
  std::string made;
  unless_interrupted([&] { made = exported_library(request); });
  return nb::bytes(made.data(), made.size());
}

}  // namespace

void bind_export(nb::module_& m) {
  m.def("exported", exported_program, "text"_a, "file_name"_a, "name"_a.none(), "kind"_a.none(), "sizes"_a, "bound"_a,
        "freestanding"_a = false, "blas"_a = false, "section"_a = nb::none(), "single_precision"_a = false,
        "The name and the bytes of the header, and of the code; sizes in bytes by name, None where not known.");
  m.def(
      "require_export_kind", [](nb::handle kind) { export_kind_named(text_of(kind, "kind=")); }, "kind"_a.none(),
      "ValueError for one that there is not.");
  m.def(
      "loaded_sections", loaded_sections_of, "elf"_a,
      "Of an object or a library: name, use (text, rodata, data) and bytes of each section that is in memory; None of "
      "what is no ELF file.");
  m.def("stack_bytes", stack_bytes, "calls"_a, "function"_a,
        "The most that a call has on the stack, by the graph of calls that gcc writes; None where there is no most.");
  m.def("exported_header", explain::exported_header, "path"_a,
        "The header of an exported program, by the path of one of its files; empty for another file.");
  m.def("exported_memory", exported_memory, "text"_a, "path"_a, "The plan of memory in the text of such a header.");
  m.def("exported_library", exported_library_of, "parts"_a, "code"_a,
        "The bytes of a shared library: of programs, and of C code that calls them.");
  m.def("wrong_export_name", wrong_export_name, "name"_a, "Why a function cannot have this name; empty: it can.");
}

}  // namespace inlay::python
