#!/usr/bin/env bash
# An installed inlay is a package that claims nothing but its own name and can be moved: each public header compiles as
# the only include beside folders of a user's that are called as ours are, and examples/cpp and the code of docs/cpp.md
# build and run in a clean folder.
#
#   install_test.sh SOURCE BUILD COMPILER SANITIZERS
set -euo pipefail
source=$1 build=$2 compiler=$3 sanitizers=${4:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix=$folder/inlay
unset INLAY_JIT INLAY_BACKEND LD_LIBRARY_PATH

fail() { echo "$1"; exit 1; }
quietly() { "$@" >"$folder/log" 2>&1 || { cat "$folder/log"; fail "failed: $*"; }; }

# Everything, and what C++ needs alone: no file stands outside of the folders that an install has.
quietly cmake --install "$build" --prefix "$folder/everything"
[[ $(ls "$folder/everything" | tr '\n' ' ') == "bin include lib " ]] || fail "stray: $(ls "$folder/everything")"
quietly cmake --install "$build" --prefix "$folder/first" --component cpp
[[ $(ls "$folder/first/include") == inlay ]] || fail "headers beside inlay/: $(ls "$folder/first/include")"
if grep -rnE '#include ("(support|ops|ir)/|<boost)' "$folder/first/include"; then fail "headers that are not inlay's"; fi
if grep -rlF "$build/lib" "$folder/first"; then fail "the build folder's path is in what was installed"; fi
mv "$folder/first" "$prefix"   # from here on nothing is where it was installed

# A project with folders of the same names.
for name in support ops ir; do
  mkdir -p "$folder/own/$name"
  for header in "$source/src/$name"/*.h; do
    [[ -e $header ]] && echo '#error "the project has a header of this name"' >"$folder/own/$name/$(basename "$header")"
  done
done
for header in "$prefix"/include/inlay/*.h; do
  name=inlay/$(basename "$header")
  echo "#include <$name>" >"$folder/own/only.cpp"
  "$compiler" -std=c++20 -Wall -Wextra -Werror -Wno-missing-field-initializers -fsyntax-only \
    -I"$folder/own" -I"$prefix/include" "$folder/own/only.cpp" || fail "$name does not stand alone"
done

# The example, and each block of C++ of docs/cpp.md as a function.
flags=${sanitizers:+-fsanitize=$sanitizers}
cp -r "$source/examples/cpp" "$folder/example"
{
  echo '#include <inlay/inlay.h>'
  awk '/^```cpp$/ { inside = 1; print "void block_" ++count "() {"; next }
       /^```$/ && inside { inside = 0; print "}"; next }
       inside
       END { print "int main() {"; for (i = 1; i <= count; ++i) print "  block_" i "();"; print "}" }' \
    "$source/docs/cpp.md"
} >"$folder/example/docs.cpp"
cat >>"$folder/example/CMakeLists.txt" <<'END'
add_executable(docs docs.cpp)
target_link_libraries(docs PRIVATE inlay::inlay)
END
quietly cmake -S "$folder/example" -B "$folder/example/build" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS="$flags -I$folder/own"
quietly cmake --build "$folder/example/build"
INLAY_BACKEND=llvm "$folder/example/build/softmax" | tee "$folder/printed"
grep -q '^0.090031 0.244728 0.665241 ' "$folder/printed"
grep -q '^error\[wrong-dtype\]: argument x is f32\[2, 3\], not f64\[rows, columns\]$' "$folder/printed"
(cd "$folder/example" && INLAY_BACKEND=llvm build/docs)   # which writes files

# Without the install tree there is no code generator, whatever the build folder has; a copy beside the program is one.
cp "$prefix/lib/libinlay_jit.so" "$folder/"
mv "$prefix" "$folder/gone"
INLAY_BACKEND=llvm "$folder/example/build/softmax" | grep -q 'the code generator was not found' ||
  fail "a code generator from elsewhere was taken"
mkdir "$folder/elsewhere" && cp "$folder/example/build/softmax" "$folder/libinlay_jit.so" "$folder/elsewhere/"
(cd / && PATH=$folder/elsewhere:$PATH INLAY_BACKEND=llvm softmax) | grep -q '^0.090031 ' ||
  fail "libinlay_jit.so beside the program was not found"
