#pragma once
// fork() copies only the calling thread. A lock that another thread holds, or a static that it has half made, stays so
// in the child for ever. So whatever takes a lock or makes a static (compiling, planning, keeping a failure's text,
// BLAS and LAPACK) runs inside the gate, and fork waits until every thread has left it or is at a point where it holds
// neither. What a call does itself on every run takes no lock and needs no gate.

namespace inlay {

class ForkGate {
 public:
  /// This thread is inside while this lives. May be nested.
  class Inside {
   public:
    Inside();
    ~Inside();
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
  };

  /// This thread is outside while this lives, however deep the nesting: used around what may wait for a thread that
  /// forks, as for Python's GIL. Use it where no lock is held and no static is being made.
  class Outside {
   public:
    Outside();
    ~Outside();
    Outside(const Outside&) = delete;
    Outside& operator=(const Outside&) = delete;

   private:
    int depth_;
  };

  /// The same as Inside, for code that cannot hold an object.
  static void enter();
  static void leave();

  /// Lets waiting threads fork, during long work inside. Use it where no lock is held and no static is being made.
  static void let_through();
};

}  // namespace inlay
