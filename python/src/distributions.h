#pragma once
// How one number of each distribution is drawn: by NumPy's own sampling functions, out of the NumPy that is imported,
// so the draws are those of the user's version. (They are exported by its module numpy.random._generator; numpy.org's
// "Extending" page calls them in this way.)
#include <memory>
#include <string>

#include <numpy/random/distributions.h>

#include "numpy_api.h"

namespace inlay::python {

/// NumPy's functions of these names, without their `random_`.
// clang-format off: it moves the lines of such a list each time
#define INLAY_SAMPLERS(X) \
  X(beta) X(binomial) X(exponential) X(gamma) X(geometric) X(hypergeometric) X(laplace) X(logistic) X(lognormal) \
  X(negative_binomial) X(normal) X(poisson) X(standard_normal) X(standard_t) X(triangular) X(uniform) X(vonmises) \
  X(wald) X(weibull)
// clang-format on

struct Samplers {
#define INLAY_SAMPLER(name) decltype(&random_##name) name = nullptr;
  INLAY_SAMPLERS(INLAY_SAMPLER)
#undef INLAY_SAMPLER
};

/// Those of the module at `path`, which must be loaded; null where it lacks one.
std::unique_ptr<const Samplers> load_samplers(const std::string& path);

/// What a number is drawn from.
struct Source {
  const Samplers& numpy;
  bitgen_t* bits;
  binomial_t binomial{};  // what `binomial` prepares for one pair of parameters
};

/// One of PyTensor's random variables, whose parameters are numbers. What NumPy and SciPy refuse, or treat in a way of
/// its own, does not fit and is left to them.
struct Distribution {
  const char* name;  // of PyTensor's op
  int num_params;
  bool (*fits)(const double* params);
  double (*real)(Source&, const double* params);    // of one that draws real numbers, else null
  int64_t (*count)(Source&, const double* params);  // of one that draws integers, else null
};

/// Null: there is none of that name.
const Distribution* distribution(const std::string& name);

}  // namespace inlay::python
