#include "result/header_block.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pepe {
namespace {

TEST(HeaderBlock, GroupsNamesThatAreApart) {
  const std::vector<HeaderView> headers = {{"B", "1"}, {"A", "2"}, {"B", "3"}, {"A", "4"}, {"C", "5"}};
  std::vector<std::size_t> indices = {7, 7, 7, 7, 7, 7};
  group_headers(headers, HeaderOrder::kByAppearance, indices);
  EXPECT_EQ(indices, (std::vector<std::size_t>{0, 2, 1, 3, 4}));
  group_headers(headers, HeaderOrder::kByName, indices);
  EXPECT_EQ(indices, (std::vector<std::size_t>{1, 3, 0, 2, 4}));
  group_headers({}, HeaderOrder::kByAppearance, indices);
  EXPECT_TRUE(indices.empty());
}

TEST(HeaderBlock, GroupsManyNamesAsItGroupsFew) {
  const std::string letters = "qazwsxedcrfvtgbyhnujmikolp";
  std::vector<HeaderView> headers;  // Each name at i and i + 26.
  for (std::size_t i = 0; i < 52; ++i) headers.push_back({std::string_view{letters}.substr(i % 26, 1), ""});
  std::vector<std::size_t> indices;
  group_headers(headers, HeaderOrder::kByAppearance, indices);
  for (std::size_t i = 0; i < 26; ++i) {
    EXPECT_EQ(indices[2 * i], i);
    EXPECT_EQ(indices[2 * i + 1], i + 26);
  }
  group_headers(headers, HeaderOrder::kByName, indices);
  for (std::size_t i = 0; i < 26; ++i) {
    EXPECT_EQ(indices[2 * i] + 26, indices[2 * i + 1]);
    EXPECT_EQ(headers[indices[2 * i]].name[0], static_cast<char>('a' + i));
  }
}

struct NameCase {
  const char* name;
  const char* want;
};

TEST(HeaderBlock, CanonicalisesNames) {
  const NameCase cases[] = {
      {"ETag", "Etag"}, {"x-a-BC", "X-A-Bc"},          {"-a", "-A"}, {"content-type", "Content-Type"}, {"a b", "a b"},
      {"1x", "1x"},     {"caf\xc3\xa9", "caf\xc3\xa9"}};
  for (const NameCase& row : cases) {
    std::string out;
    append_canonical_name(row.name, out);
    EXPECT_EQ(out, row.want);
  }
}

struct BlockCase {
  const char* name;
  std::string block;
  bool good;
};

TEST(HeaderBlock, ReadsWholeBlocksOnly) {
  const BlockCase cases[] = {
      {"Empty", "\r\n", true},
      {"LineFeedsOnly", "a: 1\n\n", true},
      {"NoValue", "a:\r\n\r\n", true},
      {"ColonInValue", "a: b:c\r\n\r\n", true},
      {"Nothing", "", false},
      {"NoBlankLine", "a: 1\r\n", false},
      {"LineCut", "a: 1", false},
      {"NoColon", "a\r\n\r\n", false},
      {"NoName", ": 1\r\n\r\n", false},
      {"Folded", " a: 1\r\n\r\n", false},
      {"MoreBehind", "\r\na: 1\r\n\r\n", false},
  };
  for (const BlockCase& row : cases) {
    std::string names;
    std::vector<HeaderView> headers;
    EXPECT_EQ(parse_header_block(row.block, names, headers), row.good) << row.name;
  }
}

TEST(HeaderBlock, TrimsValues) {
  std::string names;
  std::vector<HeaderView> headers;
  ASSERT_TRUE(parse_header_block("x-a:  1 \t\r\nB:\r\n\r\n", names, headers));
  EXPECT_EQ(headers, (std::vector<HeaderView>{{"X-A", "1"}, {"B", ""}}));
}

TEST(EncodedHeaders, MatchOnlyTheSameNamesAndValues) {
  const std::vector<HeaderView> ab = {{"A", "B"}};
  const std::vector<HeaderView> shifted = {{"AB", ""}};
  Result result;
  result.headers = ab;
  result.has_headers = true;
  EncodedHeaders headers;
  EXPECT_FALSE(headers.matches(result));
  headers.store(result) = "text";
  EXPECT_TRUE(headers.matches(result));
  EXPECT_EQ(headers.text(), "text");
  result.headers = shifted;
  EXPECT_FALSE(headers.matches(result));
  result.headers = {};
  EXPECT_FALSE(headers.matches(result));
  headers.store(result);
  result.has_headers = false;
  EXPECT_FALSE(headers.matches(result));
}

}  // namespace
}  // namespace pepe
