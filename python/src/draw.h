#pragma once
// A host call that draws a random variable by NumPy's sampling functions, without Python code on the way.
//
// It makes the draws that the op's own code would make, and leaves the generator as that would. Where parameters or
// sizes are such that NumPy might refuse them, it draws nothing, and the op's code, which every draw stands beside, has
// its say.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "distributions.h"
#include "runtime/object.h"

namespace inlay::python {

class Points;

class Draw {
 public:
  /// A parameter or the size: an operand of the host call, or a constant.
  struct Part {
    int operand = -1;
    std::vector<double> values;
    std::vector<int64_t> dims;
  };

  /// `size`: none: that of the parameters, broadcast. `copier`: makes the generator to draw from; None: the given one.
  Draw(const Distribution& distribution, std::shared_ptr<const Samplers> samplers, int generator,
       std::optional<Part> size, std::vector<Part> params, DType dtype, nanobind::object copier);

  /// The generator afterwards and the array of draws, as a new tuple. Null: nothing was drawn, and either a Python
  /// error is set or the op's own code is to be asked. Throws. `operand_dims`: of all operands, one after the other.
  PyObject* operator()(const runtime::HostCallSpec& spec, void* const* operands, const int64_t* operand_dims) const;

 private:
  /// Throws nanobind::python_error.
  void fill_array(PyArrayObject* array, nanobind::handle generator, Points& points) const;

  const Distribution& distribution_;
  std::shared_ptr<const Samplers> samplers_;
  int generator_;
  std::optional<Part> size_;
  std::vector<Part> params_;
  DType dtype_;
  nanobind::object copier_;
};

/// Of the Draw that a host function has as its attribute `draw`; null: it has none.
std::unique_ptr<const Draw> draw_of(PyObject* host_function);

void bind_draw(nanobind::module_& m);

}  // namespace inlay::python
