#pragma once
// Planning problems that look like neural networks: the order of their ops, the sizes of what these make, and when it
// is needed. Made by hand from the shapes of the families, no traces of exported models.
#include <cstdint>
#include <string>
#include <vector>

#include "memory/layout.h"

namespace inlay::bench {

enum class Pass : uint8_t { inference, training };
/// May an elementwise result take the bytes of an operand of its size that dies there?
enum class Sharing : uint8_t { off, on };

struct Network {
  std::string name;  // "unet/7/training/sharing"
  std::vector<memory::Storage> storages;
};

/// mobilenet, resnet, unet, densenet, inception, pyramid, lstm, transformer, decoder, wired.
const std::vector<std::string>& network_families();

/// A network of this family; the seed chooses its image or sentence, its width, its depth and its wiring.
Network make_network(const std::string& family, uint32_t seed, Pass pass, Sharing sharing);

/// Buffers of random sizes and lives, some `crowd` of them at a time.
std::vector<memory::Storage> random_storages(int count, int crowd, uint32_t seed);

}  // namespace inlay::bench
