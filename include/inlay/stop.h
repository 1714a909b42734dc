#pragma once
// Ends a call or a compilation from outside, as at Ctrl-C. A StopScope sets the flag that the work of a thread looks
// at; setting the flag ends that work with Error(interrupted).
#include "support/stop.h"
