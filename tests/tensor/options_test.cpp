// TensorOptions, dtypes as values, and memory formats.
#include "tests/support.h"

namespace gradus {
namespace {

TEST(Options, EveryPartMayBeGivenOrLeftOut) {
  const TensorOptions nothing;
  EXPECT_EQ(nothing.dtype(), kFloat);
  EXPECT_EQ(nothing.device(), Device(kCPU));
  EXPECT_EQ(nothing.layout(), kStrided);
  EXPECT_FALSE(nothing.has_dtype() || nothing.has_device() || nothing.has_layout() ||
               nothing.has_requires_grad() || nothing.has_pinned_memory());
  const TensorOptions all = dtype<double>()
                                .device(kCUDA, 1)
                                .layout(kStrided)
                                .requires_grad(true)
                                .pinned_memory(true)
                                .memory_format(MemoryFormat::Contiguous);
  EXPECT_EQ(all.dtype(), kDouble);
  EXPECT_EQ(all.device(), Device("cuda:1"));
  EXPECT_EQ(all.device_index(), 1);
  EXPECT_TRUE(all.has_layout() && all.requires_grad() && all.pinned_memory());
  EXPECT_EQ(all.memory_format_opt(), MemoryFormat::Contiguous);
  EXPECT_EQ(TensorOptions().device_index(2).device(), Device(kCUDA, 2));
  EXPECT_EQ(TensorOptions("cpu").device(), Device(kCPU));
}

TEST(Options, MergeTakesWhatTheOtherSays) {
  const TensorOptions merged = dtype(kLong).requires_grad(false).merge_in(dtype(kDouble));
  EXPECT_EQ(merged.dtype(), kDouble);
  EXPECT_TRUE(merged.has_requires_grad());
  EXPECT_FALSE(merged.has_device());
  EXPECT_EQ(dtype(kLong).merge_in({}).dtype(), kLong);
}

TEST(Options, PrintAsInLibtorch) {
  std::ostringstream out;
  out << dtype(kInt).device(kCUDA, 1);
  EXPECT_EQ(out.str(),
            "TensorOptions(dtype=int, device=cuda:1, layout=Strided (default), "
            "requires_grad=false (default), pinned_memory=false (default), "
            "memory_format=(nullopt))");
}

TEST(Options, RefuseWhatThereIsNot) {
  expect_error<NotImplementedError>([] { zeros({2}, layout(kSparse)); }, "layout Sparse");
  if (!cuda::is_available())
    expect_error<Error>([] { zeros({2}, TensorOptions().pinned_memory(true)); },
                        cuda::why_unavailable());
}

TEST(Dtypes, KnowTheirNames) {
  std::ostringstream out;
  for (ScalarType dtype :
       {kBool, kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble})
    out << zeros({1}, dtype).dtype() << ' ' << dtype << '\n';
  EXPECT_EQ(out.str(),
            "bool Bool\nunsigned char Byte\nsigned char Char\nshort int Short\nint Int\n"
            "long int Long\nc10::Half Half\nc10::BFloat16 BFloat16\nfloat Float\ndouble Double\n");
  const TypeMeta type = ones({1}, kLong).dtype();
  EXPECT_TRUE(type == kLong && kLong == type && type != kInt && type == TypeMeta(kLong));
  EXPECT_TRUE(type.Match<int64_t>() && type.isScalarType(kLong));
  EXPECT_EQ(type.itemsize(), 8u);
  EXPECT_EQ(typeMetaToScalarType(type), kLong);
  EXPECT_EQ(zeros({1}, type).to(ones({1}).dtype()).dtype(), TypeMeta::Make<float>());
}

TEST(Dtypes, ConvertWithShortForms) {
  const Tensor x = ones({2}, kLong);
  EXPECT_EQ(x.to(ones({1}, kDouble)).dtype(), kDouble);
  EXPECT_EQ(x.toType(kHalf).dtype(), kHalf);
  EXPECT_EQ(x.type_as(ones({1})).dtype(), kFloat);
  EXPECT_TRUE(x.to().is_same(x));
  EXPECT_FALSE(x.to(kLong, false, true).is_same(x));
  EXPECT_TRUE(x.is_signed() && !x.to(kByte).is_signed() && !x.to(kBool).is_signed());
  EXPECT_EQ(x.ndimension(), 1);
  EXPECT_EQ(x.element_size(), 8);
  EXPECT_EQ(x.nbytes(), 16u);
  EXPECT_EQ(x.get_device(), -1);
  EXPECT_TRUE(x.is_alias_of(x.view({2, 1})) && !x.is_alias_of(x.clone()));
  Tensor gone = x;
  gone.reset();
  EXPECT_FALSE(gone.defined());
}

}  // namespace
}  // namespace gradus
