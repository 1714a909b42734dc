#pragma once
// How one draw of each distribution is made: by NumPy's own sampling functions, out of the NumPy that is imported,
// so the draws are those of the user's version. (They are exported by its module numpy.random._generator; numpy.org's
// "Extending" page calls them in this way.)
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <numpy/random/distributions.h>

#include "numpy_api.h"

namespace inlay::python {

/// NumPy's functions of these names, without their `random_`.
// clang-format off: it moves the lines of such a list each time
#define INLAY_SAMPLERS(X) \
  X(beta) X(binomial) X(exponential) X(gamma) X(geometric) X(hypergeometric) X(laplace) X(logistic) X(lognormal) \
  X(multinomial) X(negative_binomial) X(normal) X(poisson) X(standard_gamma) X(standard_normal) X(standard_t) \
  X(triangular) X(uniform) X(vonmises) X(wald) X(weibull)
// clang-format on

struct Samplers {
#define INLAY_SAMPLER(name) decltype(&random_##name) name = nullptr;
  INLAY_SAMPLERS(INLAY_SAMPLER)
#undef INLAY_SAMPLER
};

/// Those of the module at `path`, which must be loaded; null where it lacks one.
std::unique_ptr<const Samplers> load_samplers(const std::string& path);

/// What draws are made from.
struct Source {
  const Samplers& numpy;
  bitgen_t* bits;
  binomial_t binomial{};     // what `binomial` prepares for one pair of parameters
  std::vector<double> sums;  // what `categorical` and `dirichlet` prepare for one vector, which lies at
  const double* sums_of = nullptr;
};

/// The parameters of one draw.
struct Params {
  const double* const* at;
  std::size_t length;  // of the last one, where it is a vector

  double operator[](int i) const { return *at[i]; }
  std::span<const double> vector(int i) const { return {at[i], length}; }
};

template <class T>
using DrawsNumber = T (*)(Source&, Params);
template <class T>
using DrawsVector = void (*)(Source&, Params, std::span<T>);  // as long as the last parameter
using Sampler = std::variant<DrawsNumber<double>, DrawsNumber<int64_t>, DrawsVector<double>, DrawsVector<int64_t>>;

/// The last parameter: the others are numbers.
enum class Last : uint8_t { number, vector };

/// One of PyTensor's random variables. What NumPy and SciPy refuse, or treat in a way of its own, does not fit and is
/// left to them.
struct Distribution {
  const char* name;  // of PyTensor's op
  int num_params;
  bool (*fits)(Params);
  Sampler sampler;
  Last last = Last::number;

  bool draws_vectors() const {
    return std::holds_alternative<DrawsVector<double>>(sampler) ||
           std::holds_alternative<DrawsVector<int64_t>>(sampler);
  }
};

/// Null: there is none of that name.
const Distribution* distribution(const std::string& name);

}  // namespace inlay::python
