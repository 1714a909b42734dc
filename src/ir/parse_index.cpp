#include "ir/mistakes.h"
#include "ir/parser.h"

namespace inlay::text {

namespace {

/// (A range that goes down and begins at -1 has no elements: of an array without any it is the whole.)
void require_begin(const Parser& p, ValueId x, std::size_t axis, const Dim& start) {
  if (axis >= p.type(x).dims.size() || !start.is_constant() || start.constant() >= 0) return;
  throw negative_position(p.builder(), ErrorCode::slice_out_of_range,
                          str("axis ", axis, " begins at ", start.constant(), ", before 0"), x, axis, start);
}

IndexItem index_item(Parser& p, ValueId x, std::size_t axis) {
  if (p.in.peek().kind == Token::Kind::value) return IndexItem::through(p.value());
  const bool open_start = p.in.at(":");
  Dim start = open_start ? Dim(0) : p.sizes.dim();
  if (!p.in.accept(":")) return IndexItem::at(start);
  const bool open = p.in.at(":") || p.in.at(",") || p.in.at("]");
  if ((open || open_start) && axis >= p.type(x).dims.size()) {
    throw Error(ErrorCode::wrong_rank, p.scope.location,
                str("an index for axis ", axis, " of a rank ", p.type(x).rank(), " value"))
        .note("operand", p.builder().graph().describe(x));
  }
  Dim stop = open ? p.type(x).dims[axis] : p.sizes.dim();
  const int64_t step = p.in.accept(":") ? signed_integer(p.in) : 1;
  if (step < 0 && !open_start) require_begin(p, x, axis, start);
  if (step < 0 && open_start) start = p.type(x).dims[axis] - 1;
  if (step < 0 && open) stop = -1;
  return IndexItem::range(start, stop, step);
}

}  // namespace

std::vector<IndexItem> index_of(Parser& p, ValueId x) {
  std::vector<IndexItem> index;
  p.in.expect("[");
  p.in.list("]", [&] { index.push_back(index_item(p, x, index.size())); });
  return index;
}

}  // namespace inlay::text
