#include <algorithm>
#include <optional>

#include "kernel/parser.h"

namespace inlay::kernel {

// ---- The signature ----

/// Scans the signature once before parsing: `name :` at the depth of its parentheses declares a buffer, and the names
/// after `symbols` up to the brace are symbols.
void Parser::collect_names() {
  int depth = 0;
  for (std::size_t i = 0; peek(i).kind != Token::Kind::end; ++i) {
    const Token& token = peek(i);
    depth += at("(", i) ? 1 : at(")", i) ? -1 : 0;
    if (token.kind == Token::Kind::name && depth == 1 && at(":", i + 1)) {
      if (!buffers_.emplace(token.text, BufferId(buffers_.size())).second) {
        throw error(token, ErrorCode::duplicate_name, str("there are two buffers `", token.text, "`"));
      }
    }
    if (depth > 0 || !at("symbols", i)) continue;
    for (std::size_t k = i + 1; peek(k).kind != Token::Kind::end && !at("{", k); ++k) {
      const bool declares = at("symbols", k - 1) || at(",", k - 1);
      if (!declares || peek(k).kind != Token::Kind::name) continue;
      const SymbolId id = out_.symbols.push_back({.name = peek(k).text});
      if (!symbols_.emplace(peek(k).text, id).second) {
        throw error(peek(k), ErrorCode::duplicate_name, str("there are two symbols `", peek(k).text, "`"));
      }
    }
    return;
  }
}

void Parser::facts(Buffer& out) {
  out.bound = true;
  if (!accept("{")) return;
  list("}", [&] {
    if (accept("sorted")) {
      out.facts.sorted = true;
      return;
    }
    const bool is_min = at("min");
    if (!is_min && !at("max")) fail_expected("`min`, `max` or `sorted`");
    next();
    out.facts.has_range = true;
    (is_min ? out.facts.min : out.facts.max) = integer();
  });
}

void Parser::role(Buffer& out) {
  const Token token = expect(Token::Kind::name, "the role of a buffer");
  bool found = false;
  for (Role role : {Role::param, Role::output, Role::temporary, Role::scalar, Role::literal, Role::host}) {
    if (role_name(role) != token.text) continue;
    out.role = role;
    found = true;
  }
  if (!found)
    throw error(token, ErrorCode::syntax, str("a buffer cannot be `", token.text, "`"))
        .help("param, output, temporary, scalar, literal, host or view of");
  if (peek().kind == Token::Kind::integer) out.slot = small_integer();
  if (accept("bound")) facts(out);
  if (out.role == Role::param && !out.bound) out.donated = accept("donated");
  if (out.role != Role::literal) return;
  expect("[");
  list("]", [&] { out.elements.push_back(literal(out.dtype)); });
}

void Parser::buffer_declaration() {
  Buffer out;
  const Token token = peek();
  out.name = name("the name of a buffer");
  expect(":");
  out.dtype = dtype();
  if (accept("[")) list("]", [&] { out.dims.push_back(dim()); });
  if (!at("view")) role(out);
  if (accept("view")) {
    expect("of");
    out.view_of = buffer();
  }
  const BufferId id = out_.buffers.push_back(out);
  if (out.view_of.valid() || (out.role != Role::param && out.role != Role::output)) return;
  std::vector<BufferId>& slots = out.role == Role::param ? out_.params : out_.outputs;
  const auto slot = static_cast<std::size_t>(out.slot);
  if (out.slot < 0 || slot >= buffers_.size())
    throw error(token, ErrorCode::syntax, "expected the slot of this buffer");
  if (slots.size() <= slot) slots.resize(slot + 1);
  slots[slot] = id;
}

void Parser::symbol_sources() {
  if (!accept("symbols")) return;
  do {
    const SymbolId id = symbol();
    if (!accept("=")) continue;
    // Symbols name the graph value that defines them. A parsed program has no graph: each buffer is a value of its own.
    const BufferId source = buffer();
    expect(".");
    out_.buffers[source].value = ValueId(source.index);
    out_.symbols[id].source = out_.buffers[source].value;
    out_.symbols[id].axis = small_integer();
  } while (accept(","));
}

void Parser::sites() {
  expect("{");
  while (!accept("}")) {
    const Token token = peek();
    if (!(site() == SiteId(out_.sites.size()))) {
      throw error(token, ErrorCode::syntax,
                  str("expected site `#", out_.sites.size(), "`, found ", text::describe(token)));
    }
    const Token word = peek();
    const std::string code = hyphenated("the code of an error");
    Site out;
    bool found = false;
    for (int i = 0; i < kNumErrorCodes; ++i) {
      if (code_name(static_cast<ErrorCode>(i)) != code) continue;
      out.code = static_cast<ErrorCode>(i);
      found = true;
    }
    if (!found) throw error(word, ErrorCode::unknown_name, str("there is no error code `", code, "`"));
    out.message = string("the message of the error, in quotes");
    if (accept("at")) out.location.text = string("where the site stands, in quotes");
    while (accept("note")) {
      std::string role = string("the role of the note, in quotes");
      out.notes.emplace_back(std::move(role), string("the note, in quotes"));
    }
    out_.sites.push_back(std::move(out));
  }
}

/// A name with hyphens: words and minus signs here.
std::string Parser::hyphenated(std::string_view what) {
  std::string out = name(what);
  while (accept("-")) out += "-" + name(what);
  return out;
}

void Parser::stored() {
  expect("{");
  while (!accept("}")) {
    Stored& out = out_.buffers[buffer()].stored;
    const Token word = peek();
    const std::string why = hyphenated("why it is stored");
    const std::optional<StoredFor> found = stored_for_named(why);
    if (!found) throw error(word, ErrorCode::unknown_name, str("there is no reason `", why, "`"));
    out.why = *found;
    if (peek().kind == Token::Kind::string) out.what = string("what the reason is about, in quotes");
  }
}

void Parser::refusals() {
  expect("{");
  while (!accept("}")) out_.refusals.push_back(string("what was not done and why, in quotes"));
}

KernelProgram Parser::program() {
  expect("program");
  out_.name = expect(Token::Kind::global, "the name of the program, as in @main").text;
  collect_names();
  expect("(");
  list(")", [&] { buffer_declaration(); });
  symbol_sources();
  expect("{");
  while (!at("sites") && !at("stored") && !at("refusals") && !at("}")) step();
  if (accept("sites")) sites();
  if (accept("stored")) stored();
  if (accept("refusals")) refusals();
  expect("}");
  if (peek().kind != Token::Kind::end) fail_expected("the end of the text");
  return std::move(out_);
}

KernelProgram parse(std::string_view text, std::string_view file_name) { return Parser(text, file_name).program(); }

}  // namespace inlay::kernel
