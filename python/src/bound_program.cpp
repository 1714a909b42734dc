#include "bound_program.h"

#include <algorithm>
#include <ctime>
#include <optional>
#include <type_traits>

#include <nanobind/nanobind.h>

#include "array_form.h"
#include "call.h"
#include "draw.h"
#include "errors.h"
#include "interrupt.h"
#include "ops/literal.h"
#include "out_arrays.h"
#include "runtime/host_result.h"
#include "runtime/result_place.h"
#include "runtime/scratch.h"
#include "runtime/type_of.h"

namespace nb = nanobind;

namespace inlay::python {
namespace {

/// NumPy's arrays have so many axes.
int most_axes() { return PyArray_RUNTIME_VERSION >= NPY_2_0_API_VERSION ? 64 : 32; }

int symbol_of(const runtime::SizeExpr& dim) {
  const bool is_symbol = dim.items.size() == 1 && dim.items[0].kind == runtime::SizeItem::Kind::symbol;
  return is_symbol ? static_cast<int>(dim.items[0].number) : -1;
}

ArrayForm info_of(const runtime::TensorSpec& spec) {
  const DType dtype = runtime::dtype_of(spec);
  ArrayForm info{
      .name = spec.name, .dtype = dtype, .numpy_type = numpy_type(dtype), .rank = static_cast<int>(spec.dims.size())};
  for (const runtime::SizeExpr& dim : spec.dims) {
    info.dims.push_back(dim.is_constant() ? dim.items[0].number : -1);
    info.symbols.push_back(symbol_of(dim));
    info.is_static &= dim.is_constant();
  }
  info.is_opaque = dtype == DType::opaque;
  info.is_number = is_integer(dtype) && std::ranges::all_of(info.dims, [](int64_t dim) { return dim == 1; });
  info.is_late = spec.segment > 0;
  info.donated = spec.donated;
  return info;
}

/// No array has as many axes: said where the function is made, not by each call.
void require_axes(const ArrayForm& info, const std::string& what) {
  if (info.rank <= most_axes()) return;
  throw Error(ErrorCode::unsupported, {},
              str(what, " has ", info.rank, " axes, and an array of NumPy's has ", most_axes(), " at most"));
}

/// One integer, which may be a number of steps; what is beyond i64 is as much.
inline int64_t number_in(const ArrayForm& info, PyArrayObject* array) {
  if (info.dtype == DType::i64) return *static_cast<const int64_t*>(PyArray_DATA(array));
  const Literal number = Literal::load(info.dtype, PyArray_DATA(array));
  return info.dtype == DType::u64 && number.i < 0 ? INT64_MAX : number.i;
}

constexpr double kCoarseSeconds = 15e-3;  // more than a tick of the coarse clock

double now(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::string shape_text(PyArrayObject* array) {
  std::string text;
  for (int i = 0; i < PyArray_NDIM(array); ++i) text += str(i > 0 ? ", " : "", PyArray_DIM(array, i));
  return str("[", text, "]");
}

/// How the caller would write the array in the dtype that is expected; empty where no cast is meant.
std::string cast_text(const ArrayForm& info, PyObject* given, PyArrayObject* array) {
  const bool drops_part = PyArray_ISCOMPLEX(array) && !is_complex(info.dtype);
  const bool has_numbers = PyArray_ISNUMBER(array) || PyArray_ISBOOL(array);
  if (!has_numbers || drops_part || info.is_opaque || info.dtype == DType::bf16) return {};
  const std::string_view dtype = numpy_name(info.dtype);
  if (PyArray_Check(given)) return str(info.name, ".astype(\"", dtype, "\")");
  return str("np.array(", info.name, ", \"", dtype, "\")");
}

/// `given` was made into `array`.
[[noreturn]] void wrong_argument(const ArrayForm& info, PyObject* given, PyArrayObject* array) {
  if (PyArray_NDIM(array) != info.rank) {
    throw Error(ErrorCode::wrong_rank, {},
                str(info.name, ": an array of rank ", PyArray_NDIM(array), ", ", shape_text(array), ", where rank ",
                    info.rank, " is expected"));
  }
  Error error(ErrorCode::wrong_dtype, {},
              str(info.name, ": an array of ", dtype_text(array), " where ", dtype_name(info.dtype), " is expected"));
  const std::string cast = cast_text(info, given, array);
  throw cast.empty() ? error : std::move(error).help(str("inlay casts nothing silently: ", cast));
}

/// `object` as a row-major array of the right dtype and rank: a new reference. `is_copied`: whether it was one in
/// another layout. Throws; null: a Python error is set.
PyArrayObject* bring_into_form(const ArrayForm& info, PyObject* object, bool& is_copied) {
  const OwnedArray array = as_array(object, info.dtype, info.name);
  if (!array) return nullptr;
  if (!has_dtype(array.get(), info.dtype) || PyArray_NDIM(array.get()) != info.rank) {
    wrong_argument(info, object, array.get());
  }
  OwnedArray plain = in_plain_form(array.get(), info.dtype);
  is_copied = plain && plain != array;
  return plain.release();
}

inline bool fits_as_it_is(const ArrayForm& info, PyObject* object) {
  if (Py_TYPE(object) != &PyArray_Type) return false;
  auto* array = reinterpret_cast<PyArrayObject*>(object);
  return PyArray_TYPE(array) == info.numpy_type && PyArray_NDIM(array) == info.rank && is_plain(array);
}

/// Binds the symbols that the argument's dims are; false: some dim needs the runtime's rules.
inline bool bind_dims(const ArrayForm& info, PyArrayObject* array, int64_t* symbols) {
  const npy_intp* dims = PyArray_DIMS(array);
  bool plain = true;
  for (int axis = 0; axis < info.rank; ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    if (info.dims[i] >= 0) {
      plain &= info.dims[i] == dims[axis];
    } else if (info.symbols[i] >= 0 && symbols[info.symbols[i]] < 0) {
      symbols[info.symbols[i]] = dims[axis];
    } else {
      plain &= info.symbols[i] >= 0 && symbols[info.symbols[i]] == dims[axis];
    }
  }
  return plain;
}

}  // namespace

BoundProgram::BoundProgram(std::shared_ptr<const runtime::Executable> executable, std::span<PyObject* const> bound,
                           std::span<PyObject* const> host_functions, std::shared_ptr<runtime::StepTimes> step_times)
    : executable_(std::move(executable)), step_times_(std::move(step_times)) {
  const runtime::Object& object = executable_->object();
  runtime::require_host_functions(object, [&](std::size_t number) { return number < host_functions.size(); });
  symbol_template_.assign(object.symbols.size(), -1);
  std::size_t num_bound = 0;
  for (std::size_t slot = 0; slot < object.params.size(); ++slot) {
    const runtime::TensorSpec& spec = object.params[slot];
    std::vector<int64_t> dims;
    if (spec.bound) {
      if (num_bound >= bound.size()) {
        throw Error(ErrorCode::wrong_argument_count, {}, str("no array for the bound parameter %", spec.name));
      }
      PyObject* given = bound[num_bound++];
      auto* array = reinterpret_cast<PyArrayObject*>(given);
      const ArrayForm info = info_of(spec);
      if (!PyArray_Check(given) || !is_plain(array)) {
        throw Error(ErrorCode::wrong_dtype, {}, str(info.name, ": what is bound is not a row-major array"));
      }
      if (!has_dtype(array, info.dtype) || PyArray_NDIM(array) != info.rank) wrong_argument(info, given, array);
      parameter_template_.push_back(PyArray_DATA(array));
      for (int i = 0; i < PyArray_NDIM(array); ++i) dims.push_back(PyArray_DIM(array, i));
      bound_bytes_.push_back(bytes_of(array));
      needs_rules_ |= bind_sizes(spec, dims, symbol_template_);
      runtime::check_facts(spec, {PyArray_DATA(array), dims.data()});
    } else {
      parameter_template_.push_back(nullptr);
      argument_slots_.push_back(static_cast<int>(slot));
      arguments_.push_back(info_of(spec));
      require_axes(arguments_.back(), str("argument ", spec.name));
      num_numbers_ += arguments_.back().is_number ? 1 : 0;
    }
    bound_dims_.push_back(std::move(dims));
  }
  for (const runtime::TensorSpec& spec : object.outputs) {
    ArrayForm& result = results_.emplace_back(info_of(spec));
    require_axes(result, str("result ", results_.size() - 1));
    const auto taken = std::ranges::find(argument_slots_, spec.taken_param);
    if (taken == argument_slots_.end()) continue;
    const auto argument = taken - argument_slots_.begin();
    const runtime::TensorSpec& param = object.params[static_cast<std::size_t>(*taken)];
    if (param.dtype != spec.dtype) continue;
    result.taken = static_cast<int>(argument);
    result.is_reshaped = param.dim_texts != spec.dim_texts;
  }
  has_donated_ = std::ranges::any_of(arguments_, &ArrayForm::donated);
  long_calls_ = std::make_unique<LongCalls>(symbol_template_.size(), num_numbers_);
  copied_ = std::vector<std::atomic<const char*>>(arguments_.size());
  out_copied_ = std::vector<std::atomic<const char*>>(results_.size());
  host_functions_.assign(host_functions.begin(), host_functions.end());
  for (PyObject* function : host_functions_) {
    draws_.push_back(draw_of(function));
    lends_.push_back(nb::getattr(function, "lends", nb::none()).is(nb::bool_(true)));
  }
}

BoundProgram::~BoundProgram() = default;

bool bind_sizes(const runtime::TensorSpec& spec, std::span<const int64_t> dims, std::span<int64_t> symbols) {
  bool needs_rules = false;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const int symbol = symbol_of(spec.dims[axis]);
    int64_t must_be = dims[axis];
    if (spec.dims[axis].is_constant()) {
      must_be = spec.dims[axis].items[0].number;
    } else if (symbol < 0) {
      needs_rules = true;
    } else {
      int64_t& known = symbols[static_cast<std::size_t>(symbol)];
      if (known < 0) known = dims[axis];
      must_be = known;
    }
    if (must_be == dims[axis]) continue;
    throw runtime::wrong_dim(spec.name, axis, dims[axis], must_be, symbol < 0 ? "" : spec.dim_texts[axis]);
  }
  return needs_rules;
}

HeldProgram::HeldProgram(std::shared_ptr<const runtime::Executable> executable, std::span<PyObject* const> bound,
                         std::span<PyObject* const> host_functions, std::shared_ptr<runtime::StepTimes> step_times,
                         std::span<PyObject* const> others)
    : program_(
          std::make_shared<const BoundProgram>(std::move(executable), bound, host_functions, std::move(step_times))),
      references_(PyTuple_New(static_cast<Py_ssize_t>(bound.size() + host_functions.size() + others.size()))) {
  if (references_ == nullptr) throw std::bad_alloc();
  std::size_t at = 0;
  for (std::span<PyObject* const> objects : {bound, host_functions, others}) {
    for (PyObject* object : objects) set_tuple_item(references_, at++, Py_NewRef(object));
  }
}

const runtime::HostCallSpec& BoundProgram::host_call(int number) const {
  for (const runtime::HostCallSpec& spec : executable_->object().host_calls) {
    if (spec.function == number) return spec;
  }
  INLAY_CHECK(false, "there is no host call ", number);
  return executable_->object().host_calls[0];
}

std::vector<std::string> BoundProgram::copies_of_arguments() const {
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    const char* why = copied_[i].load(std::memory_order_relaxed);
    if (why != nullptr) sentences.push_back(str("argument ", arguments_[i].name, " ", why));
  }
  for (std::size_t slot = 0; slot < results_.size(); ++slot) {
    const char* why = out_copied_[slot].load(std::memory_order_relaxed);
    if (why != nullptr) sentences.push_back(str("the array given for result ", results_[slot].name, " ", why));
  }
  return sentences;
}

