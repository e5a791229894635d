// HOT: due() once per hit. No allocation, lock, log or wall clock.
#include <cstdint>
#include <memory>
#include <optional>

#include "pacer/integer_schedule.h"
#include "pacer/shapes.h"
#include "pepe/base/check.h"
#include "pepe/pacer/pacer.h"

namespace pepe {
namespace {

/// Every hit due at once.
class UnpacedPacer final : public Pacer {
 public:
  std::optional<Nanos> due(std::uint64_t) const noexcept override { return Nanos{0}; }
  std::uint64_t hits_before(Nanos offset) const noexcept override { return offset.count() > 0 ? kMostHits : 0; }
  bool unpaced() const noexcept override { return true; }
};

/// With per = step * hits + rest, rest < hits:
///
///     floor(n * per / hits) = n * step + floor(n * rest / hits)
///
/// since n * step is whole. For n <= last_ the sum is at most 2^63 - 1, so neither term overflows 64 bits, and for
/// n <= narrow_ = floor((2^64 - 1) / rest) nor does the product n * rest: two multiplications and one 64-bit division,
/// exact. Only beyond is a 128-bit division needed: as rest < hits, not in the first 200 days at up to 10^6/s.
class ConstantPacer final : public Pacer {
 public:
  explicit ConstantPacer(Rate rate) noexcept
      : hits_{static_cast<std::uint64_t>(rate.hits)},
        per_{static_cast<std::uint64_t>(rate.per.count())},
        step_{per_ / hits_},
        rest_{per_ % hits_},
        narrow_{rest_ == 0 ? kMostHits : kMostHits / rest_},
        // The last n with n * per / hits < 2^63.
        last_{saturate(((Wide{1} << 63) * hits_ - 1) / per_)} {}

  std::optional<Nanos> due(std::uint64_t n) const noexcept override {
    if (n > last_) [[unlikely]]
      return std::nullopt;
    if (rest_ == 0) return at(n * step_);
    if (n <= narrow_) [[likely]]
      return at(n * step_ + n * rest_ / hits_);
    return at(n * step_ + static_cast<std::uint64_t>(Wide{n} * rest_ / hits_));
  }

  // due(n) >= offset means n * per >= offset * hits, the offset being whole: n is the quotient, rounded up.
  std::uint64_t hits_before(Nanos offset) const noexcept override {
    if (offset.count() <= 0) return 0;
    const Wide product = Wide{static_cast<std::uint64_t>(offset.count())} * hits_;
    return saturate((product - 1) / per_ + 1);
  }

 private:
  static Nanos at(std::uint64_t offset) noexcept { return Nanos{static_cast<std::int64_t>(offset)}; }

  std::uint64_t hits_;
  std::uint64_t per_;
  std::uint64_t step_;
  std::uint64_t rest_;
  std::uint64_t narrow_;
  std::uint64_t last_;
};

}  // namespace

std::unique_ptr<Pacer> make_constant_pacer(Rate rate) {
  PEPE_CHECK(rate.hits >= 0 && rate.per.count() >= 0);
  if (rate.unpaced()) return std::make_unique<UnpacedPacer>();
  return std::make_unique<ConstantPacer>(rate);
}

Expected<Load> make_constant_load(const LoadFlags& flags) {
  return Load{make_constant_pacer(flags.rate), flags.duration.value_or(Nanos{0}), flags.rate};
}

}  // namespace pepe
