#!/usr/bin/env bash
# An installed inlay is a package: each public header compiles as the only include, and examples/cpp finds it, builds and
# runs in a clean folder.
#
#   install_test.sh SOURCE BUILD COMPILER SANITIZERS
set -euo pipefail
source=$1 build=$2 compiler=$3 sanitizers=${4:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix=$folder/inlay
unset INLAY_JIT LD_LIBRARY_PATH

cmake --install "$build" --prefix "$prefix" --component cpp >"$folder/log" || { cat "$folder/log"; exit 1; }

for header in "$prefix"/include/inlay/*.h; do
  name=inlay/$(basename "$header")
  echo "#include <$name>" >"$folder/only.cpp"
  "$compiler" -std=c++20 -Wall -Wextra -Werror -Wno-missing-field-initializers -fsyntax-only \
    -I"$prefix/include" -I"$prefix/include/inlay/parts" "$folder/only.cpp" || { echo "$name does not stand alone"; exit 1; }
done

flags=${sanitizers:+-fsanitize=$sanitizers}
cp -r "$source/examples/cpp" "$folder/example"
cmake -S "$folder/example" -B "$folder/example/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_CXX_FLAGS="$flags" >"$folder/log" || { cat "$folder/log"; exit 1; }
cmake --build "$folder/example/build" >"$folder/log" || { cat "$folder/log"; exit 1; }
"$folder/example/build/softmax" | tee "$folder/printed"
grep -q '^0.090031 0.244728 0.665241 ' "$folder/printed"
grep -q '^error\[wrong-dtype\]: argument x is f32\[2, 3\], not f64\[rows, columns\]$' "$folder/printed"