namespace {

/// Dims of all parameters, for the runtime's rules.
void bind_by_rules(const BoundProgram& program, std::span<PyArrayObject* const> arrays,
                   const std::vector<std::vector<int64_t>>& bound_dims, std::span<int64_t> symbols) {
  const std::size_t count = program.parameter_template().size();
  std::vector<std::vector<int64_t>> dims(bound_dims);
  std::vector<runtime::TensorRef> params(count);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    std::vector<int64_t>& own = dims[static_cast<std::size_t>(program.slot_of_argument(i))];
    for (int axis = 0; arrays[i] != nullptr && axis < PyArray_NDIM(arrays[i]); ++axis) {
      own.push_back(PyArray_DIM(arrays[i], axis));
    }
  }
  for (std::size_t slot = 0; slot < count; ++slot) params[slot].dims = dims[slot].data();
  program.executable().bind_symbols(params, symbols);
}

/// `whole`: the array whose bytes the result is; none: it has its own. `bfloat16`: as in new_array.
PyObject* new_result(const BoundProgram& program, std::size_t slot, std::span<const int64_t> symbols,
                     PyArrayObject* whole, PyArray_Descr* bfloat16) {
  const ArrayForm& info = program.results()[slot];
  const npy_intp* dims = info.dims.data();
  runtime::Scratch<npy_intp, 8> sizes(info.is_static ? 0 : static_cast<std::size_t>(info.rank));
  if (!info.is_static) {
    static_assert(std::is_same_v<npy_intp, int64_t>);
    program.executable().output_dims(static_cast<int>(slot), symbols, sizes.span());
    dims = sizes.data();
  }
  if (whole == nullptr) return new_array(info, dims, bfloat16);
  Py_INCREF(reinterpret_cast<PyObject*>(PyArray_DESCR(whole)));
  PyObject* result = PyArray_NewFromDescr(&PyArray_Type, PyArray_DESCR(whole), info.rank, dims, nullptr,
                                          PyArray_DATA(whole), NPY_ARRAY_CARRAY, nullptr);
  if (result == nullptr) return nullptr;
  Py_INCREF(reinterpret_cast<PyObject*>(whole));
  PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(result), reinterpret_cast<PyObject*>(whole));
  return result;
}

