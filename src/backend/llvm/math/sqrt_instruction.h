#pragma once
// The square root by the instruction.

INLAY_INLINE Root root_parts(vd x) {
  const vd high = sqrt_d(x);
  // The bound only keeps the quotient finite for 0.
  const Root root = {high, rest_of_quotient(high, high, x), 0.5 / max_d(high, splat(0x1p-500))};
  return root;
}

INLAY_INLINE vd sqrt_of(vd x) { return sqrt_d(x); }
