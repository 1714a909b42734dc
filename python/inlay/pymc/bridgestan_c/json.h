/* Numbers from JSON as Stan's clients write it: {"a": 1.5, "b": [[1, 2], [3, 4]]}. */
#ifndef INLAY_BRIDGESTAN_JSON_H
#define INLAY_BRIDGESTAN_JSON_H
#include <stddef.h>
#include <stdint.h>

/* Where a value goes: its first index changes fastest. Without elements the value is not read. */
typedef struct {
  double* elements;
  const int64_t* dims;
  int rank;
} JsonArray;

/* Asks `array_of` for each name. 0; or -1, and `why` in words. Numbers are read in the locale of the thread. */
__attribute__((visibility("hidden"))) int read_json(const char* text,
                                                    JsonArray (*array_of)(void* context, const char* name,
                                                                          size_t length),
                                                    void* context, char* why, size_t room);

#endif
