#define _POSIX_C_SOURCE 200809L
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { DEEPEST = 64 };

typedef struct {
  const char* at;
  const char* begin;
  char* name; /* of the value that is being read */
  size_t name_room, length;
  char* why;
  size_t room;
} Reader;

/* A name that has no room beside the rest is cut, between characters. */
static int fail(Reader* r, const char* what) {
  const size_t rest = strlen(what) + 64, room = r->room > rest ? r->room - rest : 0;
  size_t length = r->length < room ? r->length : room;
  while (length < r->length && length > 0 && (r->name[length] & 0xC0) == 0x80) --length;
  const char* after = length == 0 ? "" : length < r->length ? "..., " : ", ";
  snprintf(r->why, r->room, "%s%.*s%s%s at character %ld", length ? "of " : "", (int)length, r->name, after, what,
           (long)(r->at - r->begin) + 1);
  return -1;
}

static void skip_blanks(Reader* r) { r->at += strspn(r->at, " \t\r\n"); }

static int takes(Reader* r, char c) {
  skip_blanks(r);
  if (*r->at != c) return 0;
  ++r->at;
  return 1;
}

/* The 4 digits of \u; -1: they are none. */
static long code_unit(const char* digits) {
  long unit = 0;
  for (int i = 0; i < 4; ++i) {
    const char* found = digits[i] ? strchr("00112233445566778899aAbBcCdDeEfF", digits[i]) : NULL;
    if (found == NULL) return -1;
    unit = unit * 16 + (found - "00112233445566778899aAbBcCdDeEfF") / 2;
  }
  return unit;
}

/* The bytes of a code point in UTF-8; their number. */
static int utf8(unsigned long point, char* out) {
  static const unsigned char kFirst[] = {0, 0xC0, 0xE0, 0xF0};
  const int more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  out[0] = (char)(kFirst[more] | point >> 6 * more);
  for (int i = 1; i <= more; ++i) out[i] = (char)(0x80 | (point >> 6 * (more - i) & 0x3F));
  return more + 1;
}

/* Behind a backslash: what it stands for, and how many bytes that is; -1: nothing. */
static int read_escape(Reader* r, char* out) {
  static const char kLetters[] = "\"\\/bfnrt", kMeanings[] = "\"\\/\b\f\n\r\t";
  const char* found = *r->at ? strchr(kLetters, *r->at) : NULL;
  if (found != NULL) {
    ++r->at;
    out[0] = kMeanings[found - kLetters];
    return 1;
  }
  if (*r->at != 'u') return -1;
  long unit = code_unit(r->at + 1);
  if (unit < 0) return -1;
  r->at += 5;
  if (unit >= 0xD800 && unit < 0xDC00 && r->at[0] == '\\' && r->at[1] == 'u') { /* the first half of a pair */
    const long low = code_unit(r->at + 2);
    if (low >= 0xDC00 && low < 0xE000) {
      r->at += 6;
      unit = 0x10000 + (unit - 0xD800) * 0x400 + (low - 0xDC00);
    }
  }
  return utf8((unsigned long)unit, out);
}

/* Behind the quote that opens it. What has no room is counted, and not kept. */
static int read_string(Reader* r, char* text, size_t room, size_t* length) {
  *length = 0;
  while (*r->at != '"') {
    char bytes[4];
    int count = 1;
    if (*r->at == '\0') return fail(r, "a text has no end");
    bytes[0] = *r->at++;
    if (bytes[0] == '\\' && (count = read_escape(r, bytes)) < 0) return fail(r, "a backslash has no meaning");
    for (int i = 0; i < count; ++i, ++*length) {
      if (*length + 1 < room) text[*length] = bytes[i];
    }
  }
  ++r->at;
  text[*length < room ? *length : room - 1] = '\0';
  return 0;
}

/* Behind the digits, of which there is one at least; NULL: there is none. */
static const char* end_of_digits(const char* at) {
  const size_t count = strspn(at, "0123456789");
  return count > 0 ? at + count : NULL;
}

/* Behind a number as JSON has them; NULL: there is none. */
static const char* end_of_number(const char* at) {
  at += *at == '-';
  const char* end = end_of_digits(at);
  if (end == NULL || (*at == '0' && end > at + 1)) return NULL;
  if (*end == '.' && (end = end_of_digits(end + 1)) == NULL) return NULL;
  if (*end != 'e' && *end != 'E') return end;
  return end_of_digits(end + 1 + (end[1] == '+' || end[1] == '-'));
}