/// NumPy made no array for a result: an error of ours that says which.
[[noreturn]] void too_large(const BoundProgram& program, std::size_t slot, std::span<const int64_t> symbols) {
  const bool out_of_memory = PyErr_ExceptionMatches(PyExc_MemoryError) != 0;
  PyErr_Clear();
  const ArrayForm& info = program.results()[slot];
  std::vector<int64_t> dims(static_cast<std::size_t>(info.rank));
  program.executable().output_dims(static_cast<int>(slot), symbols, dims);
  const std::string result = str("result ", slot, ", ", dtype_name(info.dtype), "[", join(dims, ", "), "]");
  if (out_of_memory) throw Error(ErrorCode::out_of_memory, {}, str("no memory for ", result));
  throw Error(ErrorCode::size_overflow, {}, str(result, " has more bytes than an array can have"));
}

void require_shape(const BoundProgram& program, const OutArrays& outs, std::size_t slot,
                   std::span<const int64_t> symbols) {
  runtime::Scratch<int64_t, 8> dims(static_cast<std::size_t>(program.results()[slot].rank));
  program.executable().output_dims(static_cast<int>(slot), symbols, dims.span());
  outs.require_shape(slot, dims.span());
}

void drop(std::span<PyObject*> objects) {
  for (PyObject*& o : objects) {
    Py_XDECREF(o);
    o = nullptr;
  }
}

}  // namespace

