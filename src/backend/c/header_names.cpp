#include "backend/c/header_names.h"

#include <algorithm>

#include "support/ascii.h"

namespace inlay::c_backend {
namespace {

// Each is there for double, and with an `f` or an `l` behind it.
constexpr std::string_view kMathFunctions[] = {
    // C99.
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh", "erf",
    "erfc", "exp", "exp2", "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "frexp", "hypot", "ilogb",
    "ldexp", "lgamma", "llrint", "llround", "log", "log10", "log1p", "log2", "logb", "lrint", "lround", "modf", "nan",
    "nearbyint", "nextafter", "nexttoward", "pow", "remainder", "remquo", "rint", "round", "scalbln", "scalbn", "sin",
    "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc",
    // POSIX and GNU.
    "drem", "exp10", "finite", "gamma", "isinf", "isnan", "j0", "j1", "jn", "lgamma_r", "pow10", "scalb", "signbit",
    "significand", "sincos", "y0", "y1", "yn",
    // C23.
    "acospi", "asinpi", "atan2pi", "atanpi", "canonicalize", "compoundn", "cospi", "exp10m1", "exp2m1", "fmaximum",
    "fmaximum_mag", "fmaximum_mag_num", "fmaximum_num", "fmaxmag", "fminimum", "fminimum_mag", "fminimum_mag_num",
    "fminimum_num", "fminmag", "fromfp", "fromfpx", "getpayload", "llogb", "log10p1", "log2p1", "logp1", "nextdown",
    "nextup", "pown", "powr", "rootn", "roundeven", "rsqrt", "setpayload", "setpayloadsig", "sinpi", "tanpi",
    "totalorder", "totalordermag", "ufromfp", "ufromfpx"};

constexpr std::string_view kOthers[] = {
    // Of <math.h>; the last ones narrow a sum, a product, ... of long doubles.
    "signgam", "fadd", "faddl", "daddl", "fsub", "fsubl", "dsubl", "fmul", "fmull", "dmull", "fdiv", "fdivl", "ddivl",
    "fsqrt", "fsqrtl", "dsqrtl", "ffma", "ffmal", "dfmal",
    // Of <string.h>, and of <strings.h>, which GNU's includes.
    "bcmp", "bcopy", "bzero", "explicit_bzero", "ffs", "ffsl", "ffsll", "index", "rindex", "stpcpy", "stpncpy",
    "strcasecmp", "strncasecmp", "swab", "basename", "rawmemchr"};

/// Of <ctype.h>, <inttypes.h>, <locale.h>, <setjmp.h>, <signal.h>, <stdio.h>, <stdlib.h>, <time.h>, <wctype.h> and
/// <wchar.h>, beside those that begin with str, mem or wcs.
constexpr std::string_view kOfLibrary[] = {
    "isalnum", "isalpha", "isblank", "iscntrl", "isdigit", "isgraph", "islower", "isprint", "ispunct", "isspace",
    "isupper", "isxdigit", "tolower", "toupper", "imaxabs", "imaxdiv", "lconv", "localeconv", "setlocale", "longjmp",
    "setjmp", "jmp_buf", "raise", "signal", "clearerr", "fclose", "feof", "ferror", "fflush", "fgetc", "fgetpos",
    "fgets", "fopen", "fprintf", "fputc", "fputs", "fread", "freopen", "fscanf", "fseek", "fsetpos", "ftell", "fwrite",
    "getc", "getchar", "gets", "perror", "printf", "putc", "putchar", "puts", "remove", "rename", "rewind", "scanf",
    "setbuf", "setvbuf", "snprintf", "sprintf", "sscanf", "tmpfile", "tmpnam", "ungetc", "vfprintf", "vfscanf",
    "vprintf", "vscanf", "vsnprintf", "vsprintf", "vsscanf", "stdin", "stdout", "stderr", "FILE", "BUFSIZ", "EOF",
    "abort", "abs", "atexit", "atof", "atoi", "atol", "atoll", "bsearch", "calloc", "div", "exit", "free", "getenv",
    "labs", "ldiv", "llabs", "lldiv", "malloc", "mblen", "mbstowcs", "mbtowc", "qsort", "rand", "realloc", "srand",
    "system", "wctomb", "asctime", "clock", "ctime", "difftime", "gmtime", "localtime", "mktime", "time", "tm",
    "iswalnum", "iswalpha", "iswblank", "iswcntrl", "iswctype", "iswdigit", "iswgraph", "iswlower", "iswprint",
    "iswpunct", "iswspace", "iswupper", "iswxdigit", "towctrans", "towlower", "towupper", "wctrans", "wctype", "btowc",
    "fgetwc", "fgetws", "fputwc", "fputws", "fwide", "fwprintf", "fwscanf", "getwc", "getwchar", "mbrlen", "mbrtowc",
    "mbsinit", "mbsrtowcs", "putwc", "putwchar", "swprintf", "swscanf", "ungetwc", "vfwprintf", "vfwscanf", "vswprintf",
    "vswscanf", "vwprintf", "vwscanf", "wcrtomb", "wctob", "wmemchr", "wmemcmp", "wmemcpy", "wmemmove", "wmemset",
    "wprintf", "wscanf", "WEOF",
    // Of <assert.h>, <fenv.h>, <iso646.h>, <stdarg.h> and <stddef.h>.
    "and", "and_eq", "bitand", "bitor", "compl", "not", "not_eq", "or", "or_eq", "xor", "xor_eq", "offsetof", "va_arg",
    "va_copy", "va_end", "va_list", "va_start", "assert", "feclearexcept", "fegetenv", "fegetexceptflag", "fegetround",
    "feholdexcept", "feraiseexcept", "fesetenv", "fesetexceptflag", "fesetround", "fetestexcept", "feupdateenv",
    // The headers.
    "complex", "ctype", "errno", "fenv", "float", "inttypes", "iso646", "limits", "locale", "math", "stdarg", "stdbool",
    "stddef", "stdint", "stdio", "stdlib", "string", "tgmath", "wchar"};

constexpr std::string_view kMacros[] = {
    "bool",           "true",        "false",       "NULL",        "NAN",
    "INFINITY",       "HUGE",        "HUGE_VAL",    "HUGE_VALF",   "HUGE_VALL",
    "SNAN",           "SNANF",       "SNANL",       "DOMAIN",      "SING",
    "OVERFLOW",       "UNDERFLOW",   "PLOSS",       "TLOSS",       "math_errhandling",
    "fpclassify",     "iscanonical", "iseqsig",     "isfinite",    "isgreater",
    "isgreaterequal", "isinf",       "isless",      "islessequal", "islessgreater",
    "isnan",          "isnormal",    "issignaling", "issubnormal", "isunordered",
    "iszero",         "signbit"};

template <std::size_t N>
bool is_one_of(const std::string_view (&names)[N], std::string_view name) {
  return std::ranges::find(names, name) != std::end(names);
}

}  // namespace

bool is_macro_of_headers(std::string_view name) {
  const auto begins = [&](std::string_view with) { return name.starts_with(with); };
  const auto ends = [&](std::string_view with) { return name.ends_with(with); };
  const bool is_capital = std::ranges::none_of(name, is_lower);
  const bool is_limit = ends("_MAX") || ends("_MIN") || ends("_C") || ends("_WIDTH");
  return is_one_of(kMacros, name) ||
         (is_capital && (is_limit || begins("M_") || begins("FP_") || begins("MATH_") || begins("HUGE_VAL")));
}

bool is_named_as_macros(std::string_view name) {
  const bool is_capital = std::ranges::none_of(name, is_lower);
  return (is_capital && std::ranges::count_if(name, is_letter) > 1) || name == "stdin" || name == "stdout" ||
         name == "stderr";
}

bool is_of_headers(std::string_view name) {
  if (is_macro_of_headers(name) || is_one_of(kOthers, name) || is_one_of(kMathFunctions, name)) return true;
  const bool has_suffix = name.ends_with("f") || name.ends_with("l");
  if (has_suffix && is_one_of(kMathFunctions, name.substr(0, name.size() - 1))) return true;
  return name.ends_with("_r") && is_of_headers(name.substr(0, name.size() - 2));
}

bool is_of_runtime(std::string_view name) { return name.starts_with("INLAY_") || name.starts_with("Inlay"); }

bool is_of_library(std::string_view name) { return is_one_of(kOfLibrary, name); }

}  // namespace inlay::c_backend
