#include "distributions.h"

#include <algorithm>
#include <cmath>
#include <numeric>

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

using P = Params;

bool all(std::span<const double> values, bool (*holds)(double)) {
  return !values.empty() && std::ranges::all_of(values, holds);
}

/// The number of probabilities whose sum stays below a uniform number.
int64_t categorical(Source& s, P p) {
  const std::span<const double> probabilities = p.vector(0);
  if (s.sums_of != probabilities.data()) {
    s.sums.resize(probabilities.size());
    std::partial_sum(probabilities.begin(), probabilities.end(), s.sums.begin());
    s.sums_of = probabilities.data();
  }
  return std::ranges::lower_bound(s.sums, s.numpy.uniform(s.bits, 0, 1)) - s.sums.begin();
}

/// NumPy's two ways: numbers of gamma distributions over their sum; where all that can underflow, a stick that is
/// broken piece by piece.
void dirichlet(Source& s, P p, std::span<double> drawn) {
  const std::span<const double> alpha = p.vector(0);
  if (*std::ranges::max_element(alpha) < 0.1) {
    if (s.sums_of != alpha.data()) {
      s.sums.resize(alpha.size());
      std::partial_sum(alpha.rbegin(), alpha.rend(), s.sums.rbegin());  // from each to the end
      s.sums_of = alpha.data();
    }
    double left = 1;
    for (std::size_t i = 0; i + 1 < alpha.size(); ++i) {
      const double part = s.numpy.beta(s.bits, alpha[i], s.sums[i + 1]);
      drawn[i] = left * part;
      left *= 1 - part;
    }
    drawn.back() = left;
    return;
  }
  double sum = 0;
  for (std::size_t i = 0; i < alpha.size(); ++i) {
    drawn[i] = s.numpy.standard_gamma(s.bits, alpha[i]);
    sum += drawn[i];
  }
  const double scale = 1 / sum;
  for (double& x : drawn) x *= scale;
}

void multinomial(Source& s, P p, std::span<int64_t> drawn) {
  std::ranges::fill(drawn, 0);                               // NumPy's function stops where no trial is left
  auto* const probabilities = const_cast<double*>(p.at[1]);  // it only reads them
  s.numpy.multinomial(s.bits, static_cast<int64_t>(p[0]), drawn.data(), probabilities, std::ssize(drawn), &s.binomial);
}

/// With what each addition has lost brought back (Kahan), as NumPy adds probabilities.
double compensated_sum(std::span<const double> terms) {
  double sum = 0, lost = 0;
  for (double x : terms) {
    const double y = x - lost, next = sum + y;
    lost = (next - sum) - y;
    sum = next;
  }
  return sum;
}

/// The last of the probabilities is what the others leave; NumPy lets them be a little more than 1.
bool fits_multinomial(P p) {
  const std::span<const double> probabilities = p.vector(1);
  return number_of_trials(p[0]) && all(probabilities, probability) &&
         compensated_sum(probabilities.first(probabilities.size() - 1)) <= 1;
}

/// (NumPy adds integers as such, which wraps where no double holds their sum.)
bool fits_categorical(P p) {
  const std::span<const double> probabilities = p.vector(0);
  return all(probabilities, non_negative) && std::accumulate(probabilities.begin(), probabilities.end(), 0.0) < 0x1p53;
}

