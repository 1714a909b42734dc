#pragma once
// Ending a call or a compilation from outside, as at Ctrl-C: a StopScope says which number a thread's work looks at,
// and whoever sets it ends that work with Error(interrupted).
#include "support/stop.h"
