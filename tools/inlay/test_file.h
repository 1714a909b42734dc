#pragma once
// A program test is a file: a description, a graph, and directives that say how it is judged.
//
//   # Why this program is here.
//   graph @main(%x: f64[n], %y: f64[m]) {
//     %r = add %x, %y            #! shape-mismatch: add: dim 0 is 2 on the left and 3 on the right
//     return %r
//   }
//   #= run n=0 n=1 n=7,m=7       every judge against the reference; words with the same name begin another run
//   #= run x=[1, 2] y=[3, nan]   these elements
//   #= fails n=2 m=3             this run fails, in every judge, with the error that stands on its line
//   #= count kernels 1, copies 0
//   #= fuse                      what follows is the kernels' text
//   #= pass simplify             what follows is the graph's text after this pass; what stands below is of that
//
// An error of the graph itself needs no `fails`. Nothing here runs anything.
#include <string>
#include <string_view>
#include <vector>

#include "random_inputs.h"

namespace inlay::tool {

struct ExpectedError {
  int line = 0;
  std::string text;  // "shape-mismatch: add: dim 0 is 2 on the left and 3 on the right"
};

struct Directive {
  std::string name;   // run, fails, count, fuse, ...
  std::string words;  // the rest of its line
  std::string body;   // the lines below it
  int line = 0;
};

struct TestFile {
  std::string path;
  std::string graph_text;  // everything above the first directive, so that lines keep their numbers
  std::vector<ExpectedError> errors;
  std::vector<Directive> directives;

  /// The file again; a directive's words and body may have been replaced.
  std::string to_text() const;
};

TestFile parse_test_file(std::string_view text, std::string path);

/// The runs that the words of `run` and `fails` ask for. Elements take the dtype of the graph's parameter.
std::vector<Given> runs_of(const Graph& graph, const Directive& directive);

}  // namespace inlay::tool
