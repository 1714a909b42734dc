#pragma once
// fork() copies the thread that calls it and no other. A lock that another thread holds, or a static that it has half
// made, stays so in the child for ever. So whatever takes a lock or makes a static (compiling, planning, keeping a
// failure's text, BLAS and LAPACK) stands inside the gate, and fork waits until every thread has left it or is at a
// place where it holds nothing. What a call does itself on every run takes no lock and needs no gate.

namespace inlay {

class ForkGate {
 public:
  /// This thread is inside for as long as this lives. May be nested.
  class Inside {
   public:
    Inside();
    ~Inside();
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
  };

  /// Outside again, however deep inside: around what may wait for a thread that forks, as for Python's GIL. Holds no
  /// lock, makes no static.
  class Outside {
   public:
    Outside();
    ~Outside();
    Outside(const Outside&) = delete;
    Outside& operator=(const Outside&) = delete;

   private:
    int depth_;
  };

  /// The same as Inside, for those who cannot hold one.
  static void enter();
  static void leave();

  /// For work inside that takes long: lets those who wait to fork do so. Holds no lock, makes no static.
  static void let_through();
};

}  // namespace inlay