/* Behind a word for what JSON has no number for, in letters of either case; NULL: there is none. */
static const char* end_of_word(const char* at) {
  static const char* const kWords[] = {"nan", "infinity", "inf"};
  at += *at == '-' || *at == '+';
  for (int i = 0; i < 3; ++i) {
    if (strncasecmp(at, kWords[i], strlen(kWords[i])) == 0) return at + strlen(kWords[i]);
  }
  return NULL;
}

/* Also as a text, as clients write what JSON has no number for. */
static int read_number(Reader* r, double* number) {
  char text[64];
  size_t length = 0;
  skip_blanks(r);
  const int is_text = takes(r, '"');
  if (is_text && read_string(r, text, sizeof text, &length) != 0) return -1;
  const char* begin = is_text ? text : r->at;
  const char* end = end_of_number(begin);
  if (end == NULL) end = end_of_word(begin);
  if (is_text && (end == NULL || end != text + length)) return fail(r, "a text is no number");
  if (end == NULL) return fail(r, "a number is missing");
  *number = strtod(begin, NULL);
  if (!is_text) r->at = end;
  return 0;
}

static int read_elements(Reader* r, const JsonArray* array, int axis, int64_t element, int64_t step) {
  if (axis == array->rank) return read_number(r, array->elements + element);
  const int64_t size = array->dims[axis];
  char what[64];
  snprintf(what, sizeof what, "a list of %lld is expected", (long long)size);
  if (!takes(r, '[')) return fail(r, what);
  for (int64_t i = 0; i < size; ++i) {
    if (i > 0 && !takes(r, ',')) return fail(r, what);
    if (read_elements(r, array, axis + 1, element + i * step, step * size) != 0) return -1;
  }
  return takes(r, ']') ? 0 : fail(r, what);
}

static int skip_value(Reader* r, int depth) {
  char text[1];
  size_t length;
  double number;
  skip_blanks(r);
  if (depth > DEEPEST) return fail(r, "lists are too deep");
  if (takes(r, '"')) return read_string(r, text, sizeof text, &length);
  const int is_object = *r->at == '{';
  if (is_object || *r->at == '[') {
    const char close = is_object ? '}' : ']';
    ++r->at;
    if (takes(r, close)) return 0;
    do {
      if (is_object) {
        if (!takes(r, '"')) return fail(r, "a name is missing");
        if (read_string(r, text, sizeof text, &length) != 0) return -1;
        if (!takes(r, ':')) return fail(r, "a colon is missing");
      }
      if (skip_value(r, depth + 1) != 0) return -1;
    } while (takes(r, ','));
    return takes(r, close) ? 0 : fail(r, "a bracket is not closed");
  }
  static const char* const kWords[] = {"true", "false", "null"};
  for (int i = 0; i < 3; ++i) {
    if (strncmp(r->at, kWords[i], strlen(kWords[i])) != 0) continue;
    r->at += strlen(kWords[i]);
    return 0;
  }
  return read_number(r, &number);
}

static int read_object(Reader* r, JsonArray (*array_of)(void* context, const char* name, size_t length),
                       void* context) {
  if (!takes(r, '{')) return fail(r, "an object {\"name\": value, ...} is expected");
  if (!takes(r, '}')) {
    do {
      r->length = 0;
      if (!takes(r, '"')) return fail(r, "a name is missing");
      size_t length;
      if (read_string(r, r->name, r->name_room, &length) != 0) return -1;
      r->length = length;
      if (!takes(r, ':')) return fail(r, "a colon is missing");
      const JsonArray array = array_of(context, r->name, r->length);
      const int result = array.elements ? read_elements(r, &array, 0, 0, 1) : skip_value(r, 0);
      if (result != 0) return -1;
    } while (takes(r, ','));
    r->length = 0;
    if (!takes(r, '}')) return fail(r, "the object is not closed");
  }
  skip_blanks(r);
  return *r->at == '\0' ? 0 : fail(r, "the object is not the end");
}

int read_json(const char* text, JsonArray (*array_of)(void* context, const char* name, size_t length), void* context,
              char* why, size_t room) {
  Reader r = {.at = text, .begin = text, .why = why, .room = room};
  r.name_room = strlen(text) + 1; /* no name is longer than what it is written with */
  r.name = malloc(r.name_room);
  if (r.name == NULL) {
    r.name = "";
    return fail(&r, "no memory");
  }
  const int result = read_object(&r, array_of, context);
  free(r.name);
  return result;
}
