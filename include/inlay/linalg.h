#pragma once
// Linear algebra made of other ops, and einsum, for a GraphBuilder and its ValueIds. (GraphBuilder::library has the
// factorizations themselves.)
#include "ir/linalg.h"