/// Why the result cannot be written into the array that is given for it, and has to be copied there at the end; null:
/// it can.
const char* BoundProgram::why_not_direct(std::size_t slot, const OutArrays& outs,
                                         std::span<PyArrayObject* const> arrays) const {
  if (!is_plain(outs[slot])) return "is not row-major";
  runtime::Scratch<runtime::Bytes, 32> given(arrays.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    given[i] = arrays[i] == nullptr ? runtime::Bytes() : bytes_of(arrays[i]);
  }
  const int taken = results_[slot].taken;
  const runtime::Bytes* const taken_bytes = taken < 0 ? nullptr : &given[static_cast<std::size_t>(taken)];
  return why_not_written_at(bytes_of(outs[slot]), executable_->object().outputs[slot], given.span(), taken_bytes,
                            outs.has_late());
}

// `call` in parts, each called from there alone. A call of few elements takes 0.1 us, of which calls of these would be
// some per cent.

/// What one call hands to the program's code: parameters, sizes by symbol, addresses of results.
struct BoundProgram::Values {
  explicit Values(const BoundProgram& program)
      : params(program.parameter_template_.size()),
        arrays(program.arguments_.size()),
        symbols(program.symbol_template_.size()),
        results(program.results_.size()),
        numbers(program.num_numbers_),
        writes_given(program.has_donated_) {
    std::ranges::copy(program.parameter_template_, params.data());
    std::ranges::copy(program.symbol_template_, symbols.data());
  }

