#pragma once
// Array programs as values: `GraphBuilder` makes one, a checked node at a time; `parse` and `print` are its text form.
//
//   inlay::GraphBuilder b;
//   const inlay::Dim n = b.symbol("n");
//   const inlay::ValueId x = b.param("x", {inlay::DType::f64, {n}});
//   b.output(b.scalar(inlay::ScalarOp::exp_, {x}), "e");
//   const inlay::Graph graph = std::move(b).finish();
#include "ir/builder.h"
#include "ir/text.h"
