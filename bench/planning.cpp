// What planning costs and how near it comes to the lower bound: CPU seconds, one JSON object for each problem.
//
//   inlay_bench_planning FOLDER    the problems of bench/data/memory, then networks and random buffers that it makes
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "cpu_seconds.h"
#include "networks.h"

namespace inlay::bench {
namespace {

namespace fs = std::filesystem;
using memory::Effort;
using memory::Planner;
using memory::Storage;

/// id,lower,upper,size; these files are ours, so nothing is checked.
std::vector<Storage> read(const fs::path& path) {
  std::ifstream in(path);
  std::vector<Storage> out;
  std::string line, field;
  for (std::getline(in, line); std::getline(in, line);) {
    std::istringstream fields(line);
    std::vector<int64_t> numbers;
    std::getline(fields, field, ',');
    while (std::getline(fields, field, ',')) numbers.push_back(std::stoll(field));
    out.push_back({.live = {static_cast<int32_t>(numbers[0]), static_cast<int32_t>(numbers[1])},
                   .size_bytes = numbers[2],
                   .alignment_bytes = 1});
  }
  return out;
}

void measure(const std::string& group, const std::string& name, const std::vector<Storage>& storages,
             const Effort& effort) {
  const double before = cpu_seconds();
  const memory::Layout layout = memory::plan(effort, storages);
  const double seconds = cpu_seconds() - before;
  if (!memory::verify(layout, storages).empty()) std::cerr << "WRONG PLAN: " << name << "\n";
  char numbers[160];
  std::snprintf(numbers, sizeof numbers, "\"buffers\": %zu, \"peak\": %lld, \"bound\": %lld, \"seconds\": %.6f",
                storages.size(), static_cast<long long>(layout.arena_bytes),
                static_cast<long long>(layout.lower_bound_bytes), seconds);
  std::cout << str("{\"group\": \"", group, "\", \"name\": \"", name, "\", ", numbers, "}\n");
}

void measure_files(const fs::path& folder, const Effort& effort) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".csv") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) measure(folder.filename(), file.stem(), read(file), effort);
}

void measure_networks(uint32_t seeds) {
  for (const std::string& family : network_families()) {
    for (uint32_t seed = 1; seed <= seeds; ++seed) {
      for (Pass pass : {Pass::inference, Pass::training}) {
        for (Sharing sharing : {Sharing::off, Sharing::on}) {
          const Network network = make_network(family, seed, pass, sharing);
          measure("networks", network.name, network.storages, {});
        }
      }
    }
  }
}

}  // namespace
}  // namespace inlay::bench

int main(int argc, char** argv) {
  using namespace inlay::bench;
  const std::filesystem::path folder = argc > 1 ? argv[1] : "bench/data/memory";
  measure_files(folder / "minimalloc", {.planner = Planner::max, .enough_bytes = 1048576});
  measure_files(folder / "made", {.planner = Planner::max});
  measure_files(folder / "models", {});
  measure_networks(8);
  for (int count : {1000, 10'000}) {
    for (int crowd : {10, 100, 1000})
      measure("random", inlay::str("random/", count, "/", crowd), random_storages(count, crowd, 1),
              {.planner = Planner::greedy});
  }
}
