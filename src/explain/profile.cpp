#include "explain/profile.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <numeric>

#include "explain/page_text.h"
#include "support/counted.h"
#include "support/number_text.h"
#include "support/str.h"

namespace inlay::explain {

std::string three_digits(double number) { return fixed_text(number, number >= 100 ? 0 : number >= 10 ? 1 : 2); }

std::string time_text(double seconds) {
  struct Unit {
    const char* name;
    double seconds;
  };
  for (const Unit& unit : {Unit{"s", 1.0}, Unit{"ms", 1e-3}, Unit{"us", 1e-6}}) {
    if (seconds >= unit.seconds) return str(three_digits(seconds / unit.seconds), " ", unit.name);
  }
  return str(fixed_text(1e9 * seconds, 0), " ns");
}

std::string threads_text(int threads, double balance) {
  return threads == 1 ? "1" : str(three_digits(balance * threads), " of ", threads);
}

namespace {

constexpr std::size_t kMostRows = 30;
constexpr std::size_t kLeastOfCall = 12;  // characters

std::string percent(double share, int places) { return fixed_text(100 * share, places) + " %"; }

/// "3", "2.5": up to six digits.
std::string passes_text(double passes) {
  std::array<char, 32> text;
  const auto written = std::to_chars(text.data(), text.data() + text.size(), passes, std::chars_format::general, 6);
  return {text.data(), written.ptr};
}

std::string bytes_cell(const Amount& amount) {
  const auto* bytes = std::get_if<int64_t>(&amount);
  if (bytes == nullptr) return "by pass";
  const std::string text = short_bytes_text(*bytes);
  const std::size_t word = text.find(" byte");
  return word == std::string::npos ? text : text.substr(0, word) + " B";
}

std::string cut(const std::string& text, std::size_t width) {
  if (characters_in(text) <= width) return text;
  std::string begin = first_characters(text, std::max<std::size_t>(width, 12) - 4);
  begin.resize(begin.find_last_not_of(' ') + 1);
  return begin + " ...";
}

/// The same with the note, with the part of it before its reason, and without it.
void add_with_note(const std::string& telling, const std::string& note, std::vector<std::string>& out) {
  const std::string short_note = note.substr(0, note.find(": "));
  if (!note.empty()) out.insert(out.end(), {str(telling, " (", note, ")"), str(telling, " (", short_note, ")")});
  out.push_back(telling);
}

/// What the step is and computes, and from which lines, as much of it as fits before these.
std::string step_cell(const ProfileRow& row, std::size_t room) {
  const kernel::StepSummary& step = row.summary;
  const std::string note = row.note.empty() ? "" : str(" (", row.note, ")");
  // That it runs as Python says more of a call than its operands and its lines.
  const bool is_host = step.kind == "host call" || step.kind == "draw";
  const std::size_t needed = is_host ? kLeastOfCall + characters_in(note) : room / 2;
  std::string where = row.lines.empty() ? "" : str("  [", row.lines, "]");
  if (characters_in(where) + needed > room) where.clear();
  const std::size_t left = room - std::min(room, characters_in(where));
  if (is_host && !step.formulas.empty())
    return cut(step.formulas[0], left - std::min(left, characters_in(note))) + note + where;
  const std::string title = step.title.empty() ? "" : step.title + ": ";
  const std::string makes = step.makes.empty() ? step.title : str(title, "makes ", join(step.makes, ", "));
  const bool has_formula = step.formulas.size() == 1 && step.kind != "numbers";
  std::vector<std::string> tellings;
  if (has_formula) add_with_note(title + step.formulas[0], row.note, tellings);
  if (!has_formula || step.kind == "kernel") add_with_note(makes, row.note, tellings);
  const auto fits = [&](const std::string& telling) { return characters_in(telling) <= left; };
  const auto shown = std::ranges::find_if(tellings, fits);
  return cut(shown == tellings.end() ? tellings.back() : *shown, left) + where;
}

/// A column of numbers, at their right.
struct Column {
  std::string head;
  std::function<std::string(const ProfileRow&)> cell;
};

std::vector<Column> columns_of(const Profile& profile) {
  const auto share = [&](const ProfileRow& row) { return percent(row.seconds / profile.total, 1); };
  const auto time = [](const ProfileRow& row) { return time_text(row.seconds); };
  std::vector<Column> out = {{"share", share}, {"time", time}};
  if (std::ranges::any_of(profile.rows, [](const ProfileRow& row) { return row.passes != 1; }))
    out.push_back({"passes", [](const ProfileRow& row) { return passes_text(row.passes); }});
  if (std::ranges::any_of(profile.rows, [](const ProfileRow& row) { return row.threads > 1; }))
    out.push_back({"threads", [](const ProfileRow& row) { return threads_text(row.threads, row.balance); }});
  out.push_back({"reads", [](const ProfileRow& row) { return bytes_cell(row.read_bytes); }});
  out.push_back({"writes", [](const ProfileRow& row) { return bytes_cell(row.written_bytes); }});
  out.push_back({"GB/s", [](const ProfileRow& row) {
                   const auto bandwidth = row.bandwidth();
                   return bandwidth ? three_digits(*bandwidth) : "";
                 }});
  out.push_back({"of peak", [&](const ProfileRow& row) {
                   const auto bandwidth = row.bandwidth();
                   return bandwidth ? percent(*bandwidth / profile.bandwidth, 0) : "";
                 }});
  if (std::ranges::any_of(profile.rows, [](const ProfileRow& row) { return row.flop_rate().has_value(); }))
    out.push_back({"GFlop/s", [](const ProfileRow& row) {
                     const auto rate = row.flop_rate();
                     return rate ? three_digits(*rate) : "";
                   }});
  return out;
}

/// The heads, then the rows, without what stands at the right of all numbers.
std::vector<std::string> numbers_of(const std::vector<Column>& columns, const std::vector<const ProfileRow*>& rows) {
  std::vector<std::string> lines(rows.size() + 1);
  for (const Column& column : columns) {
    std::vector<std::string> cells = {column.head};
    for (const ProfileRow* row : rows) cells.push_back(column.cell(*row));
    const std::size_t width = std::ranges::max(cells, {}, &std::string::size).size();
    for (std::size_t i = 0; i < cells.size(); ++i)
      lines[i] += std::string(width - cells[i].size(), ' ') + cells[i] + "  ";
  }
  return lines;
}

std::string rows_text(const Profile& profile, std::size_t width) {
  std::vector<const ProfileRow*> rows;
  for (const ProfileRow& row : profile.rows) rows.push_back(&row);
  std::ranges::stable_sort(rows, std::greater(), &ProfileRow::seconds);
  const std::vector<const ProfileRow*> shown(rows.begin(), rows.begin() + std::min(rows.size(), kMostRows));
  const std::vector<std::string> numbers = numbers_of(columns_of(profile), shown);
  std::string out = str("\n", numbers[0], "step\n");
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const std::string& begin = numbers[i + 1];
    out += str(begin, step_cell(*shown[i], width - std::min(width, begin.size())), "\n");
  }
  if (shown.size() == rows.size()) return out;
  double rest = 0;
  for (std::size_t i = shown.size(); i < rows.size(); ++i) rest += rows[i]->seconds;
  return str(out, "and ", counted(rows.size() - shown.size(), "step"), " that take less time, ",
             percent(rest / profile.total, 1), " of all of it\n");
}

}  // namespace

