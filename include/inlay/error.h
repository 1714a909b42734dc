#pragma once
// What goes wrong: `Error` is the caller's mistake, with a code (docs/errors.md), a message with the values, and notes.
#include "support/error.h"
