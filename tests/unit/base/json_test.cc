#include "pepe/base/json.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace pepe {
namespace {

struct StringCase {
  const char* name;
  std::string text;
  std::string want;
};

const StringCase kStrings[] = {
    {"Empty", "", R"("")"},
    {"QuotesAndBackslashes", R"(a"b\c)", R"("a\"b\\c")"},
    {"Controls", std::string{"\0\b\t\n\f\r\x1f\x7f", 8}, "\"\\u0000\\u0008\\t\\n\\u000c\\r\\u001f\x7f\""},
    {"HtmlSensitive", "</script>&", R"("\u003c/script\u003e\u0026")"},
    {"LineSeparators", "\u2028\u2029", R"("\u2028\u2029")"},
    {"WhatDrivesATerminal", "\u009b2J\u202e\u2066\u200f", R"("\u009b2J\u202e\u2066\u200f")"},
    {"Utf8Stays", "grüß 名 \U0001F600", "\"grüß 名 \U0001F600\""},
    {"NoUtf8", "caf\xe9\xff(", R"("caf\ufffd\ufffd(")"},
    {"CutUtf8", "\xe5\x90", R"("\ufffd\ufffd")"},
};

TEST(JsonString, IsEscapedAsByGo) {
  for (const StringCase& row : kStrings) {
    SCOPED_TRACE(row.name);
    std::string out;
    append_json_string(row.text, out);
    EXPECT_EQ(out, row.want);
  }
}

struct NumberCase {
  double value;
  const char* want;
};

constexpr NumberCase kNumbers[] = {
    {0, "0"},
    {-0.0, "0"},
    {1, "1"},
    {-1.5, "-1.5"},
    {0.5, "0.5"},
    {1.0 / 3, "0.3333333333333333"},
    {54.54545454545455, "54.54545454545455"},
    {100, "100"},
    {0.000001, "0.000001"},
    {0.00000123, "0.00000123"},
    {9.99e-7, "9.99e-7"},
    {1.3202653410437715e-8, "1.3202653410437715e-8"},
    {1e-100, "1e-100"},
    {922337203685477580.7, "922337203685477600"},
    {999999999999999999999.0, "1e+21"},
    {123456789012345680000.0, "123456789012345680000"},
    {1.5e21, "1.5e+21"},
    {1.7976931348623157e308, "1.7976931348623157e+308"},
    {5e-324, "5e-324"},
    {std::numeric_limits<double>::infinity(), "0"},
    {std::numeric_limits<double>::quiet_NaN(), "0"},
};

TEST(JsonNumber, HasTheShortestDigitsThatReadBack) {
  for (const NumberCase& row : kNumbers) {
    std::string out;
    append_json_number(row.value, out);
    EXPECT_EQ(out, row.want);
  }
}

}  // namespace
}  // namespace pepe
