#include "draw.h"

#include <algorithm>
#include <array>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "array_form.h"
#include "gil.h"
#include "ir/positions.h"
#include "ops/element_types.h"
#include "runtime/type_of.h"
#include "support/overloaded.h"

namespace nb = nanobind;

namespace inlay::python {
namespace {

constexpr int kMaxParams = 3;
constexpr std::size_t kManyDraws = 5000;  // or numbers that one is drawn by; some 50 us: worth giving up the GIL for

using Dims = std::vector<int64_t>;

/// What all these shapes broadcast to; none: they do not.
std::optional<Dims> broadcast(std::span<const Dims> shapes) {
  Dims result;
  for (const Dims& dims : shapes) {
    if (dims.size() > result.size()) result.insert(result.begin(), dims.size() - result.size(), 1);
  }
  for (const Dims& dims : shapes) {
    for (std::size_t i = 0; i < dims.size(); ++i) {
      int64_t& n = result[result.size() - dims.size() + i];
      if (n == 1) n = dims[i];
      if (dims[i] != n && dims[i] != 1) return std::nullopt;
    }
  }
  return result;
}

}  // namespace

/// The parameters at each point of a shape that they broadcast to, row by row.
class Points {
 public:
  /// `shapes`: of the parameters, without the axis of a last one that is a vector of `length` elements.
  Points(std::span<const std::span<const double>> values, std::span<const Dims> shapes, std::optional<int64_t> length,
         Dims dims)
      : dims_(std::move(dims)),
        index_(dims_.size(), 0),
        num_params_(values.size()),
        length_(static_cast<std::size_t>(length.value_or(1))) {
    for (std::size_t i = 0; i < num_params_; ++i) {
      at_[i] = values[i].data();
      Dims& steps = steps_[i];
      steps.assign(dims_.size(), 0);
      int64_t step = i + 1 == num_params_ ? length.value_or(1) : 1;
      for (std::size_t back = 1; back <= shapes[i].size(); ++back) {
        const int64_t n = shapes[i][shapes[i].size() - back];
        if (n != 1) steps[dims_.size() - back] = step;
        moves_ |= n != 1;
        step *= n;
      }
    }
  }

  Params params() const { return {.at = at_.data(), .length = length_}; }

  void next() {
    if (!moves_) return;
    for (std::size_t axis = dims_.size(); axis-- > 0;) {
      const bool wraps = ++index_[axis] == dims_[axis];
      const int64_t moved = wraps ? 1 - dims_[axis] : 1;
      for (std::size_t i = 0; i < num_params_; ++i) at_[i] += moved * steps_[i][axis];
      if (!wraps) break;
      index_[axis] = 0;
    }
  }

 private:
  Dims dims_, index_;
  std::size_t num_params_, length_;
  bool moves_ = false;
  std::array<const double*, kMaxParams> at_{};
  std::array<Dims, kMaxParams> steps_;
};

namespace {

template <class T>
void fill(const Distribution& distribution, Source& source, Points& points, std::span<T> draws) {
  std::visit(Overloaded{[&]<class Number>(DrawsNumber<Number> draw) {
                          for (T& x : draws) {
                            x = static_cast<T>(draw(source, points.params()));
                            points.next();
                          }
                        },
                        [&]<class Number>(DrawsVector<Number> draw) {
                          std::vector<Number> row(points.params().length);
                          INLAY_CHECK(!row.empty(), "a vector of no elements is drawn");
                          for (std::size_t first = 0; first < draws.size(); first += row.size()) {
                            draw(source, points.params(), row);
                            std::ranges::transform(row, draws.begin() + static_cast<std::ptrdiff_t>(first),
                                                   [](auto x) { return static_cast<T>(x); });
                            points.next();
                          }
                        }},
             distribution.sampler);
}

/// Holds NumPy's lock of a bit generator, whose state is the generator's alone while numbers are drawn.
class Locked {
 public:
  explicit Locked(nb::handle bit_generator) : lock_(bit_generator.attr("lock")) { lock_.attr("acquire")(); }
  ~Locked() {
    PyObject* released = PyObject_CallMethod(lock_.ptr(), "release", nullptr);
    if (released == nullptr) PyErr_WriteUnraisable(lock_.ptr());
    Py_XDECREF(released);
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  nb::object lock_;
};

}  // namespace

Draw::Draw(const Distribution& distribution, std::shared_ptr<const Samplers> samplers, int generator,
           std::optional<Part> size, std::vector<Part> params, DType dtype, nb::object copier)
    : distribution_(distribution),
      samplers_(std::move(samplers)),
      generator_(generator),
      size_(std::move(size)),
      params_(std::move(params)),
      dtype_(dtype),
      copier_(std::move(copier)) {}

namespace {

/// What a host call was given, operand by operand.
class Operands {
 public:
  Operands(const runtime::HostCallSpec& spec, void* const* data, const int64_t* dims) : spec_(spec), data_(data) {
    for (const runtime::TensorSpec& operand : spec.operands) {
      dims_.emplace_back(dims, operand.dims.size());
      dims += operand.dims.size();
    }
  }

