#include "support/error.h"

#include <gtest/gtest.h>

namespace inlay {
namespace {

TEST(Error, SaysWhatIsWrongThenTheOperandsThenHelp) {
  const Error error = Error(ErrorCode::shape_mismatch, {"model.py:41"}, str("add: dim ", 1, " is ", 7, " and ", 5))
                          .note("left", "%alpha  f64[5, 7]")
                          .note("right", "%beta  f64[5]")
                          .help("write beta[:, None]");
  EXPECT_STREQ(error.what(),
               "error[shape-mismatch]: add: dim 1 is 7 and 5\n"
               "  at     model.py:41\n"
               "  left   %alpha  f64[5, 7]\n"
               "  right  %beta  f64[5]\n"
               "  help: write beta[:, None]");
  EXPECT_EQ(python_class(error.code()), "ValueError");
}

TEST(Error, ABrokenPromiseNamesItsPlace) {
  try {
    check_failed("/somewhere/src/fuse/fuse.cpp", 12, "a == b", "%3 has no home");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "error[internal]: broken promise inside inlay: %3 has no home\n"
                 "  at     src/fuse/fuse.cpp:12\n"
                 "  check  a == b\n"
                 "  help: please report it, with the files that INLAY_DUMP=dir writes");
  }
}

}  // namespace
}  // namespace inlay
