// Executables as files: the rest of include/inlay/executable.h.
#include <cerrno>
#include <fstream>
#include <iterator>

#include "compiler/executable_state.h"
#include "compiler/saved.h"
#include "runtime/host_result.h"
#include "runtime/type_of.h"
#include "support/whole_file.h"

namespace inlay {
namespace {

std::vector<TensorInfo> infos_of(const std::vector<runtime::TensorSpec>& specs) {
  std::vector<TensorInfo> out;
  for (const runtime::TensorSpec& spec : specs)
    out.push_back({spec.name, runtime::dtype_of(spec), spec.dim_texts, spec.bound});
  return out;
}

std::span<const std::byte> as_bytes(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace

std::shared_ptr<const ExecutableState> state_of(runtime::Executable executable,
                                                std::vector<HostFunction> host_functions,
                                                std::shared_ptr<const EmittedProgram> program,
                                                std::shared_ptr<const file::FunctionFile> file,
                                                std::vector<file::Section> sections) {
  const runtime::Object& object = executable.object();
  runtime::require_host_functions(
      object, [&](std::size_t number) { return number < host_functions.size() && host_functions[number]; });
  std::vector<TensorInfo> params = infos_of(object.params), results = infos_of(object.outputs);
  return std::make_shared<const ExecutableState>(
      ExecutableState{std::move(executable), std::move(host_functions), std::move(params), std::move(results),
                      std::move(program), std::move(file), std::move(sections)});
}

std::vector<std::byte> Executable::to_bytes() const {
  if (state_->file) return file::write(*state_->file);
  file::FunctionFile file = file_of(*state_->program, state_->executable);
  set_sections(file, state_->sections);
  keep_threads(file, state_->executable);
  return file::write(file);
}

Executable Executable::from_bytes(std::span<const std::byte> bytes, std::string_view name,
                                  std::vector<HostFunction> host_functions) {
  auto file = std::make_shared<const file::FunctionFile>(file::read(bytes, name));
  if (why_not_here(*file).empty()) {
    runtime::Executable code = load_code(*file);
    return Executable(state_of(std::move(code), std::move(host_functions), nullptr, std::move(file)));
  }
  Program program = emit_again(*file);
  runtime::Executable code = std::move(program.executable);
  return Executable(state_of(std::move(code), std::move(host_functions),
                             std::make_shared<const EmittedProgram>(std::move(program)), nullptr, file->sections));
}

void Executable::save(const std::filesystem::path& path) const {
  const std::vector<std::byte> bytes = to_bytes();
  save_whole_file(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Executable Executable::load(const std::filesystem::path& path, std::vector<HostFunction> host_functions) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::string text;
  try {
    text.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  } catch (const std::ios_base::failure&) {  // a directory
    in.setstate(std::ios::badbit);
  }
  if (!in)
    throw Error(
        ErrorCode::invalid_file, {},
        str(path.string(), " cannot be read: ", errno ? std::generic_category().message(errno) : "reading failed"));
  return from_bytes(as_bytes(text), path.string(), std::move(host_functions));
}

}  // namespace inlay
