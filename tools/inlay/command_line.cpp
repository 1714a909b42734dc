#include "command_line.h"

#include <filesystem>
#include <iostream>
#include <new>

#include <CLI/CLI.hpp>

#include "backend/c/backend.h"
#include "commands.h"
#include "export/export.h"
#include "interrupt.h"
#include "support/error.h"
#include "terminal.h"
#include "usage.h"

namespace inlay::tool {
namespace {

constexpr const char* kFooter = R"(
A FILE holds a program in text form (docs/text.md): a graph, `graph @main(...) {...}`, or the kernels of a dump,
`program @main(...) {...}`; or a network, FILE.onnx (docs/onnx.md). Arrays are NumPy's .npy files.

Exit codes:
  0  done; every test passed
  1  a file, a program or a call is wrong, or a test failed: the error is on stderr
  2  the command line is wrong
  3  a mistake inside inlay: the error names a file that reproduces it

Environment:
  INLAY_DUMP=DIR    what every stage of a compilation made, as numbered files (docs/walk.md)
  INLAY_VERIFY=1    run each stage's verifier
  INLAY_FUSE=MODE   as --fuse=MODE, for every API
  INLAY_PLANNER=P   as --planner=P, for every API
  INLAY_ORDER=given as --order=given, for every API
  INLAY_BACKEND=c   C99 and the system's compiler instead of llvm (docs/backends.md); CC names it, INLAY_CFLAGS more flags
  INLAY_CPU_FEATURES=LEVEL   as --cpu=LEVEL, for every API (docs/codegen.md)
  INLAY_JIT=FILE    the code generator, libinlay_jit.so, where it does not lie beside the program
  INLAY_THREADS=N   at most so many threads of the process run functions (docs/threads.md)
  INLAY_CACHE=0     PyTensor's functions are not kept from process to process (inlay cache --help)
  NO_COLOR=1        no colours at a terminal

`inlay COMMAND --help` has examples.)";

constexpr const char* kRunFooter = R"(
Examples:
  inlay run shift.inlay o=o.npy x=x.npy                print the results
  inlay run shift.inlay o=o.npy x=x.npy -o results     write results/r.npy
  inlay run shift.inlay o=o.npy x=x.npy --evaluator reference
  inlay run shift.inlay --profile --size n=1000000     what each step takes and moves (docs/profile.md)
  inlay run dump/*-name-kernels.kernels o=o.npy x=x.npy   from the kernels of a dump on
  inlay run net.onnx image=image.npy                   a network, with its weights
  inlay run vad.onnx --fixed sr=16000 input=x.npy state=s.npy
  inlay run voice.onnx text=text.npy seed=5            a network that draws (docs/onnx.md)

Evaluators, from the source to machine code; the first that differs names the stage that is wrong:
  reference      the graph as it was written, every value a fresh array
  rewritten      the same of the graph after rewriting
  kernel         the kernels, each buffer alone in memory
  kernel/naive   the kernels on planned bytes, one storage after the other
  kernel/greedy  the kernels on the bytes of the plan, every access checked
  llvm           machine code; when nothing is said, where this build has it
  c              machine code of the system's C compiler; when nothing is said, where there is no llvm)";

constexpr const char* kTestFooter = R"(
Examples:
  inlay test tests/programs             all *.inlay below the folder, by every evaluator
  inlay test --update softmax.inlay     write what was found behind count, fuse and pass; review the diff
  inlay test --bisect=17 broken.inlay   with the first 17 rewrites only)";

constexpr const char* kOptFooter = R"(
Examples:
  inlay opt shift.inlay                 check a graph and print it with all types
  inlay opt dump/*-name-kernels.kernels   the same of kernels
  inlay opt --stage=rewrite shift.inlay what the rewriting passes make of it
  inlay opt --stage=fuse shift.inlay    its kernels
  inlay opt --stage=memory shift.inlay  and where they keep their values
  inlay opt --stage=rewrite --rewrite-off=pow-two,log1p shift.inlay
  inlay list rules                      the names of all rules
  inlay list passes                     the names of all passes, in their order
  inlay opt --stop-after=share-rows shift.inlay        the kernels as they are after that pass
  inlay opt --pass=order-axes dump/*-fuse.kernels   what one pass makes of a dump

Which rewrite broke a program? --bisect=N applies the first N rewrites and no other, so with a test that fails (or
`inlay run --evaluator rewritten`, whose result is wrong), halve N until N passes and N + 1 fails:
  inlay test --bisect=0 broken.inlay    passes, or it is no rewrite
  inlay test --bisect=40 broken.inlay   fails: it is one of 40; then 20, 10, ...
  inlay explain --bisect=N broken.inlay | grep 'the last one'      names the rule of rewrite N
scripts/bisect broken.inlay does it.)";

constexpr const char* kExplainFooter = R"(
Examples:
  inlay explain shift.inlay                      rewrites, kernels, memory, what is stored and why, times
  inlay explain --json shift.inlay | jq .arena_bytes
  inlay explain shift.inlay --memory=map.html    and a picture of the memory, for a browser
  inlay explain shift.inlayfn                    what a file of inlay.save has: its code, parameters, kernels, memory
  inlay explain build/shift.h                    the memory of an exported program, which its header has
  INLAY_DUMP=dump inlay explain shift.inlay      and every stage's result in a file of its own)";

constexpr const char* kCompileFooter = R"(
Examples:
  inlay compile softmax.inlay --emit=c              print it
  inlay compile softmax.inlay --emit=c --name=softmax -o softmax.c
  cc -std=c99 -O2 -ffp-contract=off -fno-strict-aliasing -c softmax.c

The file compiles alone: the C ABI (inlay/runtime.h) stands in it, with what a caller must bring. Its function is
int32_t NAME(InlayCall*). It links alone too, but for library ops (matmul, sort, cholesky, ...) and the few special
functions that C99 lacks (docs/backends.md): those are declared `extern`, and the head of the file and a note on
stderr name them with the ops that call them.)";

constexpr const char* kExportFooter = R"(
Examples:
  inlay export softmax.inlay --size n=64 -o build                 build/softmax.h, build/softmax.c
  inlay export softmax.inlay --size n=64 -o build --kind=object   and softmax.o, for any CPU of this architecture
  inlay export net.inlay --bound w=w.npy -o build --kind=shared   and libnet.so, which has the array w
  cc -std=c99 -O2 -ffp-contract=off -fno-strict-aliasing main.c build/softmax.c -lm

The header declares int32_t NAME(const double x[64], ..., double y[64], void* arena), where every size is fixed, the
entry NAME_entry, which takes an InlayCall, the bytes of working memory and the codes of failures. The code allocates
nothing, keeps nothing and links with libm alone; a program that would not, as it calls the host, is refused.
docs/file.md has more.)";

constexpr const char* kPlanFooter = R"(
FILE has a line id,lower,upper,size for each buffer: size bytes that are needed at the times lower <= t < upper. Its first
line names the columns, in any order. Among them may be
  alignment   1 where none is given
  offset      where the buffer must lie
  base        the buffer in whose bytes it lies: an alias, a view, a result in place; `offset` counts from there
  pool        where it may lie, the best first: fast|slow; where none is given, in any, in the order of --capacity
  cost        of not lying in the first of these, its size where none is given: what costs least is spilled
  entry       the entry point that needs it, where not all do; one of them runs at a time
A FILE of JSON has these names too: {"pools": [{"name": "fast", "capacity": 1024}], "buffers": [{"id": "a", "lower": 0,
"upper": 2, "size": 8, "pool": ["fast", "slow"]}]}. What --json prints may be read again.

Examples:
  inlay plan buffers.csv
  inlay plan buffers.csv --capacity fast=65536 --capacity slow=8388608
  inlay plan buffers.csv --capacity 1048576 --planner max     is there a plan within 1 MiB?
  inlay plan buffers.csv --html plan.html                      a picture, for a browser
  inlay plan buffers.csv --json | jq .offsets                  in the order of the file

Planners:
  naive    one buffer after the other: what reusing no bytes costs
  greedy   the best of a few orders
  search   greedy; if it misses the lower bound, a search for a plan that needs no more
  max      the same with 5 seconds instead of 50 milliseconds, and for the smallest plan if none is at the bound
A budget counts the buffers that are tried at some offset, as many as take about so long: the result is the same
everywhere.

Exit codes: 0 a plan was found, within the capacity if one is given; 1 none within it was found; 2 the command line or
the file is wrong.)";

constexpr const char* kCacheFooter = R"(
Functions that PyTensor compiled with inlay, for the next process that compiles the same graph (docs/file.md).

Examples:
  inlay cache            its folder, its entries and their bytes
  inlay cache --clear    none of them any more

Environment:
  INLAY_CACHE=FOLDER     where they are; 0: nowhere
  INLAY_CACHE_SIZE=512M  the bytes they may have; those that were not used for the longest time leave first)";

std::vector<std::string> planner_names() {
  return {std::begin(memory::kPlannerNames), std::end(memory::kPlannerNames)};
}

void add_compile_flags(CLI::App* app, CompileFlags& flags) {
  app->add_option("--fuse", flags.fuse, "`greedy`: store what several ops read; `none`: every op a kernel of its own")
      ->check(one_of({"full", "greedy", "none"}));
  app->add_option("--planner", flags.planner, "who lays out the working memory, see inlay plan --help")
      ->check(one_of(planner_names()));
  app->add_option("--order", flags.order, "`given`: the steps run as they were fused, not in the order of least memory")
      ->check(one_of({"given", "memory"}));
  app->add_option("--upper", flags.upper, "the most that sizes will be: one layout of memory for all of them")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("SIZE=N[,SIZE=N...]");
  app->add_option("--no-inplace", flags.no_inplace,
                  "values, kernels or library functions of which nothing shares bytes where the rule would allow it")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME[,NAME...]");
  app->add_option("--rewrite-off", flags.rewrite_off,
                  "rules (inlay list rules) or passes (inlay list passes) that are not used, by name")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME[,NAME...]");
  app->add_option("--bisect", flags.bisect, "only the first N rewrites (inlay opt --help)")
      ->check(at_least(0))
      ->type_name("N");
  app->add_flag("--single-precision", flags.single_precision,
                "what a program computes in f64 only to round it to f32 is computed in f32 (docs/dtypes.md)");
  app->add_option("--fixed", flags.network.fixed,
                  "an input of a network (.onnx), or a size, that is the same in all calls")
      ->allow_extra_args(false)
      ->type_name("NAME=NUMBER|FILE.npy");
  app->add_option("--donated", flags.network.donated, "inputs of a network whose bytes a call may overwrite: states")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME[,NAME...]");
  app->add_flag("--no-windows", flags.network.no_windows,
                "convolutions of a network are sums that read their windows where they lie, and no products");
}

/// Of what makes machine code.
void add_cpu(CLI::App* app, CompileFlags& flags) {
  app->add_option("--cpu", flags.cpu,
                  "the level that the code is for, as avx2 or sse2, or features of LLVM, as -avx512f")
      ->check(CLI::Validator([](std::string& text) { return text.empty() ? "it names no level" : ""; }, ""))
      ->type_name("LEVEL");
}

CLI::App* declare(CLI::App& app, RunCommand& command) {
  CLI::App* run = app.add_subcommand("run", "Run a program on .npy files and numbers");
  run->add_option("file", command.file, "the program")->required();
  run->add_option("arguments", command.arguments,
                  "parameter=file.npy, one for each parameter; for a 0-d one also parameter=number");
  CLI::Option* output = run->add_option("-o,--output", command.directory,
                                        "write the results as .npy files into this folder, instead of printing them")
                            ->check(path());
  CLI::Option* evaluator = run->add_option("--evaluator", command.evaluator, "who runs it, see below");
  CLI::Option* profile = run->add_flag("--profile", command.profile,
                                       "run machine code for 0.2 seconds and print what its steps take, instead of the "
                                       "results; parameters without a file have random elements")
                             ->excludes(output)
                             ->excludes(evaluator);
  run->add_option("--size", command.sizes, "with --profile: a size that no file has")
      ->needs(profile)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("SIZE=N[,SIZE=N...]");
  run->add_option("--threads", command.threads, "on how many the backend may run it: the results are the same")
      ->check(at_least(1))
      ->type_name("N");
  add_compile_flags(run, command.compile);
  add_cpu(run, command.compile);
  run->footer(kRunFooter);
  return run;
}

CLI::App* declare(CLI::App& app, TestCommand& command) {
  CLI::App* test = app.add_subcommand("test", "Judge program tests");
  test->add_option("paths", command.paths, "files, or folders of *.inlay")->required();
  test->add_flag("--update", command.update, "rewrite what follows a directive to what was found");
  test->add_option("--seed", command.seed, "of the random elements");
  add_compile_flags(test, command.compile);
  test->footer(kTestFooter);
  return test;
}

CLI::App* declare(CLI::App& app, OptCommand& command) {
  CLI::App* opt = app.add_subcommand("opt", "Read a program, check it, print it or what a stage makes of it");
  opt->add_option("file", command.file, "the program")->required();
  CLI::Option* stage =
      opt->add_option("--stage", command.stage, "the stage whose result is printed; `read`: none, the program itself")
          ->check(one_of({"read", "rewrite", "fuse", "memory"}));
  CLI::Option* stop_after = opt->add_option("--stop-after", command.stop_after,
                                            "a pass (inlay list passes), or fuse: the program as it is after it; "
                                            "bodies of loops and conds have gone through all passes then")
                                ->excludes(stage)
                                ->type_name("PASS");
  opt->add_option("--pass", command.pass, "this pass alone, on the program as it is")
      ->excludes(stop_after)
      ->excludes(stage)
      ->type_name("PASS");
  add_compile_flags(opt, command.compile);
  opt->footer(kOptFooter);
  return opt;
}

CLI::App* declare(CLI::App& app, ExplainCommand& command) {
  CLI::App* explain = app.add_subcommand("explain", "Show how a program is compiled: rewrites, kernels, memory, time");
  explain->add_option("file", command.file, "the program, or a compiled function that was saved or exported")
      ->required();
  explain->add_flag("--json", command.json, "one JSON object instead of text");
  explain->add_option("--memory", command.memory, "write a picture of the memory over time into this file")
      ->check(path())
      ->type_name("FILE.html");
  add_compile_flags(explain, command.compile);
  add_cpu(explain, command.compile);
  explain->footer(kExplainFooter);
  return explain;
}

CLI::App* declare(CLI::App& app, CompileCommand& command) {
  CLI::App* compile = app.add_subcommand("compile", "Write a program as C99");
  compile->add_option("file", command.file, "the program")->required();
  compile->add_option("--emit", command.emit, "what is written: c, a C99 file, where none is given too")
      ->check(CLI::IsMember({"c"}));
  compile->add_option("-o,--output", command.output, "into this file, instead of printing it")->check(path());
  compile->add_option("--name", command.name, "of the C function; inlay_entry where none is given")
      ->check(CLI::Validator(c_backend::wrong_entry_name, "NAME"));
  add_compile_flags(compile, command.compile);
  compile->footer(kCompileFooter);
  return compile;
}

CLI::App* declare(CLI::App& app, ExportCommand& command) {
  CLI::App* out =
      app.add_subcommand("export", "Write a program as C99, an object or a shared library, with its header");
  out->add_option("file", command.file, "the program, a graph")->required();
  out->add_option("-o,--output", command.output, "into this folder, or the code into this file .c, .o or .so")
      ->check(path())
      ->required();
  out->add_option("--kind", command.kind, "what is written beside the header; c where nothing says")
      ->check(one_of({"c", "object", "shared"}));
  out->add_option("--name", command.name, "of the function; that of the file where none is given")
      ->check(CLI::Validator(wrong_export_name, "NAME"));
  out->add_option("--size", command.sizes, "a size that every call has")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("SIZE=N[,SIZE=N...]");
  out->add_option("--bound", command.bound, "the array of a bound parameter, which the code then has")
      ->allow_extra_args(false)
      ->type_name("NAME=FILE.npy");
  out->add_flag("--freestanding", command.freestanding, "C for machines that have no C library but libm");
  out->add_flag("--blas", command.blas, "products and systems call a BLAS and a LAPACK, which whoever links brings");
  out->add_option("--section", command.section, "bound arrays and constants lie in this section of the object file")
      ->check(CLI::Validator(c_backend::wrong_section_name, "NAME"));
  out->add_flag("--json", command.json, "one JSON object: both files, text_bytes, rodata_bytes, ..., arena_bytes");
  add_compile_flags(out, command.compile);
  out->footer(kExportFooter);
  return out;
}

CLI::App* declare(CLI::App& app, PlanCommand& command) {
  CLI::App* plan = app.add_subcommand("plan", "Lay out buffers whose sizes and lifetimes a file has");
  plan->add_option("file", command.file, "the buffers: id,lower,upper,size")->required();
  plan->add_option("--capacity", command.capacities,
                   "the plan must need no more bytes; POOL=BYTES, once for each, where there are pools")
      ->take_all()
      ->type_name("BYTES");
  plan->add_option("--planner", command.planner, "who makes the plan, see below")->check(one_of(planner_names()));
  plan->add_option("--budget-ms", command.budget_ms, "how much is tried, instead of 50 for search and 5000 for max")
      ->check(at_least(0))
      ->type_name("N");
  plan->add_flag("--json", command.json, "one JSON object: peak, lower_bound, proved, seconds, offsets, ...");
  plan->add_option("--html", command.html, "write a picture of the plan into this file")
      ->check(path())
      ->type_name("FILE");
  plan->footer(kPlanFooter);
  return plan;
}

CLI::App* declare(CLI::App& app, CacheCommand& command) {
  CLI::App* cache = app.add_subcommand("cache", "Show where compiled functions are kept, and how many; or clear it");
  cache->add_flag("--clear", command.clear, "remove them");
  cache->footer(kCacheFooter);
  return cache;
}

CLI::App* declare(CLI::App& app, ListCommand& command) {
  CLI::App* list = app.add_subcommand("list", "List the scalar ops, the rewrite rules, the passes or the error codes");
  list->add_option("what", command.what, "ops, rules, passes or errors")
      ->required()
      ->check(one_of({"ops", "rules", "passes", "errors"}));
  list->add_flag("--json", command.json, "a JSON array of objects");
  return list;
}

/// Runs what was asked for; CLI's own exceptions are about the command line.
int parse_and_run(CLI::App& app, int argc, char** argv) {
  app.require_subcommand(1);
  app.set_version_flag("--version", "inlay " INLAY_VERSION);
  app.footer(kFooter);
  RunCommand run_command;
  TestCommand test_command;
  OptCommand opt_command;
  ExplainCommand explain_command;
  CompileCommand compile_command;
  ExportCommand export_command;
  PlanCommand plan_command;
  CacheCommand cache_command;
  ListCommand list_command;
  const CLI::App* run_app = declare(app, run_command);
  const CLI::App* test_app = declare(app, test_command);
  const CLI::App* opt_app = declare(app, opt_command);
  const CLI::App* explain_app = declare(app, explain_command);
  const CLI::App* compile_app = declare(app, compile_command);
  const CLI::App* export_app = declare(app, export_command);
  const CLI::App* plan_app = declare(app, plan_command);
  const CLI::App* cache_app = declare(app, cache_command);
  declare(app, list_command);

  app.parse(argc, argv);
  if (*run_app) return run(run_command);
  if (*test_app) return test(test_command);
  if (*opt_app) return opt(opt_command);
  if (*compile_app) return compile(compile_command);
  if (*export_app) return export_file(export_command);
  if (*plan_app) return plan_file(plan_command);
  if (*cache_app) return cache(cache_command);
  return *explain_app ? explain_file(explain_command) : list(list_command);
}

/// And says what was wrong.
int run_checked(int argc, char** argv) {
  CLI::App app{"Array programs as planned, fused native functions", "inlay"};
  try {
    const int code = parse_and_run(app, argc, argv);
    if (!std::cout.flush() && code != kWrongUsage)  // what is wrong has been said
      throw Error(ErrorCode::invalid_file, {}, "standard output cannot be written");
    return code;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help
      app.exit(error);
      return std::cout.flush() ? kDone : kFailed;
    }
    std::cerr << error_text(usage_error(app, error).what()) << "\n";
    return kWrongUsage;
  } catch (const Error& error) {
    std::cerr << error_text(error.what()) << "\n";
    return error.code() == ErrorCode::internal ? kOurMistake : kFailed;
  } catch (const std::filesystem::filesystem_error& error) {
    const std::string what = str(error.path1().string(), ": cannot be read: ", error.code().message());
    std::cerr << error_text(Error(ErrorCode::invalid_file, {}, what).what()) << "\n";
    return kFailed;
  } catch (const std::bad_alloc&) {
    std::cerr << error_text(Error(ErrorCode::out_of_memory, {}, "no memory for the values of the program").what())
              << "\n";
    return kFailed;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return kFailed;
  }
}

}  // namespace

int run_command_line(int argc, char** argv) {
  const EndsByInterrupt ends_by_interrupt;
  return run_checked(argc, argv);
}

}  // namespace inlay::tool
