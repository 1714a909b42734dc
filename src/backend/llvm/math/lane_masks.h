#pragma once
// What comparisons are where a CPU has no masks: integers in the lanes of vectors.

/// All bits of a lane, or none; a comparison with nan gives none, except in not_below_0.
typedef vi Lanes;
INLAY_INLINE Lanes not_below_0(vd x) { return ~(x < 0); }
INLAY_INLINE Lanes above_0(vd x) { return x > 0; }
INLAY_INLINE Lanes above(vd x, double limit) { return x > limit; }
INLAY_INLINE Lanes below(vd x, double limit) { return x < limit; }
INLAY_INLINE Lanes equals(vd x, double value) { return x == value; }
