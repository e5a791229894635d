#include "cli/flag_values.h"

#include <gtest/gtest.h>

#include <limits>

namespace pepe {
namespace {

struct UintCase {
  const char* text;
  std::uint64_t value;
};

constexpr UintCase kUintCases[] = {
    {"0", 0},      {"7", 7},     {"1_000", 1000}, {"0x2", 2},
    {"0XfF", 255}, {"0o17", 15}, {"017", 15},     {"0b11", 3},
    {"0x_1", 1},   {"00", 0},    {"0_7", 7},      {"18446744073709551615", std::numeric_limits<std::uint64_t>::max()},
};

TEST(UnsignedValue, TakesGoLiterals) {
  for (const UintCase& row : kUintCases) {
    SCOPED_TRACE(row.text);
    const auto value = parse_uint(row.text);
    ASSERT_TRUE(value);
    EXPECT_EQ(*value, row.value);
  }
}

TEST(UnsignedValue, RefusesWhatIsNone) {
  for (const char* text : {"", "x", "-1", "+1", "1.5", "1_", "_1", "1__0", "0x", "0b2", "08", "1e3", " 1", "1 "}) {
    SCOPED_TRACE(text);
    const auto value = parse_uint(text);
    ASSERT_FALSE(value);
    EXPECT_EQ(value.error().text(), "parse error");
  }
  const auto large = parse_uint("18446744073709551616");
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().text(), "value out of range");
}

struct IntCase {
  const char* text;
  std::int64_t value;
};

constexpr IntCase kIntCases[] = {
    {"0", 0},
    {"+3", 3},
    {"-0x10", -16},
    {"9223372036854775807", std::numeric_limits<std::int64_t>::max()},
    {"-9223372036854775808", std::numeric_limits<std::int64_t>::min()},
};

TEST(SignedValue, TakesASign) {
  for (const IntCase& row : kIntCases) {
    SCOPED_TRACE(row.text);
    const auto value = parse_int(row.text);
    ASSERT_TRUE(value);
    EXPECT_EQ(*value, row.value);
  }
}

TEST(SignedValue, RefusesWhatDoesNotFit) {
  for (const char* text : {"9223372036854775808", "-9223372036854775809"}) {
    SCOPED_TRACE(text);
    const auto value = parse_int(text);
    ASSERT_FALSE(value);
    EXPECT_EQ(value.error().text(), "value out of range");
  }
  for (const char* text : {"", "+", "-", "--1", "+-1"}) EXPECT_FALSE(parse_int(text)) << text;
}

TEST(BooleanValue, TakesGoSpellings) {
  for (const char* text : {"1", "t", "T", "true", "TRUE", "True"}) EXPECT_TRUE(*parse_bool(text)) << text;
  for (const char* text : {"0", "f", "F", "false", "FALSE", "False"}) EXPECT_FALSE(*parse_bool(text)) << text;
  for (const char* text : {"", "yes", "on", "2", "TrUe", " true"}) EXPECT_FALSE(parse_bool(text)) << text;
}

struct HeaderCase {
  const char* text;
  HeaderField field;
};

const HeaderCase kHeaderCases[] = {
    {"K: V", {"K", "V"}},
    {"k:V", {"k", "V"}},
    {" X-A :  a:b:c ", {"X-A", "a:b:c"}},
};

TEST(HeaderValue, IsSplitAtTheFirstColon) {
  for (const HeaderCase& row : kHeaderCases) {
    SCOPED_TRACE(row.text);
    const auto field = parse_header(row.text);
    ASSERT_TRUE(field);
    EXPECT_EQ(*field, row.field);
  }
  for (const char* text : {"", "nocolon", "K:", "K:  ", ": V", ":"}) EXPECT_FALSE(parse_header(text)) << text;
}

TEST(HeaderValue, StaysWithinItsLine) {
  for (const char* text : {"K\nL: V", "K: V\r\nL: V", "K: a\rb", "K\x01: V", "K: \x7f-"}) {
    const auto field = parse_header(text);
    ASSERT_FALSE(field) << text;
    EXPECT_EQ(field.error().text(), "want no line break or other control character");
  }
  EXPECT_EQ(parse_header("K: a\tb\r\n").value(), (HeaderField{"K", "a\tb"}));
}

TEST(ConnectTo, GathersTheTargetsOfOneSource) {
  std::vector<ConnectTo> entries;
  for (const char* text : {"a:80:b:81", "c:80:d:82", "a:80:[::1]:83", ":80::84"}) {
    ASSERT_TRUE(add_connect_to(text, entries)) << text;
  }
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].from, "a:80");
  EXPECT_EQ(entries[0].to, (std::vector<std::string>{"b:81", "[::1]:83"}));
  EXPECT_EQ(entries[1].from, "c:80");
  EXPECT_EQ(entries[2].from, ":80");
  EXPECT_EQ(entries[2].to, (std::vector<std::string>{":84"}));
}

TEST(ConnectTo, HasExactlyFourParts) {
  std::vector<ConnectTo> entries;
  for (const char* text : {"", "a:1:b", "a:1:b:2:c", "[a:1:b:2"}) EXPECT_FALSE(add_connect_to(text, entries)) << text;
  EXPECT_TRUE(entries.empty());
}

TEST(Resolvers, GetTheUsualPort) {
  const auto servers = parse_resolvers("127.0.0.1, 10.0.0.1:5353,::1,[::1]:54");
  ASSERT_TRUE(servers);
  EXPECT_EQ(*servers, (std::vector<std::string>{"127.0.0.1:53", "10.0.0.1:5353", "[::1]:53", "[::1]:54"}));
}

TEST(Resolvers, AreAddresses) {
  for (const char* list : {"dns.test:53", "127.0.0.1:99999", "127.0.0.1:99999999999999999999", "127.0.0.1:-1",
                           "127.0.0.1:", "127.0.0.1:x", "", "127.0.0.1,,10.0.0.1"}) {
    EXPECT_FALSE(parse_resolvers(list)) << list;
  }
}

TEST(Threads, AreACountOrAuto) {
  EXPECT_EQ(*parse_threads("auto"), 0U);
  EXPECT_EQ(*parse_threads("4"), 4U);
  for (const char* text : {"", "0", "-1", "many", "100000"}) EXPECT_FALSE(parse_threads(text)) << text;
}

TEST(LocalAddress, IsNumeric) {
  EXPECT_EQ(*resolve_local_address("127.0.0.2"), "127.0.0.2");
  EXPECT_EQ(*resolve_local_address("::1"), "::1");
  EXPECT_EQ(*resolve_local_address("0.0.0.0"), "");
  EXPECT_FALSE(resolve_local_address("999.1.1.1"));
}

}  // namespace
}  // namespace pepe
