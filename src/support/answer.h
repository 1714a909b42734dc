#pragma once

namespace inlay {

/// The answer to a question before sizes are known.
enum class Answer { no, yes, unknown };

}  // namespace inlay
