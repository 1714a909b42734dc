// Forks while other threads call and compile: each child calls and compiles as its parent does. What a thread that the
// child has not got held in its parent, a lock or a static half made, would stop it for ever.
#include <chrono>
#include <cstdlib>
#include <functional>
#include <random>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/backends.h"
#include "compiler/compile.h"
#include "inlay/compile.h"
#include "ir/text.h"

namespace inlay {
namespace {

using Clock = std::chrono::steady_clock;

std::chrono::duration<double> time_to_spend() {
  const char* seconds = std::getenv("INLAY_FUZZ_SECONDS");
  return std::chrono::duration<double>(seconds ? std::atof(seconds) : 1.0);
}

/// Its working memory depends on sizes, so each call asks for a layout.
constexpr const char* kText = R"(graph @main(%x: f64[n, n]) {
  %a = matmul %x, %x
  %b = matmul %a, %x
  %c = matmul %b, %a
  %e = exp %c
  return %e
})";

Executable compiled() { return compile(parse(kText)); }

bool gives_what_it_should(const Executable& function, int64_t n) {
  const std::vector<double> x(static_cast<std::size_t>(n * n), 0.0);
  const ArrayRef argument(DType::f64, {n, n}, x.data());
  const std::vector<Array> results = function(std::span(&argument, 1));
  return n == 0 || static_cast<const double*>(results[0].data())[n * n - 1] == 1.0;
}

/// In a child; true: it came to its end.
bool child_ends(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  constexpr auto kPatience = std::chrono::seconds(20);
  for (const auto begin = Clock::now(); Clock::now() - begin < kPatience;) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return false;
}

/// Forks again and again for the time there is, beside threads that do `work` all the time.
void fork_beside(int num_threads, const std::function<void(std::minstd_rand&)>& work,
                 const std::function<bool()>& body) {
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < num_threads; ++t) {
    threads.emplace_back([&, t] {
      std::minstd_rand random(static_cast<unsigned>(t) + 1);
      while (!done) work(random);
    });
  }
  int forks = 0;
  bool all_end = true;
  for (const auto begin = Clock::now(); all_end && Clock::now() - begin < time_to_spend(); ++forks) {
    all_end = child_ends(body);
    EXPECT_TRUE(all_end) << "child " << forks;
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
}

class Fork : public testing::Test {
 protected:
  void SetUp() override {
    if (!backend_of({}).is_available()) GTEST_SKIP() << "nothing makes machine code";
  }
};

TEST_F(Fork, ChildrenCallWhatOthersCall) {
  const Executable function = compiled();
  fork_beside(
      4,
      [&](std::minstd_rand& random) {
        ASSERT_TRUE(gives_what_it_should(function, static_cast<int64_t>(random() % 5)));
      },
      [&] {
        bool right = true;
        for (int64_t n = 0; n < 8; ++n) right &= gives_what_it_should(function, n);
        return right;
      });
}

TEST_F(Fork, ChildrenCompileWhileOthersCompile) {
  fork_beside(2, [](std::minstd_rand&) { compiled(); }, [] { return gives_what_it_should(compiled(), 3); });
}

TEST_F(Fork, AChildMayForkAgain) {
  const Executable function = compiled();
  fork_beside(
      2, [](std::minstd_rand&) { compiled(); },
      [] { return child_ends([] { return gives_what_it_should(compiled(), 2); }); });
}

}  // namespace
}  // namespace inlay