std::optional<double> ProfileRow::bandwidth() const {
  const auto *read = std::get_if<int64_t>(&read_bytes), *written = std::get_if<int64_t>(&written_bytes);
  if (read == nullptr || written == nullptr || *read + *written == 0 || seconds <= 0) return std::nullopt;
  return static_cast<double>(*read + *written) / seconds / 1e9;
}

std::optional<double> ProfileRow::flop_rate() const {
  const auto* count = flops ? std::get_if<int64_t>(&*flops) : nullptr;
  if (count == nullptr || *count == 0 || seconds <= 0) return std::nullopt;
  return static_cast<double>(*count) / seconds / 1e9;
}

double Profile::outside() const {
  const auto add = [](double sum, const ProfileRow& row) { return sum + row.seconds; };
  return total - std::accumulate(rows.begin(), rows.end(), 0.0, add);
}

std::string short_bytes_text(int64_t bytes) {
  struct Unit {
    const char* name;
    int64_t bytes;
  };
  for (const Unit& unit :
       {Unit{"GiB", int64_t{1} << 30}, Unit{"MiB", int64_t{1} << 20}, Unit{"KiB", int64_t{1} << 10}}) {
    if (bytes >= 10 * unit.bytes)
      return str(fixed_text(static_cast<double>(bytes) / static_cast<double>(unit.bytes), 0), " ", unit.name);
  }
  return str(bytes, bytes == 1 ? " byte" : " bytes");
}

std::string table(const Profile& profile, std::size_t width) {
  const std::string calls = counted(static_cast<std::size_t>(profile.calls), "call");
  const std::string out =
      str(cut(profile.name, width), "\n", time_text(profile.total), " a call, ", time_text(profile.least),
          " at least, of ", calls, ": ", time_text(profile.total - profile.outside()), " in steps, ",
          time_text(profile.outside()), " outside of them\none thread moves ", fixed_text(profile.bandwidth, 1),
          " GB/s to and from this machine's memory\n");
  return profile.rows.empty() ? out : out + rows_text(profile, width);
}

}  // namespace inlay::explain
