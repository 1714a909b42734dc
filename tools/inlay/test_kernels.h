#pragma once
// Runs a test of kernels: what passes make of them, and that they compute the same.
//
//   # Why these kernels are here.
//   program @main(x: f64[n, m] param 0, ...) {
//     ...
//   }
//   #= pass order-axes           what follows is the text of all kernels after it; another pass goes on with that
//   #= run n=3,m=4               every judge of the kernels after the passes against the kernels as they stand here
//   #= count kernels 1
#include "test_program.h"

namespace inlay::tool {

ProgramTestResult run_kernels_test(TestFile file, const ProgramTestOptions& options);

}  // namespace inlay::tool
