#pragma once
// The body of a cond or a loop while it is read. Nothing may get a new size outside of it until it is finished.
#include <utility>

#include "onnx/scope.h"

namespace inlay::onnx {

class Body {
 public:
  explicit Body(Scope& around)
      : b(around.frame.b.body()), frame(b, &around.frame), scope(frame, &around), around_(around) {}
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  /// What a value of the frame around it is within the body.
  ValueId bring(ValueId outside) { return frame.bring(around_.frame, outside); }
  inlay::Graph finish() { return std::move(b).finish(); }

  GraphBuilder b;
  Frame frame;
  Scope scope;

 private:
  Scope& around_;
};

}  // namespace inlay::onnx
