#include "result/base64.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "pepe/base/text.h"

namespace pepe {
namespace {

TEST(Base64, ReadsWhatIsWritten) {
  std::string bytes;
  for (std::size_t size = 0; size < 600; ++size) {
    std::string text;
    append_base64(bytes, text);
    std::string out = "kept";
    ASSERT_TRUE(append_from_base64(text, out));
    ASSERT_EQ(out, "kept" + bytes);
    ASSERT_TRUE(check_base64(text));
    bytes += static_cast<char>(size * 7);
  }
}

struct Base64Case {
  const char* name;
  std::string text;
};

TEST(Base64, JudgesAsDecodeBase64Does) {
  const Base64Case cases[] = {
      {"Nothing", ""},
      {"OneLetter", "Q"},
      {"NoPadding", "QQ"},
      {"HalfPadding", "QQ="},
      {"Padded", "QQ=="},
      {"PaddedOnce", "QUI="},
      {"OnlyPadding", "===="},
      {"ThreePadding", "Q==="},
      {"PaddingInside", "QQ==QUJD"},
      {"BadLetter", "QU*D"},
      {"BadLetterLater", "QUJDQU-D"},
      {"HighBit", "QU\xffQ"},
      {"UrlAlphabet", "-_-_"},
      {"LineBreaks", "QU\r\nJD\n"},
      {"LineBreakInPadding", "QQ=\n="},
      {"Blank", "QUJD "},
      {"BadInPaddedFour", "*Q=="},
      {"PaddingThenLetter", "QQ=Q"},
  };
  for (const Base64Case& row : cases) {
    const Expected<std::string> want = decode_base64(row.text);
    std::string out;
    const Expected<void> got = append_from_base64(row.text, out);
    const Expected<void> checked = check_base64(row.text);
    ASSERT_EQ(got.has_value(), want.has_value()) << row.name;
    ASSERT_EQ(checked.has_value(), want.has_value()) << row.name;
    EXPECT_EQ(out, want ? *want : "") << row.name;
    if (!want) {
      EXPECT_EQ(got.error(), want.error()) << row.name;
    }
  }
}

TEST(Base64, JudgesEveryByteWhereverItStands) {
  for (int byte = 0; byte < 256; ++byte) {
    for (std::size_t at = 0; at < 40; ++at) {
      std::string text(40, 'A');
      text[at] = static_cast<char>(byte);
      ASSERT_EQ(check_base64(text).has_value(), decode_base64(text).has_value()) << byte << " at " << at;
    }
  }
}

}  // namespace
}  // namespace pepe
