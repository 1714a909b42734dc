#pragma once
// Array expressions: ArrayProgram, Value and their operators.
#include "ir/value.h"
