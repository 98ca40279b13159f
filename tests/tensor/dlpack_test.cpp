// Capsules of DLPack: what they say of a tensor, whose memory it is, and what is refused.
#include "gradus/tensor/dlpack.h"
#include "tests/support.h"

namespace gradus {
namespace {

TEST(DLPack, RoundTripsShareTheMemoryAndItsGeometry) {
  for (const Device device : cpu_and_cuda())
    for (const ScalarType dtype : {kBool, kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16,
                                   kFloat, kDouble, kComplexFloat, kComplexDouble}) {
      const Tensor x = arange(24, device).to(dtype).view({2, 3, 4}).transpose(0, 2).slice(0, 1);
      const Tensor y = fromDLPack(toDLPack(x)), z = fromDLPackVersioned(toDLPackVersioned(x));
      for (const Tensor& back : {y, z}) {
        EXPECT_EQ(back.dtype(), x.dtype());
        EXPECT_EQ(back.device(), x.device());
        EXPECT_EQ(back.sizes(), x.sizes());
        EXPECT_EQ(back.strides(), x.strides());
        EXPECT_EQ(back.data_ptr(), x.data_ptr());
        EXPECT_TRUE(back.equal(x));
      }
    }
  const Tensor number = tensor(3.0);
  EXPECT_EQ(fromDLPack(toDLPack(number)).item<float>(), 3);
  EXPECT_EQ(fromDLPack(toDLPack(ones({0, 2}))).sizes(), IntArrayRef({0, 2}));
}

TEST(DLPack, CapsulesKeepMemoryUntilTheirDeleterIsCalled) {
  int64_t freed = 0;
  float data[] = {1, 2};
  const auto count = [&](void*) { ++freed; };
  DLManagedTensor* capsule = toDLPack(from_blob(data, {2}, count));
  EXPECT_EQ(freed, 0);
  EXPECT_EQ(capsule->dl_tensor.data, data);
  capsule->deleter(capsule);
  EXPECT_EQ(freed, 1);
  Tensor x = fromDLPackVersioned(toDLPackVersioned(from_blob(data, {2}, count)));
  const Tensor view = x[0];
  x.reset();
  EXPECT_EQ(freed, 1);
  EXPECT_EQ(view.item<float>(), 1);
}

TEST(DLPack, TakesOffsetsMissingStridesAndDeleters) {
  float data[] = {1, 2, 3, 4, 5, 6, 7};
  int64_t sizes[] = {2, 3};
  DLManagedTensor capsule = {};
  capsule.dl_tensor = {data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, sizes, nullptr, sizeof(float)};
  void* given = nullptr;
  {
    const Tensor x = fromDLPack(&capsule, [&](void* self) { given = self; });
    expect_values(x, {2, 3, 4, 5, 6, 7});
    EXPECT_TRUE(x.is_contiguous());
  }
  EXPECT_EQ(given, &capsule);
}

// The names of DLPack 1.0, as NumPy and PyTorch write and read them.
TEST(DLPack, NamesEveryDtype) {
  const std::tuple<ScalarType, int, int> names[] = {{kChar, kDLInt, 8},
                                                    {kShort, kDLInt, 16},
                                                    {kInt, kDLInt, 32},
                                                    {kLong, kDLInt, 64},
                                                    {kByte, kDLUInt, 8},
                                                    {kBool, kDLBool, 8},
                                                    {kHalf, kDLFloat, 16},
                                                    {kFloat, kDLFloat, 32},
                                                    {kDouble, kDLFloat, 64},
                                                    {kBFloat16, kDLBfloat, 16},
                                                    {kComplexFloat, kDLComplex, 64},
                                                    {kComplexDouble, kDLComplex, 128}};
  for (const auto& [dtype, code, bits] : names) {
    const DLDataType name = getDLDataType(ones({1}).to(dtype));
    EXPECT_EQ(name.code, code) << toString(dtype);
    EXPECT_EQ(name.bits, bits) << toString(dtype);
    EXPECT_EQ(name.lanes, 1);
    EXPECT_EQ(toScalarType(name), dtype);
  }
  for (const int bits : {16, 32, 64})
    EXPECT_THROW(toScalarType({kDLUInt, static_cast<uint8_t>(bits), 1}), TypeError);
}

// Dimensions of size 1 have the stride 1, whatever the tensor's.
TEST(DLPack, SaysWhereTheElementsLie) {
  const Tensor x = arange(24, kFloat).view({2, 3, 4}).select(1, 1).unsqueeze(0).slice(2, 1, 4, 2);
  DLManagedTensorVersioned* const capsule = toDLPackVersioned(x);
  const DLTensor& to = capsule->dl_tensor;
  EXPECT_EQ(capsule->version.major, 1u);
  EXPECT_EQ(capsule->flags, 0u);
  EXPECT_EQ(to.ndim, 3);
  EXPECT_EQ(static_cast<char*>(to.data) + to.byte_offset, x.data_ptr());
  EXPECT_EQ(std::vector<int64_t>(to.shape, to.shape + 3), (std::vector<int64_t>{1, 2, 2}));
  EXPECT_EQ(std::vector<int64_t>(to.strides, to.strides + 3), (std::vector<int64_t>{1, 12, 2}));
  capsule->flags = DLPACK_FLAG_BITMASK_IS_COPIED;
  capsule->version.minor = 7;  // a later one only adds
  expect_values(fromDLPackVersioned(capsule), {5, 7, 17, 19});
}

TEST(DLPack, RefusesNullPointers) {
  const char* what = "the capsule is null";
  expect_error<ValueError>([] { fromDLPack(nullptr); }, what);
  expect_error<ValueError>([] { fromDLPackVersioned(nullptr); }, what);
  int64_t sizes[] = {2};
  DLManagedTensor capsule = {};
  capsule.dl_tensor = {nullptr, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, sizes, nullptr, 0};
  expect_error<ValueError>([&] { fromDLPack(&capsule); }, "its data is null");
  capsule.dl_tensor.shape = nullptr;
  expect_error<ValueError>([&] { fromDLPack(&capsule); }, "its shape is null");
  sizes[0] = 0, capsule.dl_tensor.shape = sizes;
  EXPECT_EQ(fromDLPack(&capsule).numel(), 0);
}

TEST(DLPack, RefusesWhatNoTensorHas) {
  float data[] = {1, 2};
  int64_t sizes[] = {2}, back[] = {-1};
  DLManagedTensorVersioned capsule = {};
  capsule.version = {1, 0};
  capsule.dl_tensor = {data, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, sizes, nullptr, 0};
  const auto refused = [&] { fromDLPackVersioned(&capsule); };
  capsule.dl_tensor.dtype.lanes = 4;
  expect_error<TypeError>(refused, "lanes");
  capsule.dl_tensor.dtype = {kDLOpaqueHandle, 64, 1};
  expect_error<TypeError>(refused, "Unsupported type");
  capsule.dl_tensor.dtype = {kDLFloat, 32, 1};
  capsule.dl_tensor.device.device_type = kDLCUDAManaged;
  expect_error<ValueError>(refused, "Unsupported device_type: 13");
  capsule.dl_tensor.device.device_type = kDLCPU;
  capsule.dl_tensor.strides = back;
  expect_error<ValueError>(refused, "negative");
  capsule.dl_tensor.strides = nullptr;
  capsule.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  expect_error<Error>(refused, "only to be read");
  capsule.flags = 0;
  capsule.version.major = 2;
  expect_error<ValueError>(refused, "version 2.0");
  expect_error<Error>([] { toDLPack(ones({2}, requires_grad())); }, "require gradient");
  expect_error<Error>([] { toDLPack(ones({2}, kMeta)); }, "no data");
}

}  // namespace
}  // namespace gradus
