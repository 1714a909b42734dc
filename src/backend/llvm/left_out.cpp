// Functions of LLVM and of its libraries that no compilation of ours calls, each in place of the object files that
// would come with it: a thirtieth of libinlay_jit.so. A linker takes from a static library only what nobody has defined
// before.
#include <llvm/MC/MCParser/MCAsmParser.h>
#include <llvm/ProfileData/ItaniumManglingCanonicalizer.h>
#include <llvm/Support/ErrorHandling.h>

namespace llvm {

// The parser of inline assembler: we emit none.
MCAsmParser* createMCAsmParser(SourceMgr&, MCContext&, MCStreamer&, const MCAsmInfo&, unsigned) {
  report_fatal_error("there is no parser of inline assembler");
}

// Names of C++ functions in a profile of another build: we read no profiles.
struct ItaniumManglingCanonicalizer::Impl {};
ItaniumManglingCanonicalizer::ItaniumManglingCanonicalizer() : P(nullptr) {}
ItaniumManglingCanonicalizer::~ItaniumManglingCanonicalizer() = default;
ItaniumManglingCanonicalizer::EquivalenceError ItaniumManglingCanonicalizer::addEquivalence(FragmentKind, StringRef,
                                                                                            StringRef) {
  return EquivalenceError::InvalidFirstMangling;
}
ItaniumManglingCanonicalizer::Key ItaniumManglingCanonicalizer::canonicalize(StringRef) { return 0; }
ItaniumManglingCanonicalizer::Key ItaniumManglingCanonicalizer::lookup(StringRef) { return 0; }

}  // namespace llvm

// Compressed sections, which only debug information has: our objects have none. What fails says so by the codes of zlib
// and Zstandard.
extern "C" {

constexpr int kMemoryErrorOfZlib = -4;  // LLVM knows this one and two others
int compress2(unsigned char*, unsigned long*, const unsigned char*, unsigned long, int) { return kMemoryErrorOfZlib; }
int uncompress(unsigned char*, unsigned long*, const unsigned char*, unsigned long) { return kMemoryErrorOfZlib; }
unsigned long compressBound(unsigned long bytes) { return bytes; }

constexpr std::size_t kErrorOfZstandard = static_cast<std::size_t>(-1);
void* ZSTD_createCCtx() { return nullptr; }
std::size_t ZSTD_freeCCtx(void*) { return 0; }
std::size_t ZSTD_CCtx_setParameter(void*, int, int) { return kErrorOfZstandard; }
std::size_t ZSTD_compress2(void*, void*, std::size_t, const void*, std::size_t) { return kErrorOfZstandard; }
std::size_t ZSTD_decompress(void*, std::size_t, const void*, std::size_t) { return kErrorOfZstandard; }
std::size_t ZSTD_compressBound(std::size_t bytes) { return bytes; }
unsigned ZSTD_isError(std::size_t code) { return code == kErrorOfZstandard; }
const char* ZSTD_getErrorName(std::size_t) { return "there is no Zstandard"; }

}  // extern "C"
