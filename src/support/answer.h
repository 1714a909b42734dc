#pragma once

namespace inlay {

/// What can be said of a question before sizes are known.
enum class Answer { no, yes, unknown };

}  // namespace inlay
