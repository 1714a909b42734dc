#include "export/header.h"

#include <algorithm>

#include "backend/c/backend.h"
#include "explain/memory_comment.h"
#include "explain/memory_map.h"
#include "export/cpp_words.h"
#include "inlay/runtime.h"
#include "runtime/arena.h"
#include "support/comment.h"

namespace inlay {

using c_backend::Text;
using kernel::Buffer;
using kernel::BufferId;
using kernel::SiteId;

namespace {

constexpr std::size_t kLineLength = 110;
constexpr int kFirstSite = 256;  // what the typed function returns where site 0 fails

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

/// "softmax: the text" as a C string.
std::string quoted(std::string_view text) {
  constexpr std::string_view kDigits = "01234567";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || c == '?') {
      out += str("\\", std::string(1, c));  // ? for trigraphs
    } else if (byte < 32 || byte >= 127) {
      out += '\\';
      for (const int shift : {6, 3, 0}) out += kDigits[byte >> shift & 7];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

/// The message of an assert is the user's own: its braces are not placeholders (runtime/executable.cpp).
bool is_own(const kernel::Site& site) { return site.code == ErrorCode::assert_failed; }

bool has_braces(const kernel::Site& site) { return site.message.find('{') != std::string::npos; }

}  // namespace

Interface::Interface(const Lowered& made, const std::string& name, const std::vector<std::string>& results)
    : made_(made),
      name_(name),
      is_typed_(made.kernels.symbols.size() == 0),
      has_numbers_(
          std::ranges::any_of(made.kernels.sites, [](const auto& site) { return !is_own(site) && has_braces(site); })) {
  for (const std::string_view word : kCppWords) variables_.reserve(std::string(word));
  for (const char* own : {"arena", "params", "outputs", "segments", "code", "numbers", "InlayCall"})
    variables_.reserve(own);
  for (const std::string& fixed : fixed_names()) variables_.reserve(fixed);
  add_params();
  add_outputs(results);
  for (const Symbol& symbol : made.kernels.symbols) sizes_.push_back(enumerator("_SIZE_", symbol.name));
}

std::optional<int64_t> Interface::arena_bytes() const {
  if (!made_.plan.is_static || has_segments()) return std::nullopt;
  return made_.plan.arena_bytes();
}

std::string Interface::layout() const {
  if (arena_bytes()) return "";
  return str(name_, has_segments() ? "_segment_bytes" : "_arena_bytes");
}

std::string Interface::enumerator(std::string_view of, std::string_view name) {
  return enumerators_.take(str(name_, of, name));
}

void Interface::add_params() {
  for (const BufferId id : made_.kernels.params) {
    const Buffer& buffer = made_.kernels.buffers[id];
    Slot slot{.name = buffer.name, .type = type_text(made_.kernels, buffer), .dtype = buffer.dtype};
    slot.enumerator = enumerator("_IN_", buffer.name);
    slot.is_in_the_code = buffer.bound;
    slot.is_written = buffer.donated;
    if (is_typed_) slot.num_elements = kernel::num_elements(buffer).evaluate({});
    if (is_typed_ && !buffer.bound) slot.variable = variables_.take(buffer.name, "x");
    params_.push_back(std::move(slot));
  }
}

void Interface::add_outputs(const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < made_.kernels.outputs.size(); ++i) {
    const BufferId id = made_.kernels.outputs[i];
    const Buffer& buffer = made_.kernels.buffers[id];
    std::string name = names[i].empty() ? str("out", i) : names[i];
    const auto is_users = [&] {
      return std::ranges::find(names, name) != names.end() ||
             std::ranges::find(params_, name, &Slot::name) != params_.end();
    };
    while (names[i].empty() && is_users()) name += '_';
    Slot slot{.name = name, .type = type_text(made_.kernels, buffer), .dtype = buffer.dtype};
    slot.enumerator = enumerator("_OUT_", name);
    slot.segment = memory::segment_of(made_.plan.sharing, buffer.dims);
    slot.taken = memory::param_in_output(made_.kernels, made_.plan.sharing, id);
    if (is_typed_) slot.num_elements = kernel::num_elements(buffer).evaluate({});
    if (is_typed_ && slot.taken < 0) slot.variable = variables_.take(name, "y");
    outputs_.push_back(std::move(slot));
  }
}

std::string Interface::code_of(SiteId site) const {
  std::string code(code_name(made_.kernels.sites[site].code));
  std::ranges::replace(code, '-', '_');
  return str(name_, "_FAILED_", site.index, "_", code);
}

/// Those that depend on nothing of the program.
std::vector<std::string> Interface::fixed_names() const {
  std::vector<std::string> out = {name_};
  for (const char* end : {"_entry", "_message", "_message_with", "_arena_bytes", "_segment_bytes", "_FAILED",
                          "_ARENA_BYTES", "_ARENA_ALIGNMENT", "_OFFSETS", "_SEGMENTS"}) {
    out.push_back(name_ + end);
  }
  return out;
}

std::vector<std::string> Interface::names() const {
  std::vector<std::string> out = fixed_names();
  for (const Slot& slot : params_) out.push_back(slot.enumerator);
  for (const Slot& slot : outputs_) out.push_back(slot.enumerator);
  out.insert(out.end(), sizes_.begin(), sizes_.end());
  for (const SiteId site : ids<SiteId>(made_.kernels.sites.size())) out.push_back(code_of(site));
  return out;
}

void Interface::describe(Text& out) const {
  out.comment(str("Program @", made_.kernels.name, ", made by inlay."));
  if (is_typed_) {
    out.comment(str(
        "All sizes are fixed: ", name_, "() takes the arrays, ", entry(),
        "() the same by their slots in an InlayCall. "
        "Arrays are row-major; bool is a byte, a complex number two elements, f16 and bf16 are their bits. No output "
        "overlaps another array. Nothing is allocated or kept: any number of threads may call at once, each with "
        "working memory of its own."));
  } else {
    out.comment(str("Sizes are not fixed (--size): ", entry(),
                    "() takes the arrays by their slots in an InlayCall, and "
                    "checks no size."));
  }
}

namespace {

/// `params`: in whose bytes results may lie.
void write_enum(Text& out, std::string_view comment, const std::vector<Slot>& slots, const std::vector<Slot>& params) {
  if (slots.empty()) return;
  out.comment(comment);
  out.open("enum");
  for (std::size_t i = 0; i < slots.size(); ++i) {
    std::string what = slots[i].type;
    if (slots[i].is_in_the_code) what += ", lies in the code: its slot is not read";
    if (slots[i].is_written) what += ", may be overwritten";
    if (slots[i].segment > 0) what += str(", set by begin_segment for segment ", slots[i].segment);
    if (slots[i].taken >= 0) {
      const std::string& param = params[static_cast<std::size_t>(slots[i].taken)].enumerator;
      what += str(", lies in the bytes of ", param, ", at whose address it is passed");
    }
    out.line(slots[i].enumerator, " = ", i, i + 1 < slots.size() ? "," : "", " /* ", comment_text(what), " */");
  }
  out.close(";");
  out.blank();
}

}  // namespace

void Interface::write_slots(Text& out) const {
  write_enum(out, "Slots of InlayCall.params.", params_, params_);
  write_enum(out, "Slots of InlayCall.outputs.", outputs_, params_);
  if (sizes_.empty()) return;
  std::vector<std::string> found;
  for (const kernel::Step& step : made_.kernels.steps) {
    for (const SymbolId symbol : kernel::symbols_bound_by(step)) found.push_back(sizes_[symbol.index]);
  }
  out.comment(str("Places in InlayCall.symbols", found.empty() ? "" : "; a call sets ", join(found, ", "), "."));
  out.line("enum { ", join(sizes_, ", "), " };");
  out.blank();
}

void Interface::write_alignment(Text& out) const {
  static_assert(runtime::kArenaAlignment == 64, "the layouts of backend/c/functions/layout.c are multiples of this");
  out.line("#define ", name_, "_ARENA_ALIGNMENT ", runtime::kArenaAlignment);
}

/// What begin_segment has to do, which is the caller's.
void Interface::write_segments(Text& out) const {
  const memory::MemoryPlan& plan = made_.plan;
  out.comment(
      str("Working memory is a block for each of ", name_, "_SEGMENTS segments, at a multiple of ", name_,
          "_ARENA_ALIGNMENT, since a call finds sizes on its way. InlayCall.segments[0] is there when it begins. "
          "InlayCall.begin_segment is called where a later segment begins, with the sizes of that in "
          "InlayCall.symbols, and sets InlayCall.segments[segment] and those of InlayCall.outputs that are "
          "marked with the segment above. In a loop one segment may begin again and again: the block of the "
          "time before is free then. begin_segment returns INLAY_OK or what the call is to end with, as "
          "INLAY_OUT_OF_MEMORY."));
  std::string minus_one;
  if (!plan.is_static) minus_one = ", or -1 where they do not fit in 64 bits";
  if (plan.upper_bounds.size() > 0) minus_one = ", or -1 where a size is beyond its upper bound";
  const char* offsets = plan.is_static ? ". No offset depends on sizes: InlayCall.offsets is not read"
                                       : ", and sets the offsets of the segment among those of InlayCall.offsets";
  out.comment(str(layout(),
                  "() returns the bytes of a segment's block for sizes as InlayCall.symbols has them when it "
                  "begins",
                  minus_one, offsets, ". Where a block has 0 bytes the pointer is not read."));
  write_alignment(out);
  out.line("enum { ", name_, "_SEGMENTS = ", plan.sharing.num_segments(), ", ", name_,
           "_OFFSETS = ", std::max<std::size_t>(plan.sharing.storages.size(), 1), " };");
  out.line(c_backend::layout_prototype(plan, layout()), ";");
  out.blank();
}

void Interface::write_arena(Text& out) const {
  if (has_segments()) return write_segments(out);
  if (!arena_bytes()) {
    out.comment(str("Working memory, which is InlayCall.segments[0], at a multiple of ", name_, "_ARENA_ALIGNMENT. ",
                    layout(),
                    "() returns its bytes for sizes as InlayCall.symbols has them, or -1 where they do not fit in 64 "
                    "bits, and sets offsets, which InlayCall.offsets is to be."));
    write_alignment(out);
    out.line("enum { ", name_, "_OFFSETS = ", made_.plan.sharing.storages.size(), " };");
    out.line(c_backend::layout_prototype(made_.plan, layout()), ";");
    out.blank();
    return;
  }
  out.comment("Working memory, which is InlayCall.segments[0]; where it has 0 bytes the pointer is not read.");
  out.line("#define ", name_, "_ARENA_BYTES ", *arena_bytes());
  write_alignment(out);
  out.blank();
}

void Interface::write_codes(Text& out) const {
  const auto& sites = made_.kernels.sites;
  if (sites.size() == 0) {
    out.comment("No check of this program can fail.");
    out.line("enum { ", name_, "_FAILED = ", kFirstSite, " };");
    out.blank();
    return;
  }
  out.comment(str("Where a call fails at a site, ", entry(), "() returns INLAY_FAILED_AT_SITE and sets failure_site",
                  is_typed_ ? str(", and ", name_, "() returns the site's code") : "", ": ", name_,
                  "_FAILED + failure_site."));
  out.open("enum");
  out.line(name_, "_FAILED = ", kFirstSite, ",");
  for (const SiteId site : ids<SiteId>(sites.size()))
    out.line(code_of(site), " = ", kFirstSite + site.index, site.index + 1 < sites.size() ? "," : "");
  out.close(";");
  out.blank();
}

std::string Interface::typed_prototype() const {
  std::vector<std::string> list;
  const auto add = [&](const Slot& slot, const char* qualifier) {
    if (slot.variable.empty()) return;
    const int64_t count = slot.num_elements * (is_complex(slot.dtype) ? 2 : 1);
    const std::string_view type = c_backend::element_type(slot.dtype);
    list.push_back(count == 0 ? str(qualifier, type, "* ", slot.variable)
                              : str(qualifier, type, " ", slot.variable, "[", count, "]"));
  };
  for (const Slot& slot : params_) add(slot, slot.is_written ? "" : "const ");
  for (const Slot& slot : outputs_) add(slot, "");
  list.emplace_back("void* arena");
  if (has_numbers_) list.emplace_back("int64_t numbers[4]");
  const std::string line = str("int32_t ", name_, "(", join(list, ", "), ")");
  if (line.size() <= kLineLength) return line;
  return str("int32_t ", name_, "(\n    ", join(list, ",\n    "), ")");
}

void Interface::write_prototypes(Text& out) const {
  out.line("int32_t ", entry(), "(InlayCall* call);");
  if (is_typed_) {
    out.comment(str("INLAY_OK, or what went wrong. arena: ", name_, "_ARENA_BYTES bytes at a multiple of ", name_,
                    "_ARENA_ALIGNMENT.",
                    has_numbers_ ? " numbers: set where a check fails; null where nobody asks." : ""));
    out.line(typed_prototype(), ";");
  }
  out.comment(str("What a code says", has_numbers_ ? ", with {0} for the first of the numbers of the call." : "."));
  out.line("const char* ", name_, "_message(int32_t code);");
  if (!has_numbers_) return;
  out.comment(str("The same with its numbers: ", is_typed_ ? str("those that ", name_, "() has set, or ") : "",
                  "InlayCall.failure_numbers. Writes as much as `size` bytes have room for, and a 0 behind it."));
  out.line(message_with_prototype(), ";");
}

std::string Interface::header() const {
  const std::string guard = str("INLAY_EXPORT_", name_, "_H");
  Text out;
  out.line("#ifndef ", guard);
  out.line("#define ", guard);
  describe(out);
  out.blank();
  std::string text = out.text() + std::string(c_backend::runtime_header()) + "\n";
  out = Text();
  out.line("#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
  write_slots(out);
  out.line(explain::memory_comment(explain::memory_table(made_.kernels, made_.plan)));
  out.blank();
  write_arena(out);
  write_codes(out);
  write_prototypes(out);
  out.line("\n#ifdef __cplusplus\n}\n#endif\n#endif");
  return text + out.text();
}

void Interface::write_typed(Text& out) const {
  INLAY_CHECK(arena_bytes(), "sizes are fixed, and a segment is not");
  const auto addresses = [&](const std::vector<Slot>& slots) {
    std::vector<std::string> out;
    for (const Slot& slot : slots) {
      const Slot& place = slot.taken < 0 ? slot : params_[static_cast<std::size_t>(slot.taken)];
      out.push_back(place.variable.empty() ? "0" : place.variable);
    }
    return out.empty() ? std::string("0") : join(out, ", ");
  };
  out.open(typed_prototype());
  out.line("const void* const params[] = {", addresses(params_), "};");
  out.line("void* outputs[] = {", addresses(outputs_), "};");
  out.line("void* segments[] = {arena};");
  out.line("InlayCall call = {0};");
  out.line("call.params = params;");
  out.line("call.outputs = outputs;");
  out.line("call.segments = segments;");
  if (made_.kernels.sites.size() == 0) {
    out.line("return ", entry(), "(&call);");
  } else {
    out.line("const int32_t code = ", entry(), "(&call);");
    if (has_numbers_) out.line("for (int i = 0; numbers && i < 4; ++i) numbers[i] = call.failure_numbers[i];");
    out.line("return code == INLAY_FAILED_AT_SITE ? ", name_, "_FAILED + (int32_t)call.failure_site : code;");
  }
  out.close();
}

void Interface::write_message(Text& out) const {
  constexpr std::pair<const char*, const char*> kCodes[] = {
      {"INLAY_OK", "done"},
      {"INLAY_FAILED_AT_SITE", "a check failed"},
      {"INLAY_HOST_CALL_FAILED", "a function of the host failed"},
      {"INLAY_OUT_OF_MEMORY", "no memory"},
      {"INLAY_SIZE_OVERFLOW", "a size does not fit in 64 bits"},
      {"INLAY_BEYOND_UPPER_BOUND", "a size is larger than its upper bound"},
      {"INLAY_INTERRUPTED", "interrupted"}};
  out.open("const char* ", name_, "_message(int32_t code)");
  out.open("switch (code)");
  for (const auto& [code, text] : kCodes) out.line("case ", code, ": return ", quoted(text), ";");
  for (const SiteId site : ids<SiteId>(made_.kernels.sites.size())) {
    const kernel::Site& what = made_.kernels.sites[site];
    const std::string at = what.location.empty() ? "" : str(" (", what.location.text, ")");
    out.line("case ", code_of(site), ": return ", quoted(one_line(str(code_name(what.code), ": ", what.message, at))),
             ";");
  }
  out.line("default: return \"no code of this function\";");
  out.close();
  out.close();
}

std::string Interface::message_with_prototype() const {
  return str("void ", name_, "_message_with(int32_t code, const int64_t* numbers, char* text, int32_t size)");
}

void Interface::write_message_with(Text& out) const {
  std::vector<std::string> own;
  for (const SiteId site : ids<SiteId>(made_.kernels.sites.size())) {
    if (is_own(made_.kernels.sites[site]) && has_braces(made_.kernels.sites[site])) {
      own.push_back(str("code == ", code_of(site)));
    }
  }
  const std::string none = own.empty() ? "" : str(" && !(", join(own, " || "), ")");
  out.open(message_with_prototype());
  out.line("int32_t end = 0;");
  out.open("for (const char* from = ", name_, "_message(code); *from && end + 1 < size; ++from)");
  out.open("if (from[0] == '{' && from[1] >= '0' && from[1] <= '3' && from[2] == '}'", none, ")");
  out.line("const int64_t number = numbers[from[1] - '0'];");
  out.line("uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;");
  out.line("char digits[20]; /* the last one first */");
  out.line("int32_t count = 0;");
  out.line("do digits[count++] = (char)('0' + rest % 10);");
  out.line("while ((rest /= 10) != 0);");
  out.line("if (number < 0) text[end++] = '-';");
  out.line("while (count > 0 && end + 1 < size) text[end++] = digits[--count];");
  out.line("from += 2;");
  out.reopen("else");
  out.line("text[end++] = *from;");
  out.close();
  out.close();
  out.line("if (size > 0) text[end] = 0;");
  out.close();
}

std::string Interface::functions() const {
  Text out;
  out.blank();
  if (is_typed_) {
    write_typed(out);
    out.blank();
  }
  write_message(out);
  if (has_numbers_) {
    out.blank();
    write_message_with(out);
  }
  return out.text();
}

}  // namespace inlay
