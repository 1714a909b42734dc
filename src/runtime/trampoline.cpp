#include "runtime/trampoline.h"

#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

#include "support/error.h"

namespace inlay::runtime {
namespace {

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

#if defined(__x86_64__)
constexpr std::size_t kContextAt = 6, kTargetAt = 16;
constexpr unsigned char kCode[] = {
    0xf3, 0x0f, 0x1e, 0xfa,                    // endbr64
    0x49, 0xb9, 0,    0,    0, 0, 0, 0, 0, 0,  // movabs $context, %r9: the sixth argument
    0x48, 0xb8, 0,    0,    0, 0, 0, 0, 0, 0,  // movabs $target, %rax
    0xff, 0xe0,                                // jmp *%rax
};
#elif defined(__aarch64__)
constexpr std::size_t kContextAt = 16, kTargetAt = 24;
constexpr unsigned char kCode[] = {
    0x5f, 0x24, 0x03, 0xd5,  // bti c
    0x65, 0x00, 0x00, 0x58,  // ldr x5, context: the sixth argument
    0x90, 0x00, 0x00, 0x58,  // ldr x16, target
    0x00, 0x02, 0x1f, 0xd6,  // br x16
    0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
};
#else
#error "a trampoline is machine code: write this processor's"
#endif

Trampoline::Trampoline(void* target, const void* context) {
  unsigned char code[sizeof(kCode)];
  std::memcpy(code, kCode, sizeof(kCode));
  std::memcpy(code + kContextAt, &context, sizeof(context));
  std::memcpy(code + kTargetAt, &target, sizeof(target));
  void* page = mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw Error(ErrorCode::out_of_memory, {}, "no memory for a C function");
  std::memcpy(page, code, sizeof(code));
  __builtin___clear_cache(static_cast<char*>(page), static_cast<char*>(page) + sizeof(code));
  if (mprotect(page, page_bytes(), PROT_READ | PROT_EXEC) != 0) {
    munmap(page, page_bytes());
    throw Error(ErrorCode::unsupported, {}, "this system does not let a program make code, which a C function needs");
  }
  page_ = page;
}

Trampoline::~Trampoline() {
  if (page_) munmap(page_, page_bytes());
}

}  // namespace inlay::runtime