  nb::handle object(int i) const { return static_cast<PyObject*>(data_[i]); }
  std::span<const int64_t> dims(int i) const { return dims_[static_cast<std::size_t>(i)]; }

  /// In `room` where they are not doubles: every dtype that a parameter may have becomes one without loss, but for
  /// 64-bit integers, as in NumPy.
  std::span<const double> numbers(int i, std::vector<double>& room) const {
    const DType dtype = runtime::dtype_of(spec_.operands[static_cast<std::size_t>(i)]);
    const auto count = static_cast<std::size_t>(num_elements(dims(i)));
    if (dtype == DType::f64) return {static_cast<const double*>(data_[i]), count};
    visit_element_type(dtype, [&]<class T>(T) {
      if constexpr (std::is_arithmetic_v<T>) {
        const auto* first = static_cast<const T*>(data_[i]);
        room.assign(first, first + count);
      } else {
        INLAY_CHECK(false, "a parameter of dtype ", dtype_name(dtype));
      }
    });
    return room;
  }

 private:
  const runtime::HostCallSpec& spec_;
  void* const* data_;
  std::vector<std::span<const int64_t>> dims_;
};

std::span<const double> values_of(const Draw::Part& part, const Operands& operands, std::vector<double>& room) {
  return part.operand < 0 ? part.values : operands.numbers(part.operand, room);
}

Dims dims_of(const Draw::Part& part, const Operands& operands) {
  if (part.operand < 0) return part.dims;
  const std::span<const int64_t> dims = operands.dims(part.operand);
  return {dims.begin(), dims.end()};
}

/// The shape of the draws; none: NumPy would refuse it.
std::optional<Dims> shape_of_draws(const std::optional<Draw::Part>& size, const Operands& operands,
                                   const Dims& of_params) {
  if (!size) return of_params;
  std::vector<double> room;
  const std::span<const double> values = values_of(*size, operands, room);
  const Dims dims(values.begin(), values.end());
  const bool is_size = std::ranges::all_of(dims, [](int64_t n) { return n >= 0; });
  if (!is_size || broadcast(std::array{dims, of_params}) != dims) return std::nullopt;
  return dims;
}

/// A new reference; null: a Python error is set.
OwnedArray new_array(const Dims& dims, DType dtype) {
  const std::vector<npy_intp> sizes(dims.begin(), dims.end());
  return OwnedArray(reinterpret_cast<PyArrayObject*>(
      PyArray_SimpleNew(static_cast<int>(sizes.size()), sizes.data(), numpy_type(dtype))));
}

}  // namespace

PyObject* Draw::operator()(const runtime::HostCallSpec& spec, void* const* data, const int64_t* operand_dims) const {
  const Operands operands(spec, data, operand_dims);
  std::array<std::vector<double>, kMaxParams> rooms;
  std::vector<std::span<const double>> values;
  std::vector<Dims> shapes;
  for (std::size_t i = 0; i < params_.size(); ++i) {
    values.push_back(values_of(params_[i], operands, rooms[i]));
    shapes.push_back(dims_of(params_[i], operands));
  }
  std::optional<int64_t> length;
  if (distribution_.last == Last::vector) {
    if (shapes.back().empty()) return nullptr;
    length = shapes.back().back();
    shapes.back().pop_back();
  }
  const std::optional<Dims> of_params = broadcast(shapes);
  if (!of_params) return nullptr;
  const std::optional<Dims> dims = shape_of_draws(size_, operands, *of_params);
  // Beside no draws NumPy looks at the parameters all the same.
  if (!dims || std::ranges::find(*dims, 0) != dims->end()) return nullptr;
  Dims of_array = *dims;
  if (distribution_.draws_vectors()) of_array.push_back(*length);
  const OwnedArray array = new_array(of_array, dtype_);  // before what takes as long as there are draws
  if (!array) return nullptr;
  Points given(values, shapes, length, *of_params);
  for (int64_t i = num_elements(*of_params); i > 0; --i, given.next()) {
    if (!distribution_.fits(given.params())) return nullptr;
  }
  nb::object generator = nb::borrow(operands.object(generator_));
  if (!copier_.is_none()) generator = copier_(generator);
  Points points(values, shapes, length, *dims);
  fill_array(array.get(), generator, points);
  return PyTuple_Pack(2, generator.ptr(), reinterpret_cast<PyObject*>(array.get()));
}

void Draw::fill_array(PyArrayObject* array, nb::handle generator, Points& points) const {
  const nb::object bit_generator = generator.attr("bit_generator");
  const nb::object capsule = bit_generator.attr("capsule");
  auto* const bits = static_cast<bitgen_t*>(PyCapsule_GetPointer(capsule.ptr(), "BitGenerator"));
  if (bits == nullptr) throw nb::python_error();
  Source source{.numpy = *samplers_, .bits = bits};
  const auto count = static_cast<std::size_t>(PyArray_SIZE(array));
  const Locked locked(bit_generator);
  std::optional<ReleasedGil> released;
  if (std::max(count, points.params().length) >= kManyDraws) released.emplace();
  visit_element_type(dtype_, [&]<class T>(T) {
    if constexpr (std::is_arithmetic_v<T>) {
      fill(distribution_, source, points, std::span(static_cast<T*>(PyArray_DATA(array)), count));
    }
  });
}

namespace {

/// The number of an operand, or the values and dims of a constant.
using PythonPart = std::variant<int, std::pair<std::vector<double>, Dims>>;

Draw::Part part_of(const PythonPart& part) {
  if (const int* operand = std::get_if<int>(&part)) return {.operand = *operand};
  const auto& [values, dims] = std::get<1>(part);
  return {.values = values, .dims = dims};
}

/// Those of the NumPy that this process has imported; null: it exports none.
std::shared_ptr<const Samplers> samplers_of_numpy() {
  // The GIL guards it. No initialiser of the static looks them up: the import may give up the GIL, and another thread
  // that took it would wait for the initialiser and keep the GIL.
  static std::shared_ptr<const Samplers> known;
  if (known == nullptr) {
    const nb::object module = nb::module_::import_("numpy.random._generator");
    known = load_samplers(nb::cast<std::string>(module.attr("__file__")));
  }
  return known;
}

nb::object make_draw(const std::string& name, int generator, const std::optional<PythonPart>& size,
                     const std::vector<PythonPart>& params, const std::string& dtype, nb::object copier) {
  const std::shared_ptr<const Samplers> samplers = samplers_of_numpy();
  const Distribution* const found = distribution(name);
  if (samplers == nullptr || found == nullptr || std::ssize(params) != found->num_params) return nb::none();
  std::vector<Draw::Part> parts;
  for (const PythonPart& param : params) parts.push_back(part_of(param));
  std::optional<Draw::Part> sizes;
  if (size) sizes = part_of(*size);
  return nb::cast(Draw(*found, samplers, generator, std::move(sizes), std::move(parts), *dtype_from_name(dtype),
                       std::move(copier)));
}

}  // namespace

void bind_draw(nb::module_& m) {
  // NOLINTNEXTLINE(bugprone-unused-raii): it binds the class
  nb::class_<Draw>(m, "Draw", "Draws a random variable without Python code: the attribute `draw` of a host function.");
  m.def("draw", make_draw, nb::arg("name"), nb::arg("generator"), nb::arg("size").none(), nb::arg("params"),
        nb::arg("dtype"), nb::arg("copier").none(),
        "A Draw of PyTensor's random variable `name`; None: NumPy has no sampling function for it.\n\n"
        "`generator`, `size`, `params`: numbers of operands; of a constant, its values and its shape. `size` None: "
        "that of\n"
        "the parameters. `copier`: makes the generator to draw from.");
}

std::unique_ptr<const Draw> draw_of(PyObject* host_function) {
  const nb::object draw = nb::getattr(host_function, "draw", nb::none());
  return nb::isinstance<Draw>(draw) ? std::make_unique<const Draw>(*nb::inst_ptr<Draw>(draw)) : nullptr;
}

}  // namespace inlay::python
