/* Fits growth to five counts and says how it goes on. inlay_add_function made both functions and their headers. */
#include <stdio.h>

#include "fit.h"
#include "predict_growth.h"

/* What the functions work in, at the first address that is aligned. */
static char memory[fit_ARENA_BYTES + fit_ARENA_ALIGNMENT];
#if predict_growth_ARENA_BYTES > fit_ARENA_BYTES
#error "predict_growth needs more working memory than fit"
#endif

int main(void) {
  const double days[5] = {0, 1, 2, 3, 4}, counts[5] = {3, 6, 12, 24, 48}, next[2] = {5, 6};
  double start, rate, then[2];
  void* arena = memory + fit_ARENA_ALIGNMENT - (uintptr_t)memory % fit_ARENA_ALIGNMENT;
  int32_t code = fit(days, counts, &start, &rate, arena);
  if (code != INLAY_OK) return puts(fit_message(code)), 1;
  code = predict_growth(next, &start, &rate, then, arena);
  if (code != INLAY_OK) return puts(predict_growth_message(code)), 1;
  printf("%.3f * exp(%.3f x): %.3f on day 5, %.3f on day 6\n", start, rate, then[0], then[1]);
  return 0;
}
