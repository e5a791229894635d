#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_status.h"
#include "cli/flag_values.h"
#include "cli/interrupt.h"
#include "cli/output_file.h"
#include "cli/result_inputs.h"
#include "pepe/base/text.h"
#include "pepe/result/codec.h"

namespace pepe {
namespace {

struct EncodeOptions {
  std::string to{"json"};
  std::string output{"stdout"};
};

void add_encode_flags(FlagSet& flags, EncodeOptions& options) {
  flags.begin_group("Flags");
  flags.add_string({"to", "ENCODING", "json, csv, gob or msgpack", "json"}, options.to);
  flags.add_string({"output", "FILE", "where the results go", "stdout"}, options.output);
}

/// Encoded results on their way to a file.
class EncodedOutput {
 public:
  EncodedOutput(std::unique_ptr<Encoder> encoder, OutputFile file)
      : encoder_{std::move(encoder)}, file_{std::move(file)} {}

  Expected<void> add(const Result& result) {
    constexpr std::size_t kEnough = 64 * 1024;
    encoder_->encode(result, bytes_);
    return bytes_.size() < kEnough ? Expected<void>{} : write();
  }

  /// Everything so far can be read by whoever reads the output.
  Expected<void> flush() {
    encoder_->flush(bytes_);
    return write();
  }

  OutputFile& file() { return file_; }
  /// Why a write failed, if one did.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  Expected<void> write() {
    auto written = file_.write(bytes_);
    bytes_.clear();
    if (!written) failure_ = written.error();
    return written;
  }

  std::unique_ptr<Encoder> encoder_;
  OutputFile file_;
  std::string bytes_;
  std::optional<Error> failure_;
};

/// Moves every result from `inputs` to `output`. Error: of whichever side failed.
Expected<void> transfer(ResultInputs& inputs, EncodedOutput& output) {
  while (true) {
    const auto result = inputs.next();
    if (!result) return result.error();
    if (*result == nullptr) return inputs.check_loss();
    if (auto added = output.add(**result); !added) return added;
  }
}

int encode_results(const CodecEntry& codec, const EncodeOptions& options, std::vector<std::string> names) {
  std::optional<EncodedOutput> output;
  ResultInputsOptions reading;
  // A slow input is passed on as it comes; a fast one in large pieces.
  reading.hooks.before_wait = [&output]() -> Expected<void> { return output ? output->flush() : Expected<void>{}; };
  auto inputs = ResultInputs::open(std::move(names), std::move(reading));
  if (!inputs) return fail(inputs.error().text());
  auto file = OutputFile::open(options.output, inputs->ids());
  if (!file) return fail(file.error().text());
  output.emplace(codec.make_encoder(), *std::move(file));

  const Expected<void> moved = transfer(*inputs, *output);
  if (output->failure()) return output->file().fail(*output->failure());
  auto written = output->flush();
  if (written) written = output->file().close();
  if (!written) return output->file().fail(written.error());
  return moved ? kExitOk : fail(moved.error().text());
}

}  // namespace

int run_encode(std::span<const std::string> args, const GlobalOptions& /*global*/) {
  EncodeOptions options;
  FlagSet flags{"pepe encode [flags] [FILE...]",
                "Writes results in another encoding; from standard input without a FILE."};
  flags.set_examples({"pepe encode -to=csv out.bin > out.csv", "pepe encode -to=gob out.bin | vegeta report"});
  add_encode_flags(flags, options);
  ParsedArguments parsed;
  if (const auto status = parse_or_explain(flags, args, parsed)) return *status;
  const CodecEntry* codec = find_codec(options.to);
  if (codec == nullptr) return fail(unknown_encoding("encode", options.to).text());
  interrupt::install();
  return encode_results(*codec, options, std::move(parsed.words));
}

}  // namespace pepe
