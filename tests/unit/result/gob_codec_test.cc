#include "result/gob_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "golden_results.h"
#include "result/gob_types.h"
#include "result/gob_wire.h"
#include "support/codec_harness.h"

namespace pepe {
namespace {

using ::testing::HasSubstr;

std::string number(std::uint64_t value) {
  std::string out;
  append_gob_uint(value, out);
  return out;
}

std::string integer(std::int64_t value) {
  std::string out;
  append_gob_int(value, out);
  return out;
}

std::string text(std::string_view value) {
  std::string out;
  append_gob_bytes(value, out);
  return out;
}

std::string message(std::int64_t id, const std::string& content) { return text(integer(id) + content); }

const std::string kEnd(1, '\0');

// The start of a definition of type `id`: the kind, then the common part with a name and the id.
std::string definition(GobType::Kind kind, std::int64_t id) {
  return number(static_cast<std::uint64_t>(kind) + 1) + number(1) + number(1) + text("T") + number(1) + integer(id) +
         kEnd;
}

std::string define_struct(std::int64_t id, const std::vector<GobField>& fields) {
  std::string out = definition(GobType::Kind::kStruct, id) + number(1) + number(fields.size());
  for (const GobField& field : fields) out += number(1) + text(field.name) + number(1) + integer(field.type) + kEnd;
  return message(-id, out + kEnd + kEnd);
}

std::string define_list(GobType::Kind kind, std::int64_t id, std::int64_t element) {
  const std::string length = kind == GobType::Kind::kArray ? number(1) + integer(2) : "";
  return message(-id, definition(kind, id) + number(1) + integer(element) + length + kEnd + kEnd);
}

std::string define_map(std::int64_t id, std::int64_t key, std::int64_t element) {
  return message(
      -id, definition(GobType::Kind::kMap, id) + number(1) + integer(key) + number(1) + integer(element) + kEnd + kEnd);
}

std::string define_opaque(GobType::Kind kind, std::int64_t id) {
  return message(-id, definition(kind, id) + kEnd + kEnd);
}

// A stream of one value: a struct with the field X of type `type`, whose bytes are `value`, and Code 201.
std::string with_unknown(std::int64_t type, const std::string& value) {
  return define_struct(90, {{"X", type}, {"Code", kGobUint}}) +
         message(90, number(1) + value + number(1) + number(201) + kEnd);
}

TEST(GobCodec, WritesWhatVegetaWrites) {
  EXPECT_EQ(encode_all(make_gob_encoder, golden_results()), golden("results.gob"));
}

TEST(GobCodec, ReadsWhatVegetaWrites) {
  const Decoded got = decode_all(make_gob_decoder, golden("results.gob"));
  EXPECT_EQ(got.error, "");
  EXPECT_EQ(got.results, golden_results());
}

TEST(GobCodec, WritesDefinitionsOnce) {
  const std::string once = encode_all(make_gob_encoder, {golden_results()[0]});
  const std::string twice = encode_all(make_gob_encoder, {golden_results()[0], golden_results()[0]});
  EXPECT_LT(twice.size(), 2 * once.size() - 150);
}

TEST(GobCodec, LosesAnEmptyBody) {
  RandomResult result = golden_results()[0];
  result.body = "";
  const Decoded got = decode_all(make_gob_decoder, encode_all(make_gob_encoder, {result}));
  ASSERT_EQ(got.results.size(), 1U);
  EXPECT_EQ(got.results[0].body, std::nullopt);
}

TEST(GobCodec, GroupsTheValuesOfAName) {
  RandomResult result;
  result.has_headers = true;
  result.headers = {{"B", "1"}, {"A", "2"}, {"B", "3"}};
  const Decoded got = decode_all(make_gob_decoder, encode_all(make_gob_encoder, {result}));
  const std::vector<std::pair<std::string, std::string>> want = {{"B", "1"}, {"B", "3"}, {"A", "2"}};
  ASSERT_EQ(got.results.size(), 1U);
  EXPECT_EQ(got.results[0].headers, want);
}

TEST(GobCodec, ReadsJoinedStreams) {
  const std::string other = define_struct(64, {{"Seq", kGobUint}}) + message(64, number(1) + number(7) + kEnd);
  const Decoded got = decode_all(make_gob_decoder, golden("results.gob") + other + golden("results.gob"));
  EXPECT_EQ(got.error, "");
  ASSERT_EQ(got.results.size(), 9U);
  EXPECT_EQ(got.results[4].seq, 7U);
  EXPECT_EQ(got.results[8], golden_results()[3]);
}

TEST(GobCodec, ReadsFieldsByName) {
  const std::string bytes = define_list(GobType::Kind::kSlice, 2000, kGobString) + define_map(300, kGobString, 2000) +
                            define_struct(70, {{"Headers", 300}, {"Latency", kGobInt}, {"Attack", kGobString}}) +
                            message(70, number(1) + number(1) + text("A") + number(2) + text("x") + text("y") +
                                            number(1) + integer(-5) + number(1) + text("name") + kEnd);
  const Decoded got = decode_all(make_gob_decoder, bytes);
  EXPECT_EQ(got.error, "");
  ASSERT_EQ(got.results.size(), 1U);
  RandomResult want;
  want.attack = "name";
  want.latency = Nanos{-5};
  want.timestamp.unix_nanos = kZeroTime;
  want.has_headers = true;
  want.headers = {{"A", "x"}, {"A", "y"}};
  EXPECT_EQ(got.results[0], want);
}

TEST(GobCodec, ReadsTheSecondFormOfTime) {
  const std::string time{"\x02\0\0\0\x0e\xdc\xef\x22\x80\0\0\0\x07\x01\x4a\x1e", 16};
  const Decoded got =
      decode_all(make_gob_decoder, define_opaque(GobType::Kind::kBinary, 80) + define_struct(81, {{"Timestamp", 80}}) +
                                       message(81, number(1) + text(time) + kEnd));
  EXPECT_EQ(got.error, "");
  ASSERT_EQ(got.results.size(), 1U);
  EXPECT_EQ(got.results[0].timestamp, (Timestamp{1'700'604'800'000'000'007, 330}));
}

TEST(GobCodec, LeavesHeadersOutWhenTheyAreNotWanted) {
  const Decoded got = decode_all(make_gob_decoder, golden("results.gob"), std::string_view::npos, {false, false});
  EXPECT_EQ(got.error, "");
  ASSERT_EQ(got.results.size(), 4U);
  EXPECT_TRUE(got.results[0].headers.empty());
  EXPECT_EQ(got.results[0].bytes_in, 5U);
}

struct SkipCase {
  const char* name;
  std::string definitions;
  std::int64_t type;
  std::string value;
};

class GobSkips : public ::testing::TestWithParam<SkipCase> {};

TEST_P(GobSkips, AnUnknownField) {
  const SkipCase& row = GetParam();
  const Decoded got = decode_all(make_gob_decoder, row.definitions + with_unknown(row.type, row.value));
  EXPECT_EQ(got.error, "");
  ASSERT_EQ(got.results.size(), 1U);
  EXPECT_EQ(got.results[0].code, 201);
}

INSTANTIATE_TEST_SUITE_P(
    OfEveryKind, GobSkips,
    ::testing::Values(
        SkipCase{"Bool", "", kGobBool, number(1)}, SkipCase{"Int", "", kGobInt, integer(-70000)},
        SkipCase{"Uint", "", kGobUint, number(UINT64_MAX)}, SkipCase{"Float", "", kGobFloat, "\xfe\xf8\x3f"},
        SkipCase{"Bytes", "", kGobBytes, text("b")}, SkipCase{"String", "", kGobString, text("s")},
        SkipCase{"Complex", "", kGobComplex, number(300) + number(1)},
        SkipCase{"Array", define_list(GobType::Kind::kArray, 70, kGobInt), 70, number(2) + integer(1) + integer(-300)},
        SkipCase{"Slice", define_list(GobType::Kind::kSlice, 70, kGobString), 70, number(2) + text("a") + text("")},
        SkipCase{"Map", define_map(70, kGobString, kGobUint), 70, number(1) + text("k") + number(1)},
        SkipCase{"Struct", define_struct(70, {{"A", kGobInt}, {"B", kGobString}}), 70, number(2) + text("b") + kEnd},
        SkipCase{"SliceOfMaps", define_map(70, kGobString, kGobBool) + define_list(GobType::Kind::kSlice, 71, 70), 71,
                 number(1) + number(1) + text("k") + number(1)},
        SkipCase{"GobEncoder", define_opaque(GobType::Kind::kGobEncoder, 70), 70, text("opaque")},
        SkipCase{"TextMarshaler", define_opaque(GobType::Kind::kText, 70), 70, text("opaque")}),
    [](const auto& row) { return row.param.name; });

struct BadCase {
  const char* name;
  std::string bytes;
  const char* want;  // Part of the error text.
};

class GobRefuses : public ::testing::TestWithParam<BadCase> {};

TEST_P(GobRefuses, WithTheReason) {
  const Decoded got = decode_all(make_gob_decoder, GetParam().bytes);
  EXPECT_THAT(got.error, HasSubstr(GetParam().want));
  EXPECT_TRUE(got.results.empty());
}

const std::string kCodeOnly = define_struct(64, {{"Code", kGobUint}});
const std::string kTimeOnly = define_opaque(GobType::Kind::kGobEncoder, 65) + define_struct(64, {{"Timestamp", 65}});
const std::string kLoop = define_struct(70, {{"Next", 70}}) + define_struct(90, {{"X", 70}, {"Code", kGobUint}});

INSTANTIATE_TEST_SUITE_P(
    Damage, GobRefuses,
    ::testing::Values(
        BadCase{"EmptyRecord", std::string(1, '\0'), "record at byte 0: an empty record"},
        BadCase{"HugeLength", "\xf8\xff\xff\xff\xff\xff\xff\xff\xff\xff\x80", "over 1 GiB"},
        BadCase{"NineByteNumber", "\xf7\x01\x01\x01\x01\x01\x01\x01\x01\x01", "a number of over 8 bytes"},
        BadCase{"HugeDefinition", number(70000) + integer(-64), "over 64 KiB"},
        BadCase{"BuiltInType", message(6, text("x")), "a type number that stands for no result"},
        BadCase{"TypeOfTheLowestNumber", number(9) + integer(std::numeric_limits<std::int64_t>::min()),
                "a type number out of range"},
        BadCase{"TypeNotDefined", message(64, kEnd), "a type that was not defined"},
        BadCase{"NoStruct", define_list(GobType::Kind::kSlice, 64, 6) + message(64, number(0)), "no struct"},
        BadCase{"ForeignStruct", define_struct(64, {{"Foo", 6}}) + message(64, kEnd), "without any field of a result"},
        BadCase{"CodeIsText", define_struct(64, {{"Code", 6}}) + message(64, kEnd), "field Code has another type"},
        BadCase{"HeadersAreText", define_struct(64, {{"Headers", 6}}) + message(64, kEnd),
                "field Headers has another type"},
        BadCase{"CodeTooLarge", kCodeOnly + message(64, number(1) + number(65536) + kEnd), "a code above 65535"},
        BadCase{"FieldNotThere", kCodeOnly + message(64, number(2) + number(1) + kEnd),
                "a field that its type does not have"},
        BadCase{"FieldFarAway", kCodeOnly + message(64, number(1ULL << 40) + kEnd), "a field number out of range"},
        BadCase{"BytesBehind", kCodeOnly + message(64, kEnd + "x"), "bytes behind a value"},
        BadCase{"ValueCut", kCodeOnly + message(64, number(1)), "beyond its record"},
        BadCase{"LyingLength", define_struct(64, {{"Error", 6}}) + message(64, number(1) + number(1ULL << 62) + kEnd),
                "beyond its record"},
        BadCase{"LyingCount", define_list(GobType::Kind::kSlice, 70, 6) + with_unknown(70, number(1ULL << 62)),
                "beyond its record"},
        BadCase{"Interface", with_unknown(kGobInterface, number(1)), "an interface value"},
        BadCase{"UnknownOfNoType", with_unknown(99, number(1)), "a type that was not defined"},
        BadCase{"NestedWithoutEnd", kLoop + message(90, number(1) + std::string(200, '\1')), "nested over 32 deep"},
        BadCase{"TimeOfUnknownForm", kTimeOnly + message(64, number(1) + text("\x07") + kEnd),
                "a time of an unknown form"},
        BadCase{
            "TimeOutOfRange",
            kTimeOnly + message(64, number(1) + text("\x01" + std::string(14, '\0').replace(0, 8, 8, '\x7f')) + kEnd),
            "1678 to 2262"},
        BadCase{"ZoneOfDays",
                kTimeOnly + message(64, number(1) + text("\x01" + std::string(12, '\0') + "\x05\xa0") + kEnd),
                "over a day"},
        BadCase{"UnknownKind", message(-64, number(9) + kEnd), "a type definition of an unknown kind"},
        BadCase{"TooManyFields", define_struct(64, std::vector<GobField>(257, {"A", 6})), "over 256 fields"},
        BadCase{"BytesBehindDefinition", message(-64, definition(GobType::Kind::kGobEncoder, 64) + kEnd + kEnd + "x"),
                "bytes behind a type definition"}),
    [](const auto& row) { return row.param.name; });

TEST(GobCodec, BoundsTheNumberOfTypes) {
  std::string bytes;
  for (std::int64_t id = 64; id < 64 + 257; ++id) bytes += define_opaque(GobType::Kind::kText, id);
  EXPECT_THAT(decode_all(make_gob_decoder, bytes).error, HasSubstr("over 256 types"));
}

// Where the records of `bytes` end.
std::vector<std::size_t> record_ends(std::string_view bytes) {
  std::vector<std::size_t> ends;
  for (GobCursor in{bytes}; in.left() > 0;) {
    in.take_bytes();
    ends.push_back(in.used());
  }
  return ends;
}

TEST(GobCodec, GivesTheResultsInFrontOfACut) {
  const std::string bytes = golden("results.gob");
  const std::vector<std::size_t> ends = record_ends(bytes);
  ASSERT_EQ(ends.size(), 8U);  // Four definitions, four results.
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
    SCOPED_TRACE(cut);
    const Decoded got = decode_all(make_gob_decoder, std::string_view{bytes}.substr(0, cut));
    std::size_t whole = 0;
    for (const std::size_t end : ends) whole += end <= cut ? 1 : 0;
    EXPECT_EQ(got.results.size(), whole < 4 ? 0 : whole - 4);
    const bool between_records = whole > 0 && ends[whole - 1] == cut;
    EXPECT_THAT(got.error, HasSubstr(between_records ? "" : "unexpected EOF"));
    EXPECT_EQ(got.error.empty(), between_records);
  }
}

struct DetectCase {
  const char* name;
  std::string head;
  bool at_end;
  CodecEntry::Match want;
};

TEST(GobCodec, IsDetectedByItsFirstDefinition) {
  const std::string whole = golden("results.gob");
  const DetectCase cases[] = {
      {"Whole", whole, true, CodecEntry::Match::kYes},
      {"FirstDefinition", whole.substr(0, 152), false, CodecEntry::Match::kYes},
      {"PartOfIt", whole.substr(0, 100), false, CodecEntry::Match::kNeedMore},
      {"PartOfItAndNoMore", whole.substr(0, 100), true, CodecEntry::Match::kNo},
      {"Nothing", "", true, CodecEntry::Match::kNo},
      {"NothingYet", "", false, CodecEntry::Match::kNeedMore},
      {"Json", golden("results.json"), true, CodecEntry::Match::kNo},
      {"Csv", golden("results.csv"), true, CodecEntry::Match::kNo},
      {"Text", "GET http://127.0.0.1/", false, CodecEntry::Match::kNo},
  };
  for (const DetectCase& row : cases) EXPECT_EQ(detect_gob(row.head, row.at_end), row.want) << row.name;
}

}  // namespace
}  // namespace pepe