// What SciPy draws (t, halfnormal, ...) it draws standardized, then scales, then shifts; with scale 0 it draws nothing.
constexpr Distribution kDistributions[] = {
    {"beta", 2, [](P p) { return positive(p[0]) && positive(p[1]); },
     [](Source& s, P p) { return s.numpy.beta(s.bits, p[0], p[1]); }},
    {"exponential", 1, [](P p) { return non_negative(p[0]); },
     [](Source& s, P p) { return s.numpy.exponential(s.bits, p[0]); }},
    {"gamma", 2, [](P p) { return non_negative(p[0]) && non_negative(p[1]); },
     [](Source& s, P p) { return s.numpy.gamma(s.bits, p[0], p[1]); }},
    {"halfnormal", 2, [](P p) { return positive(p[1]); },
     [](Source& s, P p) { return std::fabs(s.numpy.standard_normal(s.bits)) * p[1] + p[0]; }},
    {"invgamma", 2, [](P p) { return positive(p[0]) && positive(p[1]); },
     [](Source& s, P p) { return 1 / s.numpy.gamma(s.bits, p[0], 1 / p[1]); }},
    {"laplace", 2, [](P p) { return non_negative(p[1]); },
     [](Source& s, P p) { return s.numpy.laplace(s.bits, p[0], p[1]); }},
    {"logistic", 2, [](P p) { return non_negative(p[1]); },
     [](Source& s, P p) { return s.numpy.logistic(s.bits, p[0], p[1]); }},
    {"lognormal", 2, [](P p) { return non_negative(p[1]); },
     [](Source& s, P p) { return s.numpy.lognormal(s.bits, p[0], p[1]); }},
    {"normal", 2, [](P p) { return non_negative(p[1]); },
     [](Source& s, P p) { return s.numpy.normal(s.bits, p[0], p[1]); }},
    {"t", 3, [](P p) { return positive(p[0]) && positive(p[2]); },
     [](Source& s, P p) { return s.numpy.standard_t(s.bits, p[0]) * p[2] + p[1]; }},
    {"triangular", 3, [](P p) { return p[0] <= p[1] && p[1] <= p[2] && p[0] != p[2]; },
     [](Source& s, P p) { return s.numpy.triangular(s.bits, p[0], p[1], p[2]); }},
    {"uniform", 2, [](P p) { return std::isfinite(p[1] - p[0]) && non_negative(p[1] - p[0]); },
     [](Source& s, P p) { return s.numpy.uniform(s.bits, p[0], p[1] - p[0]); }},
    {"vonmises", 2, [](P p) { return non_negative(p[1]); },
     [](Source& s, P p) { return s.numpy.vonmises(s.bits, p[0], p[1]); }},
    {"wald", 2, [](P p) { return positive(p[0]) && positive(p[1]); },
     [](Source& s, P p) { return s.numpy.wald(s.bits, p[0], p[1]); }},
    {"weibull", 1, [](P p) { return non_negative(p[0]); },
     [](Source& s, P p) { return s.numpy.weibull(s.bits, p[0]); }},

    {"bernoulli", 1, [](P p) { return probability(p[0]); },
     [](Source& s, P p) { return s.numpy.binomial(s.bits, p[0], 1, &s.binomial); }},
    {"binomial", 2, [](P p) { return number_of_trials(p[0]) && probability(p[1]); },
     [](Source& s, P p) { return s.numpy.binomial(s.bits, p[1], static_cast<int64_t>(p[0]), &s.binomial); }},
    {"geometric", 1, [](P p) { return positive_probability(p[0]); },
     [](Source& s, P p) { return s.numpy.geometric(s.bits, p[0]); }},
    {"hypergeometric", 3,
     [](P p) {
       return non_negative(p[0]) && non_negative(p[1]) && non_negative(p[2]) && std::max(p[0], p[1]) < 1e9 &&
              p[0] + p[1] >= p[2];
     },
     [](Source& s, P p) {
       const auto whole = [&](int i) { return static_cast<int64_t>(p[i]); };
       return s.numpy.hypergeometric(s.bits, whole(0), whole(1), whole(2));
     }},
    {"negative_binomial", 2,
     [](P p) {
       return positive(p[0]) && positive_probability(p[1]) &&
              (1 - p[1]) / p[1] * (p[0] + 10 * std::sqrt(p[0])) <= kPoissonMax;
     },
     [](Source& s, P p) { return s.numpy.negative_binomial(s.bits, p[0], p[1]); }},
    {"poisson", 1, [](P p) { return non_negative(p[0]) && p[0] <= kPoissonMax; },
     [](Source& s, P p) { return s.numpy.poisson(s.bits, p[0]); }},

    {"categorical", 1, fits_categorical, categorical, Last::vector},
    {"dirichlet", 1, [](P p) { return all(p.vector(0), positive); }, dirichlet, Last::vector},
    {"multinomial", 2, fits_multinomial, multinomial, Last::vector},
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
