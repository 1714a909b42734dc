#pragma once
// Compositions: what NumPy has as one function and a graph as a few nodes, over a GraphBuilder and its ValueIds.
// (inlay/value.h has the most common ones over Values, and all of them by name.)
#include "ir/compose.h"
#include "ir/compose_diagonal.h"
#include "ir/compose_fill.h"
#include "ir/compose_pad.h"
#include "ir/compose_reduce.h"
#include "ir/compose_shape.h"
#include "ir/compose_sizes.h"
#include "ir/compose_sort.h"
