#include "transform/join_whole_arrays.h"

#include <algorithm>

#include "transform/join.h"

namespace inlay::transform {

using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelProgram;
using kernel::Stage;
using kernel::Statement;

namespace {

/// The rows are whole arrays: the second goes over the same points as the first once that has been folded. It is one
/// Kernel where both need the same data; loops over other data are not made stages because a number is handed on.
class WholeArrays {
 public:
  WholeArrays(const KernelProgram& program, const Kernel& first, const Kernel& second)
      : program_(program), first_(first), second_(second) {}

  bool fit(WhyNot* why) const {
    return all_hold(
        why, [&] { return are_whole(why); }, [&] { return same_points(why); }, [&] { return share_data(why); },
        [&] { return has_few_loops(first_, second_, why); });
  }

  bool may_follow(Between between, WhyNot* why) const {
    std::vector<const Kernel*> later(between.begin(), between.end()), before = {&first_};
    later.push_back(&second_);
    if (std::ranges::none_of(later, [&](const Kernel* k) { return reads_fold_of_first(*k); })) {
      if (why) why->forget();
      return false;
    }
    return std::ranges::all_of(later, [&](const Kernel* k) {
      const bool can_be = starts_can_be_earlier(program_, *k, before, why);
      before.push_back(k);
      return can_be;
    });
  }

 private:
  BufferId root(BufferId b) const { return root_of(program_, b); }

  bool are_whole(WhyNot* why) const {
    if (first_.outer.empty() && second_.outer.empty()) return true;
    if (why) why->say({ApartFor::whole_fold});
    return false;
  }

  bool same_points(WhyNot* why) const {
    const std::vector<Dim> all = axis_extents(second_, second_.stages.front());
    const auto same_in = [&](const Kernel& kernel) {
      return std::ranges::all_of(
          kernel.stages, [&](const Stage& stage) { return stage.axes.empty() || axis_extents(kernel, stage) == all; });
    };
    const bool are_same = !all.empty() && same_in(first_) && same_in(second_);
    if (!are_same && why) why->say({ApartFor::other_axes});
    return are_same;
  }

  bool has_bytes(BufferId b) const {
    const kernel::Role role = program_.buffers[root(b)].role;
    return role != kernel::Role::scalar && role != kernel::Role::literal;
  }

  bool share_data(WhyNot* why) const {
    const bool they_do = any_statement(second_, [&](const Statement& s) {
      if (s.kind != Statement::Kind::load || !has_bytes(s.buffer)) return false;
      return any_statement(first_,
                           [&](const Statement& f) { return f.has_place() && root(f.buffer) == root(s.buffer); });
    });
    if (!they_do && why) why->say({ApartFor::other_data});
    return they_do;
  }

  bool reads_fold_of_first(const Kernel& kernel) const {
    return any_statement(kernel, [&](const Statement& s) {
      if (s.kind != Statement::Kind::load) return false;
      return any_statement(first_, [&](const Statement& f) {
        return f.kind == Statement::Kind::fold && root(f.buffer) == root(s.buffer);
      });
    });
  }

  const KernelProgram& program_;
  const Kernel& first_;
  const Kernel& second_;
};

}  // namespace

JoinRule whole_arrays(const KernelProgram& program) {
  return {"join-whole-arrays", Through::scalars,
          [&](const Kernel& first, const Kernel& second, WhyNot* why) {
            return WholeArrays(program, first, second).fit(why);
          },
          [&](Kernel& first, Between between, Kernel& second, WhyNot* why) {
            if (!WholeArrays(program, first, second).may_follow(between, why)) return false;
            for (Kernel* scalars : between) append(first, std::move(*scalars));
            append(first, std::move(second));
            return true;
          }};
}

KernelProgram join_whole_arrays(KernelProgram program, LoopPassContext& context) {
  join_kernels(program, whole_arrays(program), context);
  return program;
}

}  // namespace inlay::transform
