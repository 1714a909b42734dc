#pragma once
// How Boost.Math is called: nothing is thrown, errno stays, and what has no value is nan or infinite.
#include <boost/math/policies/policy.hpp>

namespace inlay {

namespace policies = boost::math::policies;
using Quiet = policies::policy<
    policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
    policies::overflow_error<policies::ignore_error>, policies::underflow_error<policies::ignore_error>,
    policies::denorm_error<policies::ignore_error>, policies::evaluation_error<policies::ignore_error>,
    policies::rounding_error<policies::ignore_error>, policies::indeterminate_result_error<policies::ignore_error>,
    policies::promote_double<false>, policies::promote_float<false>>;

}  // namespace inlay
