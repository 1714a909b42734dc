#pragma once
// Compositions: functions of NumPy that are a few nodes in a graph, for a GraphBuilder and its ValueIds. (inlay/value.h
// has the most common ones for Values, and all of them by name.)
#include "ir/compose.h"
#include "ir/compose_diagonal.h"
#include "ir/compose_fill.h"
#include "ir/compose_pad.h"
#include "ir/compose_reduce.h"
#include "ir/compose_shape.h"
#include "ir/compose_sizes.h"
#include "ir/compose_sort.h"
