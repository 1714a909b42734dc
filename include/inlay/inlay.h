#pragma once
// Includes everything: programs, compiling, calling, errors. (inlay/runtime.h is the C ABI below it.)
#include "inlay/buffer.h"
#include "inlay/compile.h"
#include "inlay/compose.h"
#include "inlay/error.h"
#include "inlay/executable.h"
#include "inlay/export.h"
#include "inlay/graph.h"
#include "inlay/linalg.h"
#include "inlay/onnx.h"
#include "inlay/stop.h"
#include "inlay/value.h"