  runtime::Scratch<const void*, 32> params;
  runtime::Scratch<PyArrayObject*, 32> arrays;  // by argument; null: it is opaque
  runtime::Scratch<int64_t, 32> symbols;
  runtime::Scratch<void*, 16> results;
  runtime::Scratch<int64_t, 8> numbers;  // the arguments that are one integer
  bool writes_given;                     // the caller's own arrays
  PyArray_Descr* bfloat16 = nullptr;     // of an argument that has it
};

/// False: a Python error is set.
[[gnu::always_inline]] inline bool BoundProgram::bind_arguments(Call& call, std::span<PyObject* const> objects,
                                                                Values& values) const {
  const std::span params = values.params.span();
  const std::span arrays = values.arrays.span();
  const std::span symbols = values.symbols.span();
  bool sizes_bound = !needs_rules_;
  std::size_t num_numbers = 0;
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    const ArrayForm& info = arguments_[i];
    auto& place = params[static_cast<std::size_t>(argument_slots_[i])];
    arrays[i] = nullptr;
    if (info.is_opaque) {
      place = objects[i];
      continue;
    }
    auto* array = reinterpret_cast<PyArrayObject*>(objects[i]);
    if (!fits_as_it_is(info, objects[i])) {
      bool is_copied = false;
      array = bring_into_form(info, objects[i], is_copied);
      if (array == nullptr) return false;
      call.keep(reinterpret_cast<PyObject*>(array));
      if (is_copied) note_copy(i, "was not row-major");
      if (PyArray_TYPE(array) >= NPY_USERDEF) values.bfloat16 = PyArray_DESCR(array);
    }
    arrays[i] = array;
    place = PyArray_DATA(array);
    // (An array without elements is refused below.)
    if (info.is_number) values.numbers[num_numbers++] = PyArray_SIZE(array) > 0 ? number_in(info, array) : 0;
    sizes_bound &= bind_dims(info, array, symbols.data());
  }
  // Symbols of bound arrays, dims that are expressions, and dims that do not fit: by the rules, which say what is
  // wrong.
  if (!sizes_bound) bind_by_rules(*this, arrays, bound_dims_, symbols);
  return true;
}

