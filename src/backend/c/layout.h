#pragma once
#include "backend/c/program.h"

namespace inlay::c_backend {

/// The definition of a layout_prototype.
std::string layout_text(ProgramText& p, const std::string& name);

}  // namespace inlay::c_backend
