#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_status.h"
#include "cli/interrupt.h"
#include "cli/output_file.h"
#include "cli/result_inputs.h"
#include "pepe/plot/plot.h"

namespace pepe {
namespace {

void add_plot_flags(FlagSet& flags, PlotOptions& options, std::string& output) {
  flags.begin_group("Flags");
  flags.add_string({"title", "TEXT", "title of the page", options.title}, options.title);
  flags.add_int(
      {"threshold", "N", "most points of a series, the rest is thinned out; 0: all", std::to_string(options.threshold)},
      options.threshold);
  flags.add_string({"output", "FILE", "where the page goes", "stdout"}, output);
}

int make_plot(const PlotOptions& options, const std::string& output_name, std::vector<std::string> names) {
  ResultInputsOptions reading;
  reading.decode = {.bodies = false, .headers = false};
  auto inputs = ResultInputs::open(std::move(names), std::move(reading));
  if (!inputs) return fail(inputs.error().text());
  auto output = OutputFile::open(output_name, inputs->ids());
  if (!output) return fail(output.error().text());

  Plot plot{options};
  const Expected<void> read = inputs->read_all([&plot](const Result& result) { plot.add(result); });
  if (!read && inputs->given() == 0) return fail(read.error().text());
  std::string page;
  if (const auto made = plot.write(page); !made) return fail(made.error().text());
  auto written = output->write(page);
  if (written) written = output->close();
  if (!written) return output->fail(written.error());
  return read ? kExitOk : fail(read.error().text());
}

}  // namespace

int run_plot(std::span<const std::string> args, const GlobalOptions& /*global*/) {
  PlotOptions options;
  std::string output{"stdout"};
  FlagSet flags{"pepe plot [flags] [FILE...]",
                "Draws results over time: one HTML page that needs no network. From standard input without a FILE."};
  flags.set_examples({"pepe plot out.bin > plot.html", "pepe plot -title='two builds' old.bin new.bin > plot.html"});
  add_plot_flags(flags, options, output);
  ParsedArguments parsed;
  if (const auto status = parse_or_explain(flags, args, parsed)) return *status;
  interrupt::install();
  return make_plot(options, output, std::move(parsed.words));
}

}  // namespace pepe
