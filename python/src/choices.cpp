#include "choices.h"

#include <nanobind/stl/string.h>

#include "array_form.h"
#include "compiler/backends.h"
#include "gil.h"
#include "planning.h"
#include "support/fork_gate.h"
#include "thread_count.h"

namespace nb = nanobind;

namespace inlay::python {
namespace {

/// What a Python function says of each pair that may share bytes. Its own exceptions stay what they are.
SharingFunction sharing_function(PyObject* function) {
  return [function](const std::string& step, const std::string& value, const std::string& operand) {
    const ForkGate::Outside outside;  // who has the GIL may be about to fork
    const TakenGil gil;
    const nb::object answer = nb::borrow(function)(step, value, operand);
    if (answer.equal(nb::str("even if larger"))) return MayShare::even_if_larger;
    if (nb::isinstance<nb::bool_>(answer)) return nb::cast<bool>(answer) ? MayShare::by_rule : MayShare::never;
    throw Error(ErrorCode::wrong_dtype, {},
                str("may_share gave ", kind_of(answer.ptr()), " for ", value, " and ", operand))
        .help("it is True, False or \"even if larger\"");
  };
}

void set(Options& options, const std::string& name, nb::handle value) {
  const auto text = [&] { return nb::cast<std::string>(value); };
  if (name == "backend") {
    options.backend = backend_named(text()).name;
  } else if (name == "fuse") {
    options.fuse = fuse::mode_named(text(), name);
  } else if (name == "order") {
    options.order = memory::step_order_named(text(), name);
  } else if (name == "may_share") {
    options.may_share = sharing_function(value.ptr());
  } else if (name == "single_precision") {
    options.rewrite.single_precision = nb::cast<bool>(value);
  } else if (name == "cpu") {
    options.cpu_features = text();
  } else if (name == "threads") {
    options.threads = thread_count("threads=", value.ptr());
  } else if (name == "verify") {
    options.verify = nb::cast<bool>(value);
  } else if (name == "dump") {
    options.dump_directory = text();
  } else if (name == "smallest_blocks") {  // of tests
    options.smallest_blocks = nb::cast<bool>(value);
  } else if (name != "planner" && name != "upper") {
    throw Error(ErrorCode::internal, {}, str("nothing reads the choice ", name));
  }
}

}  // namespace

Options options_of(nb::dict choices) {
  Options options;
  for (auto [name, value] : choices) set(options, nb::cast<std::string>(name), value);
  require_choice_of_cpu(options);
  const nb::object planner = nb::borrow(choices.attr("get")("planner", nb::str("")));
  const bool has_name = nb::isinstance<nb::str>(planner);
  options.planning = planning(has_name ? nb::cast<std::string>(planner) : "", has_name ? nb::none() : planner,
                              nb::cast<nb::dict>(choices.attr("get")("upper", nb::dict())));
  return options;
}

}  // namespace inlay::python
