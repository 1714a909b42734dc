#!/usr/bin/env bash
# inlay_add_function of an installed inlay: examples/cmake builds and runs by each generator that is here, is built anew
# where a program changed and only then, and what is wrong is said, by name.
#
#   functions_test.sh SOURCE BUILD
set -euo pipefail
source=$1 build=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix=$folder/inlay

fail() { echo "$1"; exit 1; }
quietly() { "$@" >"$folder/log" 2>&1 || { cat "$folder/log"; fail "failed: $*"; }; }
# What a command says that fails, in one line: CMake breaks lines where it likes.
said_by() { if "$@" >"$folder/log" 2>&1; then fail "did not fail: $*"; fi; tr -s '\n ' ' ' <"$folder/log"; }
expect() { [[ $2 == *"$1"* ]] || fail "\"$1\" is not in: $2"; }

quietly cmake --install "$build" --prefix "$folder/first"
mv "$folder/first" "$prefix"   # nothing is where it was installed

cp -r "$source/examples/cmake" "$folder/example"
cd "$folder/example"
for generator in Ninja "Unix Makefiles"; do
  [[ $generator == Ninja ]] || command -v make >/dev/null || continue
  made="$folder/${generator// /}"
  quietly cmake -G "$generator" -S . -B "$made" -DCMAKE_PREFIX_PATH="$prefix"
  quietly cmake --build "$made"
  expect "3.000 * exp(0.693 x): 96.000 on day 5, 192.000 on day 6" "$("$made/growth")"
  quietly cmake --build "$made"
  if grep -q Compiling "$folder/log"; then fail "compiled again, and nothing has changed"; fi
  cp predict.inlay "$folder/predict.inlay"
  sed -i 's/exp %growth/lgamma %growth/' predict.inlay
  quietly cmake --build "$made"
  grep -q "Compiling predict.inlay" "$folder/log" || fail "a program that changed was not compiled"
  if grep -q "Compiling fit.inlay" "$folder/log"; then fail "a program that did not change was compiled"; fi
  expect "3.490 on day 5" "$("$made/growth")"   # of libm
  sed -i 's/%start, %times/%start, %time/' predict.inlay
  expect "predict.inlay:5:" "$(said_by cmake --build "$made")"   # its line, as an editor finds it
  cp "$folder/predict.inlay" predict.inlay
done

# In a static library, in C++ alone, with an array that lies in the object.
mkdir "$folder/library" && cd "$folder/library"
cat >weigh.inlay <<'END'
graph @weigh(%x: f64[n], %w: u8[n] bound) {
  %v = cast %w : f64
  %p = mul %x, %v
  %t = reduce add %p [0] : f64
  return %t
}
END
weights() {  # a file of two bytes, as NumPy writes it
  printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }"
  printf "$1"
}
weights '\x02\x03' >w.npy
cat >library.cpp <<'END'
#include "weigh.h"
double weighed(double a, double b) {
  const double x[] = {a, b};
  double t;
  return weigh(x, &t, nullptr) == INLAY_OK ? t : 0;
}
END
cat >main.cpp <<'END'
#include <cstdio>
double weighed(double, double);
int main() { std::printf("weighs %g\n", weighed(1, 10)); }
END
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(library LANGUAGES CXX)
find_package(inlay REQUIRED COMPONENTS functions)
add_library(weights STATIC library.cpp)
inlay_add_function(weights weigh.inlay BOUND w=w.npy COMPILE_OPTIONS -O1 SECTION of_weights FREESTANDING BLAS
                    SINGLE_PRECISION)
add_executable(main main.cpp)
target_link_libraries(main PRIVATE weights)
END
quietly cmake -B build -DCMAKE_PREFIX_PATH="$prefix"
quietly cmake --build build --verbose
grep -q -e "--freestanding --blas --single-precision" "$folder/log" || fail "a flag is not handed on"
grep -q of_weights < <(readelf -SW build/inlay_functions/weights/weigh.o) || fail "SECTION is not handed on"
expect "weighs 32" "$(build/main)"
weights '\x02\x04' >w.npy
quietly cmake --build build
expect "weighs 42" "$(build/main)"

# What is wrong, said when the project is configured.
mkdir "$folder/wrong" && cd "$folder/wrong"
touch main.c there.inlay "a-b.inlay"
wrong() {  # LINES MESSAGE [OPTION]
  rm -rf build
  cat >CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.25)
project(wrong LANGUAGES C)
find_package(inlay REQUIRED COMPONENTS functions)
add_executable(p main.c)
add_library(o OBJECT main.c)
$1
END
  expect "$2" "$(said_by cmake -B build -DCMAKE_PREFIX_PATH="$prefix" "${@:3}")"
}
wrong 'inlay_add_function(p none.inlay)' "inlay_add_function(p none.inlay): there is no file $folder/wrong/none.inlay"
wrong 'inlay_add_function(q there.inlay)' "(q there.inlay): there is no target q"
wrong 'inlay_add_function(o there.inlay)' "o is no program and no library of this project"
wrong 'inlay_add_function(p a-b.inlay)' "no function of C is called a-b. NAME says how it is called."
wrong 'inlay_add_function(p there.inlay SIZE n=3)' "what are SIZE;n=3"
wrong 'inlay_add_function(p there.inlay BOUND w)' "BOUND has parameters and files, as weights=weights.npy, not w"
wrong 'inlay_add_function(p there.inlay BOUND w=w.npy)' "there is no file $folder/wrong/w.npy"
wrong 'inlay_add_function(p there.inlay)
inlay_add_function(p there.inlay)' "p has a function there already. NAME says how this one is called."
wrong 'inlay_add_function(p there.inlay)' "the command line tool, which compiles it, is not there: /none" -DINLAY_TOOL=/none
wrong 'find_package(inlay REQUIRED COMPONENTS functions other)' 'inlay has no component other, but cpp and functions'
