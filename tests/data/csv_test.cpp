// CSV: types, missing values, quotes, and errors with line and column.
#include "tests/data/broken_files.h"
#include "tests/support.h"

namespace gradus::data {
namespace {

constexpr const char* kHouses =
    "area, rooms,city ,price\n"
    "70.5,3,\"Bern, old town\",1e5\r\n"
    "  ,2,Basel,NA\n"
    "\n"
    "-3,4,\"say \"\"hi\"\"\",7\n";

std::string csv_error(const std::string& text, const CsvOptions& options = {}) {
  return message_of<ValueError>([&] { parse_csv(text, "t.csv", options); });
}

TEST(Csv, ReadsTypedColumns) {
  const CsvTable table = parse_csv(kHouses, "t.csv");
  EXPECT_EQ(table.rows(), 3);
  EXPECT_EQ(table.columns(), (std::vector<std::string>{"area", "rooms", "city", "price"}));
  EXPECT_EQ(table.type("area"), CsvType::kNumber);
  EXPECT_EQ(table.type("city"), CsvType::kText);
  EXPECT_EQ(table.missing("area"), 1);
  EXPECT_EQ(table.missing("rooms"), 0);
  const double nan = std::nan("");
  expect_values(table.numbers({"area", "price"}), {70.5, 1e5, nan, nan, -3, 7});
  EXPECT_EQ(table.numbers("area").scalar_type(), kFloat);
  const Tensor rooms = table.numbers("rooms", kLong);
  EXPECT_EQ(rooms.scalar_type(), kLong);
  expect_values(rooms, {3, 2, 4});
  EXPECT_EQ(table.text("city"),
            (std::vector<std::string>{"Bern, old town", "Basel", "say \"hi\""}));
  EXPECT_EQ(table.labels("city"),
            (std::vector<std::string>{"Basel", "Bern, old town", "say \"hi\""}));
  expect_values(table.classes("city", table.labels("city")), {1, 0, 2});
}

TEST(Csv, TakesOtherForms) {
  const CsvTable table =
      parse_csv("1;x\n2;-", "t.csv", CsvOptions().delimiter(';').header(false).missing({"-"}));
  EXPECT_EQ(table.columns(), (std::vector<std::string>{"0", "1"}));
  expect_values(table.numbers("0"), {1, 2});
  expect_values(table.classes("1", {"x"}), {0, -1});
  const CsvTable marked = parse_csv(
      "\xef\xbb\xbf"
      "a\n007\n",
      "t.csv", CsvOptions().types({{"a", CsvType::kText}}));
  EXPECT_EQ(marked.text("a"), (std::vector<std::string>{"007"}));
  const CsvTable quoted = parse_csv("a,b\n\"two\nlines\",1\n\"\",2\n", "t.csv");
  EXPECT_EQ(quoted.text("a"), (std::vector<std::string>{"two\nlines", ""}));
  EXPECT_EQ(quoted.missing("a"), 0);  // an empty text in quotes is one
  EXPECT_EQ(parse_csv("a,b\n", "t.csv").rows(), 0);
  expect_values(parse_csv("a\n+5\n 1e400\n-.5\n", "t.csv").numbers("a"),
                {5, std::numeric_limits<double>::infinity(), -0.5});
}

TEST(Csv, ErrorsNameLineAndColumn) {
  EXPECT_EQ(csv_error("a,b\n1,2\n1,2,3\n"),
            "parse_csv: t.csv:3:5: 3 fields, expected 2 as in the first line; quote a field that "
            "holds the delimiter");
  EXPECT_EQ(csv_error("a,b\n\n1\n"),
            "parse_csv: t.csv:3:1: 1 field, expected 2 as in the first line; quote a field that "
            "holds the delimiter");
  EXPECT_EQ(csv_error("a,b\n1,\"2\n3,4\n"),
            "parse_csv: t.csv:2:3: a quote is not closed; write \" at the end of the field");
  EXPECT_EQ(
      csv_error("a,b\n1,\"2\n3\"x\n"),
      "parse_csv: t.csv:3:3: text behind a closing quote; write \"\" for a quote within the field");
  EXPECT_EQ(csv_error("a,a\n"),
            "parse_csv: t.csv:1:3: two columns are named \"a\"; name them differently");
  EXPECT_EQ(csv_error("a,b\n1,2\n1, x\n", CsvOptions().types({{"b", CsvType::kNumber}})),
            "parse_csv: t.csv:3:3: \" x\" is no number, and the column \"b\" is to hold numbers; "
            "change it, or list it in missing");
  EXPECT_TRUE(contains(csv_error("a\n1\n", CsvOptions().types({{"c", CsvType::kText}})),
                       "types names the column \"c\""));
  EXPECT_TRUE(contains(csv_error(""), "there is no line, expected the names of columns"));
  const CsvTable table = parse_csv(kHouses, "t.csv");
  expect_error<TypeError>([&] { table.numbers("city"); },
                          "CsvTable::numbers: t.csv:2:8: \"Bern, old town\" is no number");
  expect_error<ValueError>([&] { table.numbers("area", kLong); },
                           "t.csv:2:1: 70.5 in column \"area\", which int64 does not hold");
  expect_error<ValueError>([&] { table.numbers("price", kInt); },
                           "t.csv:3:12: a missing value in column \"price\"");
  expect_error<ValueError>([&] { table.numbers("size"); },
                           "t.csv has no column \"size\"; its columns are \"area\", \"rooms\"");
  expect_error<ValueError>([&] { table.classes("city", {"Basel"}); },
                           "t.csv:2:8: \"Bern, old town\" in column \"city\" is not among");
  const auto rows = table.labels("city");
  expect_values(table.classes("city", {rows[0]}, 7), {7, 0, 7});
}

TEST(Csv, KeepsEveryWholeNumberOfADtype) {
  const auto rows_of = [](std::initializer_list<const char*> texts) {
    std::string out = "id\n";
    for (const char* const text : texts) out += std::string(text) + "\n";
    return parse_csv(out, "t.csv");
  };
  const CsvTable ids = rows_of({"1234567890123456789", "+1234567890123456790", "-9007199254740993",
                                "9223372036854775807", "-9223372036854775808", "12.0", "1e3"});
  EXPECT_TRUE(
      ids.numbers("id", kLong)
          .equal(tensor(std::vector<int64_t>{1234567890123456789, 1234567890123456790,
                                             -9007199254740993, INT64_MAX, INT64_MIN, 12, 1000})));
  const auto refused = [&](const char* text, ScalarType dtype) {
    return message_of<ValueError>([&] { rows_of({text}).numbers("id", dtype); });
  };
  const std::pair<ScalarType, std::vector<const char*>> beyond[] = {
      {kLong, {"9223372036854775808", "-9223372036854775809", "1e19", "0.5", "inf", "1e16"}},
      {kInt, {"2147483648", "-2147483649", "9007199254740993"}},
      {kShort, {"32768", "-32769"}},
      {kChar, {"128", "-129"}},
      {kByte, {"256", "-1"}},
      {kBool, {"2", "-1"}}};
  for (const auto& [dtype, texts] : beyond)
    for (const char* const text : texts)
      EXPECT_TRUE(contains(refused(text, dtype), std::string("t.csv:2:1: ") + text))
          << dtype << text;
  const std::pair<ScalarType, std::vector<const char*>> bounds[] = {
      {kInt, {"2147483647", "-2147483648"}},
      {kShort, {"32767", "-32768"}},
      {kChar, {"127", "-128"}},
      {kByte, {"255", "0"}},
      {kBool, {"1", "0"}}};
  for (const auto& [dtype, texts] : bounds)
    EXPECT_EQ(rows_of({texts[0], texts[1]}).numbers("id", dtype).to(kLong)[1].item<int64_t>(),
              std::stoll(texts[1]));
}

TEST(Csv, SaysWhatIsNoNumber) {
  const auto refused = [](const std::string& text) {
    const auto table = parse_csv("a;b\n1;" + text + "\n", "t.csv", CsvOptions().delimiter(';'));
    EXPECT_EQ(table.type("b"), CsvType::kText) << text;
    expect_error<ValueError>(
        [&] {
          parse_csv("b\n" + text + "\n", "t.csv",
                    CsvOptions().delimiter(';').types({{"b", CsvType::kNumber}}));
        },
        " is ");
    return message_of<TypeError>([&] { table.numbers("b"); });
  };
  for (const char* date :
       {"2024-01-31", "31.1.2024", "1/31/2024", "2024-01-31 12:30", "2024-01-31T12:30:00Z"})
    EXPECT_TRUE(contains(refused(date), std::string("t.csv:2:3: \"") + date + "\" is a date"));
  for (const char* comma : {"3,5", "-3,5", ",5", "1.000,5"})
    EXPECT_TRUE(contains(refused(comma), std::string("\"") + comma + "\" has a decimal comma"));
  for (const char* text : {"x", "1-2", "1.2.x", "1,2,3", "12:30"})
    EXPECT_TRUE(contains(refused(text), "\" is no number, and column \"b\" is text")) << text;
}

TEST(Csv, TakesEveryEndOfALine) {
  for (const char* const end : {"\n", "\r\n", "\r"}) {
    const std::string n = end;
    const auto table = parse_csv("a,b" + n + "1,\"x" + n + "y\"" + n + n + "2,z", "t.csv");
    expect_values(table.numbers("a"), {1, 2});
    EXPECT_EQ(table.text("b"), (std::vector<std::string>{"x" + n + "y", "z"}));
    EXPECT_TRUE(contains(csv_error("a,b" + n + "1,2" + n + "1" + n), "t.csv:3:1: 1 field"));
  }
}

TEST(Csv, ATableOfNamesAloneHasNoRows) {
  const CsvTable table = parse_csv("a,b\n", "t.csv", CsvOptions().types({{"b", CsvType::kText}}));
  EXPECT_EQ(table.rows(), 0);
  EXPECT_EQ(table.numbers("a").sizes(), IntArrayRef({0}));
  EXPECT_EQ(table.numbers({"a", "a"}, kLong).sizes(), IntArrayRef({0, 2}));
  EXPECT_EQ(table.classes("b", {}).sizes(), IntArrayRef({0}));
  EXPECT_TRUE(table.labels("b").empty());
  expect_error<TypeError>([&] { table.numbers("b"); },
                          "t.csv: \"\" is no number, and column \"b\" is text");
}

TEST(Csv, ReadsFilesPlainOrGzip) {
  const TemporaryFolder folder;
  const std::string text = kHouses;
  const Bytes bytes(text.begin(), text.end());
  for (const auto& path : {folder.write("a.csv", bytes), folder.write("a.csv.gz", gzip(bytes))})
    expect_values(read_csv(path).numbers("rooms"), {3, 2, 4});
  EXPECT_TRUE(
      contains(message_of<Error>([&] { read_csv(folder / "b.csv"); }), "there is no such file"));
}

}  // namespace
}  // namespace gradus::data
