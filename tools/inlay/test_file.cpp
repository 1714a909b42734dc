#include "test_file.h"

#include <algorithm>

#include "ops/literal.h"

namespace inlay::tool {
namespace {

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

/// "m=0 x=[1, 2] n=3,m=4" in parts: blanks and commas separate, but not within brackets.
std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words(1);
  int depth = 0;
  for (char c : text) {
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    const bool separates = depth == 0 && (c == ' ' || c == ',' || c == '\t');
    if (!separates) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorCode::syntax, {}, message); }

Literal number(DType dtype, std::string_view text) {
  text = trim(text);
  if (const auto value = Literal::of_text(dtype, text)) return *value;
  fail(str("`", text, "` is no ", dtype_name(dtype)));
}

/// A number, or a complex one by its parts: (1, -2).
Literal element(DType dtype, std::string_view text) {
  text = trim(text);
  if (!is_complex(dtype) || text.empty() || text.front() != '(') return number(dtype, text);
  const std::size_t comma = text.find(',');
  if (text.back() != ')' || comma == std::string_view::npos) fail(str("`", text, "` is no ", dtype_name(dtype)));
  const Literal real = number(real_of(dtype), text.substr(1, comma - 1));
  const Literal imaginary = number(real_of(dtype), text.substr(comma + 1, text.size() - comma - 2));
  return Literal::of_float(dtype, real.f, imaginary.f);
}

/// "[[1, 2], [3, 4]]": dims from the nesting.
void read_elements(DType dtype, std::string_view text, std::size_t depth, std::vector<int64_t>& dims,
                   std::vector<Literal>& elements) {
  text = trim(text);
  if (text.empty() || text.front() != '[') {
    if (depth != dims.size()) fail("the list is ragged");
    elements.push_back(element(dtype, text));
    return;
  }
  if (text.back() != ']') fail("a list does not end");
  text = trim(text.substr(1, text.size() - 2));
  if (depth == dims.size()) {
    if (!elements.empty()) fail("the list is ragged");
    dims.push_back(-1);
  }
  int64_t count = 0;
  while (!text.empty()) {
    int level = 0;
    std::size_t end = 0;
    while (end < text.size() && (level > 0 || text[end] != ',')) {
      const char c = text[end];
      level += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
      ++end;
    }
    read_elements(dtype, text.substr(0, end), depth + 1, dims, elements);
    text = end < text.size() ? trim(text.substr(end + 1)) : std::string_view();
    ++count;
  }
  if (dims[depth] >= 0 && dims[depth] != count) fail("the list is ragged");
  dims[depth] = count;
}

Tensor tensor(DType dtype, std::string_view text) {
  std::vector<int64_t> dims;
  std::vector<Literal> elements;
  read_elements(dtype, text, 0, dims, elements);
  Tensor out = Tensor::zeros(dtype, dims);
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i].store(out.element(static_cast<int64_t>(i)));
  return out;
}

const Param* find_param(const Graph& graph, std::string_view name) {
  const auto at =
      std::ranges::find_if(graph.params, [&](const Param& p) { return graph.values[p.value].name == name; });
  return at == graph.params.end() ? nullptr : &*at;
}

}  // namespace

TestFile parse_test_file(std::string_view text, std::string path) {
  TestFile file{std::move(path), {}, {}, {}};
  int line = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view content = text.substr(0, end);
    text.remove_prefix(end);
    ++line;
    if (content.starts_with("#=")) {
      const std::string_view words = trim(content.substr(2));
      const std::size_t space = std::min(words.find(' '), words.size());
      file.directives.push_back(
          {std::string(words.substr(0, space)), std::string(trim(words.substr(space))), {}, line});
    } else if (!file.directives.empty()) {
      file.directives.back().body += content;
    } else {
      file.graph_text += content;
      const std::size_t mark = content.find("#!");
      if (mark != std::string_view::npos) file.errors.push_back({line, std::string(trim(content.substr(mark + 2)))});
    }
  }
  return file;
}

std::string TestFile::to_text() const {
  std::string out = graph_text;
  for (const Directive& directive : directives) {
    out += str("#= ", directive.name, directive.words.empty() ? "" : " ", directive.words, "\n", directive.body);
  }
  return out;
}

std::vector<Given> runs_of(const Graph& graph, const Directive& directive) {
  std::vector<Given> runs(1);
  for (const std::string& word : split_words(directive.words)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) fail(str("`", word, "`: expected name=value"));
    const std::string name = word.substr(0, equals);
    const std::string_view value = std::string_view(word).substr(equals + 1);
    if (runs.back().sizes.contains(name) || runs.back().values.contains(name)) runs.emplace_back();
    const Param* param = find_param(graph, name);
    if (param) {
      runs.back().values[name] = tensor(graph.type(param->value).dtype, value);
    } else {
      runs.back().sizes[name] = number(DType::i64, value).i;
    }
  }
  return runs;
}

}  // namespace inlay::tool