/// Each result in the array that is given for it, in that of the argument whose bytes it takes over, or in a new one.
[[gnu::always_inline]] inline void BoundProgram::place_results(const OutArrays& outs, Values& values,
                                                               std::span<PyObject*> results) const {
  const std::span arrays = values.arrays.span();
  const std::span<const int64_t> symbols = values.symbols.span();
  const std::span addresses = values.results.span();
  for (std::size_t slot = 0; slot < results_.size(); ++slot) {
    addresses[slot] = nullptr;
    if (results_[slot].is_opaque || results_[slot].is_late) continue;
    if (!outs.empty() && outs[slot] != nullptr) {
      require_shape(*this, outs, slot, symbols);
      const char* why_not = why_not_direct(slot, outs, arrays);
      if (why_not == nullptr) {
        values.writes_given = true;
        results[slot] = Py_NewRef(reinterpret_cast<PyObject*>(outs[slot]));
        addresses[slot] = PyArray_DATA(outs[slot]);
        continue;
      }
      out_copied_[slot].store(why_not, std::memory_order_relaxed);
    }
    const int taken = results_[slot].taken;
    PyObject* given = taken < 0 ? nullptr : reinterpret_cast<PyObject*>(arrays[static_cast<std::size_t>(taken)]);
    const bool is_result = given != nullptr && PyArray_CheckExact(given);  // results are no subclasses
    auto* whole = is_result ? reinterpret_cast<PyArrayObject*>(given) : nullptr;
    const bool is_given = is_result && !results_[slot].is_reshaped;
    results[slot] = is_given ? Py_NewRef(given) : new_result(*this, slot, symbols, whole, values.bfloat16);
    if (results[slot] == nullptr) {
      drop(results);
      too_large(*this, slot, symbols);
    }
    addresses[slot] = PyArray_DATA(reinterpret_cast<PyArrayObject*>(results[slot]));
  }
}

/// The code of what went wrong, or INLAY_OK. Times some of the calls.
[[gnu::always_inline]] inline int32_t BoundProgram::run(Call& call, Values& values, int threads,
                                                        runtime::Executable::Failure& failure) const {
  const std::span<const int64_t> sizes = values.symbols.span(), numbers = values.numbers.span();
  const LongCalls::Outlook outlook = long_calls_->outlook(sizes, numbers);
  std::optional<runtime::StepClock> clock;
  if (step_times_) clock.emplace(*step_times_);
  const StopFlag& stop = python_stop_flag();
  const runtime::StopFlags flags{&stop, values.writes_given ? &kNeverStop : &stop};
  if (outlook.may_be_long) listen_for_interrupts();
  call.begin_run(outlook.may_be_long ? Gil::released : Gil::held);
  // A coarse clock takes a few ns, and stands still for some ms: it tells those of 15 ms and a tick that are not timed.
  const clockid_t ticks = outlook.is_timed ? CLOCK_MONOTONIC : CLOCK_MONOTONIC_COARSE;
  const double start = now(ticks);
  const int32_t code = executable_->run(values.params.data(), values.results.data(), values.symbols.data(), &call,
                                        failure, flags, threads);
  const double seconds = now(ticks) - start;  // before it waits for the GIL
  call.end_run();
  clock.reset();
  if (step_times_ && code == INLAY_OK) step_times_->set_sizes(sizes);
  if (code != INLAY_OK) return code;  // what fails may end early
  if (outlook.is_timed || seconds > kCoarseSeconds) long_calls_->took(seconds, outlook, sizes, numbers);
  if (outlook.is_timed) {
    double none = -1;
    first_call_seconds_.compare_exchange_strong(none, seconds, std::memory_order_relaxed);
  }
  return code;
}

/// False: a Python error is set.
[[gnu::always_inline]] inline bool BoundProgram::deliver(const OutArrays& outs, Values& values,
                                                         std::span<PyObject*> results) const {
  for (std::size_t slot = 0; slot < results_.size(); ++slot) {
    if (results_[slot].is_opaque) results[slot] = Py_NewRef(static_cast<PyObject*>(values.results[slot]));
  }
  if (outs.empty() || outs.deliver(results)) return true;
  drop(results);
  return false;
}

