#pragma once
// Powers of two with SSE2 and in one lane, where nothing rounds down to whole numbers: by bits alone.

/// Rounded down, for |x| up to 2^51.
INLAY_INLINE vd floor_d(vd x) {
  const vd whole = (x + 0x1.8p+52) - splat(0x1.8p+52);
  return whole - select_d(whole > x, splat(1), splat(0));
}

/// x 2^half 2^(n - half) for integers in the last 11 bits.
INLAY_INLINE vd scale_by_bits(vd x, vi n, vi half) {
  return x * of_bits_d(shifted_left(half + 1023, 52)) * of_bits_d(shifted_left((n - half) + 1023, 52));
}

/// x 2^n for a whole |n| up to 2044, rounded once where |x| 2^floor(n/2) is no subnormal, also into the subnormals and
/// to infinity. The sum has 2 n in its last bits.
INLAY_INLINE vd scale_whole(vd x, vd n) {
  const vi halves = bits_d(n + 0x1.8p+51);
  return scale_by_bits(x, shifted_right(halves, 1), shifted_right(halves, 2));
}
