#include "distributions.h"

#include <algorithm>
#include <cmath>

#include <dlfcn.h>

namespace inlay::python {
namespace {

// NumPy lets a NaN pass here and there, and a negative zero nowhere that it wants no negative number. Neither fits.
bool non_negative(double x) { return x >= 0 && !std::signbit(x); }
bool positive(double x) { return x > 0; }
bool probability(double x) { return non_negative(x) && x <= 1; }
bool positive_probability(double x) { return x > 0 && x <= 1; }
bool number_of_trials(double n) { return non_negative(n) && n < 0x1p53; }  // below it a double holds any integer

/// Above this NumPy refuses a Poisson mean, in its own words: 2^63 - 10 sqrt(2^63), rounded down.
constexpr double kPoissonMax = 9.2e18;

using P = const double*;

// What SciPy draws (t, halfnormal, ...) it draws standardized, then scales, then shifts; with scale 0 it draws nothing.
constexpr Distribution kDistributions[] = {
    {"beta", 2, [](P p) { return positive(p[0]) && positive(p[1]); },
     [](Source& s, P p) { return s.numpy.beta(s.bits, p[0], p[1]); }, nullptr},
    {"exponential", 1, [](P p) { return non_negative(p[0]); },
     [](Source& s, P p) { return s.numpy.exponential(s.bits, p[0]); }, nullptr},
    {"gamma", 2, [](P p) { return non_negative(p[0]) && non_negative(p[1]); },
     [](Source& s, P p) { return s.numpy.gamma(s.bits, p[0], p[1]); }, nullptr},
    {"halfnormal", 2, [](P p) { return positive(p[1]); },
     [](Source& s, P p) { return std::fabs(s.numpy.standard_normal(s.bits)) * p[1] + p[0]; }, nullptr},
    {"invgamma", 2, [](P p) { return positive(p[0]) && positive(p[1]); },
     [](Source& s, P p) { return 1 / s.numpy.gamma(s.bits, p[0], 1 / p[1]); }, nullptr},
    {"laplace", 2, [](P p) { return non_negative(p[1]); },
     [](Source& s, P p) { return s.numpy.laplace(s.bits, p[0], p[1]); }, nullptr},
    {"logistic", 2, [](P p) { return non_negative(p[1]); },
     [](Source& s, P p) { return s.numpy.logistic(s.bits, p[0], p[1]); }, nullptr},
    {"lognormal", 2, [](P p) { return non_negative(p[1]); },
     [](Source& s, P p) { return s.numpy.lognormal(s.bits, p[0], p[1]); }, nullptr},
    {"normal", 2, [](P p) { return non_negative(p[1]); },
     [](Source& s, P p) { return s.numpy.normal(s.bits, p[0], p[1]); }, nullptr},
    {"t", 3, [](P p) { return positive(p[0]) && positive(p[2]); },
     [](Source& s, P p) { return s.numpy.standard_t(s.bits, p[0]) * p[2] + p[1]; }, nullptr},
    {"triangular", 3, [](P p) { return p[0] <= p[1] && p[1] <= p[2] && p[0] != p[2]; },
     [](Source& s, P p) { return s.numpy.triangular(s.bits, p[0], p[1], p[2]); }, nullptr},
    {"uniform", 2, [](P p) { return std::isfinite(p[1] - p[0]) && non_negative(p[1] - p[0]); },
     [](Source& s, P p) { return s.numpy.uniform(s.bits, p[0], p[1] - p[0]); }, nullptr},
    {"vonmises", 2, [](P p) { return non_negative(p[1]); },
     [](Source& s, P p) { return s.numpy.vonmises(s.bits, p[0], p[1]); }, nullptr},
    {"wald", 2, [](P p) { return positive(p[0]) && positive(p[1]); },
     [](Source& s, P p) { return s.numpy.wald(s.bits, p[0], p[1]); }, nullptr},
    {"weibull", 1, [](P p) { return non_negative(p[0]); }, [](Source& s, P p) { return s.numpy.weibull(s.bits, p[0]); },
     nullptr},

    {"bernoulli", 1, [](P p) { return probability(p[0]); }, nullptr,
     [](Source& s, P p) { return s.numpy.binomial(s.bits, p[0], 1, &s.binomial); }},
    {"binomial", 2, [](P p) { return number_of_trials(p[0]) && probability(p[1]); }, nullptr,
     [](Source& s, P p) { return s.numpy.binomial(s.bits, p[1], static_cast<int64_t>(p[0]), &s.binomial); }},
    {"geometric", 1, [](P p) { return positive_probability(p[0]); }, nullptr,
     [](Source& s, P p) { return s.numpy.geometric(s.bits, p[0]); }},
    {"hypergeometric", 3,
     [](P p) { return std::all_of(p, p + 3, non_negative) && std::max(p[0], p[1]) < 1e9 && p[0] + p[1] >= p[2]; },
     nullptr,
     [](Source& s, P p) {
       const auto whole = [&](int i) { return static_cast<int64_t>(p[i]); };
       return s.numpy.hypergeometric(s.bits, whole(0), whole(1), whole(2));
     }},
    {"negative_binomial", 2,
     [](P p) {
       return positive(p[0]) && positive_probability(p[1]) &&
              (1 - p[1]) / p[1] * (p[0] + 10 * std::sqrt(p[0])) <= kPoissonMax;
     },
     nullptr, [](Source& s, P p) { return s.numpy.negative_binomial(s.bits, p[0], p[1]); }},
    {"poisson", 1, [](P p) { return non_negative(p[0]) && p[0] <= kPoissonMax; }, nullptr,
     [](Source& s, P p) { return s.numpy.poisson(s.bits, p[0]); }},
};

}  // namespace

std::unique_ptr<const Samplers> load_samplers(const std::string& path) {
  void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (module == nullptr) return nullptr;
  auto found = std::make_unique<Samplers>();
  bool all = true;
#define INLAY_SAMPLER(name)                                                                 \
  found->name = reinterpret_cast<decltype(&random_##name)>(dlsym(module, "random_" #name)); \
  all &= found->name != nullptr;
  INLAY_SAMPLERS(INLAY_SAMPLER)
#undef INLAY_SAMPLER
  dlclose(module);  // Python keeps its modules
  if (!all) return nullptr;
  return found;
}

const Distribution* distribution(const std::string& name) {
  const auto* const found = std::ranges::find_if(kDistributions, [&](const Distribution& d) { return d.name == name; });
  return found == std::end(kDistributions) ? nullptr : found;
}

}  // namespace inlay::python
