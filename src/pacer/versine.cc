// HOT: some ten times per hit of a sine. No allocation, lock, log or wall clock.
#include "pacer/versine.h"

#include <array>

#include "pacer/integer_schedule.h"

namespace pepe {
namespace {

constexpr std::uint64_t kQuarter = std::uint64_t{1} << (kTurnBits - 2);

constexpr std::uint64_t kOne = std::uint64_t{1} << 62;
constexpr std::uint64_t kHalfPiSquared = 0x4ef4'f326'f917'7969;  // (pi / 2)^2 * 2^61
constexpr std::uint64_t kOverTwoPi = 0x28be'60db'9391'054b;      // 1 / (2 pi) * 2^64

/// 1 / ((2 j + 1) (2 j + 2)) times 2^64, from the last term that counts to the second.
constexpr std::uint64_t inverse(std::uint64_t a, std::uint64_t b) { return kMostHits / (a * b); }
constexpr std::array kTerms = {inverse(25, 26), inverse(23, 24), inverse(21, 22), inverse(19, 20),
                               inverse(17, 18), inverse(15, 16), inverse(13, 14), inverse(11, 12),
                               inverse(9, 10),  inverse(7, 8),   inverse(5, 6),   inverse(3, 4)};

/// a times b, in 2^-bits of it.
constexpr std::uint64_t product(std::uint64_t a, std::uint64_t b, unsigned bits) noexcept {
  return static_cast<std::uint64_t>(Wide{a} * b >> bits);
}

/// 1 - cos(x) times 2^62, x being `angle` of 2^18 parts of a right angle: Taylor's series in y = x^2, as
/// y/2 (1 - y/12 (1 - y/30 (1 - ...))).
std::uint64_t within_quarter(std::uint64_t angle) noexcept {
  const std::uint64_t y = product(kHalfPiSquared, angle * angle, 2 * (kTurnBits - 2));
  std::uint64_t sum = kOne;
  for (const std::uint64_t term : kTerms) sum = kOne - product(product(y, sum, 61), term, 64);
  return product(y, sum, 62);
}

}  // namespace

std::uint64_t versine(std::uint64_t angle) noexcept {
  if (angle > 2 * kQuarter) angle = 4 * kQuarter - angle;
  const std::uint64_t value =
      angle <= kQuarter ? within_quarter(angle) : 2 * kOne - within_quarter(2 * kQuarter - angle);
  return product(value, kOverTwoPi, 64);
}

}  // namespace pepe
