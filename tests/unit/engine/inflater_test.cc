#include "engine/inflater.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "support/gzip.h"

namespace pepe {
namespace {

struct Unpacked {
  Inflater::Status status{Inflater::Status::kDone};
  std::string text;
  bool complete{false};
  std::size_t calls{0};    // of append() and go_on()
  std::size_t longest{0};  // output of one of them
};

// Unpacks `packed`, given in pieces of `piece`, until it is done or wrong.
Unpacked unpack(std::string_view packed, std::size_t piece) {
  Inflater inflater;
  Unpacked result;
  const auto out = [&result](std::string_view bytes) {
    result.text += bytes;
    return true;
  };
  const auto count = [&result](auto call) {
    const std::size_t before = result.text.size();
    result.status = call();
    ++result.calls;
    result.longest = std::max(result.longest, result.text.size() - before);
  };
  for (std::size_t at = 0; at < packed.size() && result.status == Inflater::Status::kDone; at += piece) {
    count([&] { return inflater.append(packed.substr(at, piece), out); });
    while (inflater.busy() && result.status == Inflater::Status::kBusy) count([&] { return inflater.go_on(out); });
  }
  result.complete = inflater.complete();
  return result;
}

struct GoodCase {
  const char* name;
  std::string packed;
  std::string text;
  bool complete{true};
};

const GoodCase kGoodCases[] = {
    {"Text", gzip("hello world"), "hello world"},
    {"Nothing", gzip(""), ""},
    {"Members", gzip("hello ") + gzip("world"), "hello world"},
    {"AnEmptyMemberBetween", gzip("hello ") + gzip("") + gzip("world"), "hello world"},
    {"LargerThanTheWindow", gzip(std::string(100'000, 'x')), std::string(100'000, 'x')},
    {"AMultipleOfTheWindow", gzip(std::string(65'536, 'x')), std::string(65'536, 'x')},
    {"CutInTheHead", gzip("hello").substr(0, 5), "", false},
    {"CutBeforeTheChecksum", gzip(std::string(1000, 'x')).substr(0, gzip(std::string(1000, 'x')).size() - 8),
     std::string(1000, 'x'), false},
    {"CutInASecondMember", gzip("hello ") + gzip("world").substr(0, 12), "hello ", false},
};

TEST(Inflater, UnpacksPiecesOfAnySize) {
  for (const GoodCase& row : kGoodCases) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, row.packed.size()}) {
      SCOPED_TRACE(std::string{row.name} + " in pieces of " + std::to_string(piece));
      const Unpacked result = unpack(row.packed, piece);
      EXPECT_EQ(result.status, Inflater::Status::kDone);
      EXPECT_EQ(result.text.substr(0, row.text.size()), row.text);
      EXPECT_EQ(result.complete, row.complete);
    }
  }
}

TEST(Inflater, IsCompleteOnlyAtTheEndOfAMember) {
  const std::string packed = gzip("hello");
  const auto ignore = [](std::string_view) { return true; };
  Inflater inflater;
  EXPECT_FALSE(inflater.complete());
  ASSERT_EQ(inflater.append(packed, ignore), Inflater::Status::kDone);
  EXPECT_TRUE(inflater.complete());
  ASSERT_EQ(inflater.append(packed.substr(0, 12), ignore), Inflater::Status::kDone);
  EXPECT_FALSE(inflater.complete());
}

struct BadCase {
  const char* name;
  std::string packed;
};

std::string with_byte(std::string bytes, std::size_t at, char byte) {
  bytes[at] = byte;
  return bytes;
}

const BadCase kBadCases[] = {
    {"Plain", "hello world, this is no gzip at all"},
    {"Zlib", "\x78\x9c\x4b\x4c\x4a\x06\x00\x02\x4d\x01\x27"},
    {"BadMethod", with_byte(gzip("hello"), 2, '\x07')},
    {"BadChecksum", with_byte(gzip("hello"), gzip("hello").size() - 5, '\x55')},
    {"BadLength", with_byte(gzip("hello"), gzip("hello").size() - 1, '\x55')},
    {"SurplusThatIsNoMember", gzip("hello") + "surplus and more of it"},
};

TEST(Inflater, RefusesWhatIsNotGzip) {
  for (const BadCase& row : kBadCases) {
    for (const std::size_t piece : {std::size_t{1}, row.packed.size()}) {
      SCOPED_TRACE(std::string{row.name} + " in pieces of " + std::to_string(piece));
      const Unpacked result = unpack(row.packed, piece);
      EXPECT_EQ(result.status, Inflater::Status::kCorrupt);
      EXPECT_FALSE(result.complete);
    }
  }
}

TEST(Inflater, MakesLittleAtATimeOfABomb) {
  constexpr std::size_t kSize = std::size_t{8} << 20;
  const std::string packed = gzip(std::string(kSize, '\0'));
  ASSERT_LT(packed.size(), 16'000U);
  const Unpacked result = unpack(packed, packed.size());
  EXPECT_EQ(result.status, Inflater::Status::kDone);
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.text.size(), kSize);
  EXPECT_LE(result.longest, std::size_t{300} * 1024);
  EXPECT_GE(result.calls, 25U);
}

TEST(Inflater, TakesMoreWhileItIsBusy) {
  constexpr std::size_t kSize = std::size_t{2} << 20;
  const std::string packed = gzip(std::string(kSize, 'x'));
  std::string text;
  const auto out = [&text](std::string_view bytes) {
    text += bytes;
    return true;
  };
  Inflater inflater;
  ASSERT_EQ(inflater.append(packed, out), Inflater::Status::kBusy);
  EXPECT_EQ(inflater.append(gzip("y"), out), Inflater::Status::kBusy);
  while (inflater.busy()) ASSERT_NE(inflater.go_on(out), Inflater::Status::kCorrupt);
  EXPECT_EQ(text, std::string(kSize, 'x') + "y");
  EXPECT_TRUE(inflater.complete());
}

TEST(Inflater, StopsWhenItsOutputIsNotWanted) {
  Inflater inflater;
  std::size_t calls = 0;
  const auto status = inflater.append(gzip(std::string(1 << 20, 'x')), [&calls](std::string_view) {
    ++calls;
    return false;
  });
  EXPECT_EQ(status, Inflater::Status::kStopped);
  EXPECT_EQ(calls, 1U);
}

}  // namespace
}  // namespace pepe