bool BoundProgram::call(std::span<PyObject* const> objects, std::span<PyObject*> results, int& failed_host_call,
                        PyObject* out, int threads) const {
  failed_host_call = -1;
  if (threads > 1 && executable_->threads() == 1) {
    raise(Error(ErrorCode::unsupported, {}, str("threads=", threads, ": the function was compiled for one thread"))
              .help("inlay.compile(text, threads=2) makes one whose calls may say how many"));
    return false;
  }
  Call call(*this, Gil::held);
  for (PyObject*& o : results) o = nullptr;
  try {
    const OutArrays outs = out == nullptr ? OutArrays() : OutArrays(out, *this);
    Values values(*this);
    if (!bind_arguments(call, objects, values)) return false;
    if (has_donated_ && !give_away(call, outs, values.arrays.span(), values.params.span())) return false;
    place_results(outs, values, results);
    call.late_results = results;
    call.bfloat16 = values.bfloat16;
    runtime::Executable::Failure failure;
    const int32_t code = run(call, values, threads, failure);
    if (code == INLAY_OK) return deliver(outs, values, results);
    drop(results);
    failed_host_call = call.failed_host_call();
    if ((code == INLAY_HOST_CALL_FAILED && failed_host_call >= 0) || call.has_exception()) {
      call.restore_exception();
    } else {
      raise(executable_->error_of(code, failure));
    }
  } catch (const Error& error) {
    drop(results);
    raise(error);
  } catch (nb::python_error& error) {  // of a planner
    drop(results);
    error.restore();
  } catch (const std::bad_alloc&) {
    drop(results);
    raise(Error(ErrorCode::out_of_memory, {}, "no memory for the call's own values"));
  } catch (const std::exception& error) {  // of what else a planner may throw: nothing passes a C function
    drop(results);
    raise(Error(ErrorCode::internal, {}, error.what()));
  }
  return false;
}

/// A donated array is overwritten where it lies. One that shares bytes with what else the call reads or writes, or that
/// is read-only, is copied instead, and the copy given away.
bool BoundProgram::give_away(Call& call, const OutArrays& outs, std::span<PyArrayObject*> arrays,
                             std::span<const void*> params) const {
  const auto slot_that_takes = [&](std::size_t argument) {
    const auto found = std::ranges::find(results_, static_cast<int>(argument), &ArrayForm::taken);
    return found == results_.end() ? -1 : static_cast<int>(found - results_.begin());
  };
  const auto meets_another = [&](std::size_t given) {
    const auto meets = [own = bytes_of(arrays[given])](const runtime::Bytes& other) { return own.meet(other); };
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      if (i != given && arrays[i] != nullptr && meets(bytes_of(arrays[i]))) return true;
    }
    return std::ranges::any_of(bound_bytes_, meets);
  };
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (!arguments_[i].donated) continue;
    const bool meets_result = !outs.empty() && (outs.has_late() || outs.meet(arrays[i], slot_that_takes(i)));
    const bool is_shared = meets_result || meets_another(i);
    if (PyArray_ISWRITEABLE(arrays[i]) && !is_shared) continue;
    auto* copy = reinterpret_cast<PyArrayObject*>(PyArray_NewCopy(arrays[i], NPY_CORDER));
    if (copy == nullptr) return false;
    call.keep(reinterpret_cast<PyObject*>(copy));
    arrays[i] = copy;
    params[static_cast<std::size_t>(argument_slots_[i])] = PyArray_DATA(copy);
    note_copy(i, is_shared ? "shares bytes with another array of the call" : "was read-only");
  }
  return true;
}

int32_t BoundProgram::run_raw(const void* const* arguments, std::span<const int64_t> sizes, void** results,
                              const StopFlag& stop, const runtime::CallersPool* pool) const {
  Call call(*this, Gil::foreign);
  runtime::Scratch<const void*, 32> params(parameter_template_.size());
  std::copy(parameter_template_.begin(), parameter_template_.end(), params.data());
  for (std::size_t i = 0; i < argument_slots_.size(); ++i) {
    params[static_cast<std::size_t>(argument_slots_[i])] = arguments[i];
  }
  runtime::Scratch<int64_t, 32> symbols(sizes.size());
  std::copy(sizes.begin(), sizes.end(), symbols.data());
  runtime::Executable::Failure failure;
  return executable_->run(params.data(), results, symbols.data(), &call, failure, {&stop, &stop}, 0, pool);
}

}  // namespace inlay::python
