#pragma once
// Errors: an `Error` is a mistake of the caller, with a code (docs/errors.md), a message that gives the values, and
// notes.
#include "support/error.h"
