// Devices, dtypes and numbers.
#include <sstream>

#include "tests/support.h"

namespace gradus {
namespace {

TEST(DeviceTag, ReadsAndWritesItsText) {
  EXPECT_EQ(Device("cpu"), Device(kCPU));
  EXPECT_EQ(Device("cuda"), Device(kCUDA));
  EXPECT_EQ(Device("cuda:3"), Device(kCUDA, 3));
  EXPECT_EQ(Device("cpu:0"), Device(kCPU));
  EXPECT_EQ(Device(kCUDA, 3).str(), "cuda:3");
  EXPECT_EQ(Device(kCUDA).str(), "cuda");
  EXPECT_FALSE(Device(kCUDA).has_index());
  EXPECT_NE(Device(kCUDA, 0), Device(kCUDA));
  Device device(kCUDA, 3);
  device.set_index(1);
  EXPECT_EQ(device, Device("cuda:1"));
  EXPECT_NE(std::hash<Device>()(device), std::hash<Device>()(Device(kCUDA)));
  std::ostringstream out;
  out << Device("cuda:1") << ' ' << kCPU;
  EXPECT_EQ(out.str(), "cuda:1 cpu");
}

TEST(DeviceTag, RefusesOtherTexts) {
  for (const char* text :
       {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda:128", "cuda 0"})
    expect_error<ValueError>([&] { Device device(text); }, "Device: \"" + std::string(text) + "\"");
  for (const char* text : {"cpu:1", "meta:1"})
    expect_error<ValueError>([&] { Device device(text); }, "there is one such device");
  expect_error<ValueError>([] { Device device(kCUDA, -2); }, "index -2 is negative");
}

TEST(Dtypes, PromoteToTheSmallestThatHoldsBoth) {
  const std::vector<ScalarType> order = {kBool, kLong, kFloat, kDouble};
  for (size_t i = 0; i < order.size(); ++i)
    for (size_t j = 0; j < order.size(); ++j)
      EXPECT_EQ(promoteTypes(order[i], order[j]), order[std::max(i, j)]);
}

TEST(Dtypes, HaveNamesAndSizes) {
  EXPECT_STREQ(toString(kFloat), "Float");
  EXPECT_EQ(short_name(kLong), "int64");
  EXPECT_EQ(element_size(kBool), 1u);
  EXPECT_EQ(element_size(kDouble), 8u);
  EXPECT_TRUE(isFloatingType(kFloat) && !isFloatingType(kLong));
  EXPECT_TRUE(isIntegralType(kLong) && !isIntegralType(kBool) && isIntegralType(kBool, true));
  EXPECT_EQ(dtype_of<double>, kDouble);
}

TEST(Dtypes, TheDefaultIsForFloatingPointAlone) {
  EXPECT_EQ(get_default_dtype(), kFloat);
  set_default_dtype(kDouble);
  EXPECT_EQ(zeros({1}).dtype(), kDouble);
  EXPECT_EQ(tensor(1.5).dtype(), kDouble);
  EXPECT_EQ((tensor(2) / 4).dtype(), kDouble);
  set_default_dtype(kFloat);
  expect_error<TypeError>([] { set_default_dtype(kLong); }, "int64 is not a floating point type");
  EXPECT_EQ(get_default_dtype(), kFloat);
}

TEST(Scalars, AreReadAsATypeThatHoldsThem) {
  EXPECT_TRUE(Scalar(255).fits<uint8_t>() && Scalar(-255).fits<uint8_t>());  // -255 wraps round
  EXPECT_FALSE(Scalar(256).fits<uint8_t>() || Scalar(-256).fits<uint8_t>());
  EXPECT_FALSE(Scalar(-1.0).fits<uint8_t>() || Scalar(-129).fits<int8_t>());
  EXPECT_TRUE(Scalar(255.0).fits<uint8_t>() && Scalar(-128).fits<int8_t>());
  EXPECT_FALSE(Scalar(0x1p63).fits<int64_t>() || Scalar(NAN).fits<int64_t>());
  EXPECT_TRUE(Scalar(-0x1p63).fits<int64_t>());
  EXPECT_TRUE(Scalar(65504).fits<Half>() && Scalar(INFINITY).fits<Half>());
  EXPECT_FALSE(Scalar(65505).fits<Half>() || Scalar(1e39).fits<float>());
  EXPECT_TRUE(Scalar(NAN).fits<float>() && Scalar(1e300).fits<bool>());
  expect_error<ValueError>([] { (void)Scalar(300).toByte(); }, "300 is beyond its limits");
  expect_error<ValueError>([] { (void)tensor(3e9).item<int>(); }, "type int without overflow");
  // libtorch's words, and what it throws.
  EXPECT_THROW((void)Scalar(1e300).toFloat(), std::runtime_error);
  expect_error<ValueError>([] { (void)Scalar(1e300).toFloat(); },
                           "value cannot be converted to type float without overflow");
  expect_error<ValueError>([] { ones({1}, kInt).pow(int64_t{1} << 40); },
                           "pow: value cannot be converted to type int without overflow");
  expect_error<ValueError>([] { full({1}, 300, kByte); }, "type uint8_t without overflow: 300");
  expect_error<ValueError>([] { ones({1}, kByte).clamp(300, 400); },
                           "clamp: value cannot be converted");
  const Tensor x = zeros({1}, kHalf);
  expect_error<ValueError>([&] { x.fill_(1e6); }, "type Half");
  EXPECT_EQ(x.item<float>(), 0);
}

TEST(Scalars, CompareNegateAndPrint) {
  EXPECT_TRUE(Scalar(3).equal(3.0) && Scalar(true).equal(true));
  EXPECT_FALSE(Scalar(3).equal(2) || Scalar(true).equal(1));
  EXPECT_EQ((-Scalar(3)).toLong(), -3);
  EXPECT_EQ((-Scalar(2.5)).toDouble(), -2.5);
  EXPECT_EQ((-Scalar(INT64_MIN)).toLong(), INT64_MIN);
  expect_error<TypeError>([] { (void)-Scalar(true); }, "boolean");
  std::ostringstream out;
  out << Scalar(2) << ' ' << Scalar(2.5) << ' ' << Scalar(true);
  EXPECT_EQ(out.str(), "2 2.5 true");
}

TEST(Scalars, KeepTheirKindAndTheirValue) {
  EXPECT_EQ(Scalar(true).type(), kBool);
  EXPECT_EQ(Scalar(int8_t{3}).type(), kLong);
  EXPECT_EQ(Scalar(1.5f).type(), kDouble);
  EXPECT_EQ(Scalar().toLong(), 0);
  EXPECT_EQ(Scalar((int64_t{1} << 62) + 1).toLong(), (int64_t{1} << 62) + 1);
  EXPECT_EQ(Scalar(-2.75).toLong(), -2);
  EXPECT_TRUE(Scalar(0.25).toBool());
  EXPECT_EQ(Scalar(true).toDouble(), 1.0);
}

}  // namespace
}  // namespace gradus
