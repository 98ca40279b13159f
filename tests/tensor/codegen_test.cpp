// Walks of kernels that are made at run time: joined dimensions, widths of vectors, their bytes.
#include <gtest/gtest.h>

#include <cstring>

#include "gradus/tensor/codegen/elements.h"

namespace gradus {
namespace {

using codegen::ElementsForm, codegen::vector_width, codegen::Walk;

TEST(Codegen, JoinsDimensionsThatAllTensorsWalkAsOne) {
  const Walk contiguous({2, 1, 3, 4}, {{12, 12, 4, 1}, {24, 0, 8, 2}});
  EXPECT_EQ(IntArrayRef(contiguous.sizes), IntArrayRef({24}));
  EXPECT_EQ(IntArrayRef(contiguous.strides[1]), IntArrayRef({2}));
  EXPECT_EQ(contiguous.elements(), 24);
  EXPECT_EQ(contiguous.reach(), 46);
  const Walk row({2, 3, 4}, {{12, 4, 1}, {0, 0, 1}});
  EXPECT_EQ(IntArrayRef(row.sizes), IntArrayRef({6, 4}));
  EXPECT_EQ(IntArrayRef(row.strides[1]), IntArrayRef({0, 1}));
  EXPECT_EQ(row.parameter("walk"), "const gradus::Walk<2, 2> walk");
  const Walk one({1, 1}, {{5, 7}});
  EXPECT_EQ(IntArrayRef(one.sizes), IntArrayRef({1}));
  EXPECT_EQ(Walk({3, 0}, {{1, 1}}).elements(), 0);
}

TEST(Codegen, MovesVectorsWhereNeighboursLieTogether) {
  const auto width = [](IntArrayRef sizes, const std::vector<Dims>& strides, int most = 16,
                        std::vector<size_t> bytes = {4, 4}) {
    return vector_width(Walk(sizes, strides), bytes, most);
  };
  EXPECT_EQ(width({1003}, {{1}, {1}}), 4);  // the last vector is cut short
  EXPECT_EQ(width({1003}, {{1}, {1}}, 2), 2);
  EXPECT_EQ(width({1003}, {{1}, {1}}, 16, {2, 2}), 8);
  EXPECT_EQ(width({1003}, {{1}, {1}}, 16, {2, 8}), 2);
  EXPECT_EQ(width({1003}, {{1}, {0}}, 16, {2, 8}), 8);  // one element of the second
  EXPECT_EQ(width({1003}, {{1}, {2}}), 1);
  EXPECT_EQ(width({6, 8}, {{8, 1}, {0, 1}}), 4);
  EXPECT_EQ(width({6, 6}, {{6, 1}, {0, 1}}), 2);
  EXPECT_EQ(width({6, 8}, {{9, 1}, {0, 1}}), 1);
  EXPECT_EQ(width({6, 8}, {{1, 6}, {8, 1}}), 1);
  EXPECT_EQ(vector_width(Walk({8}, {}), {}, 16), 1);
  // Rows of a walk around this one begin at multiples of a vector.
  const Walk rows({6, 1}, {{10, 1}, {0, 1}}), row({1, 8}, {{10, 1}, {0, 1}});
  EXPECT_EQ(vector_width(row, std::vector<size_t>{4, 4}, 16, &rows), 2);
}

TEST(Codegen, CountsInVectorsAndInTheWidthOfIndices) {
  const Walk walk({6, 8}, {{8, 1}, {0, 1}});
  const auto read = [](const std::vector<char>& bytes, auto type) {
    std::vector<decltype(type)> out(bytes.size() / sizeof type);
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
  };
  EXPECT_EQ(read(walk.bytes(false, 4), int32_t{}), (std::vector<int32_t>{6, 2, 8, 4, 0, 4}));
  EXPECT_EQ(read(walk.bytes(true), int64_t{}), (std::vector<int64_t>{6, 8, 8, 1, 0, 1}));
  EXPECT_FALSE(codegen::is_wide(1 << 20, 1 << 30));
  EXPECT_TRUE(codegen::is_wide(1 << 20, INT32_MAX - 1000));

  const std::vector<size_t> bytes = {4, 4};
  const ElementsForm flat(Walk({1000}, {{1}, {0}}), bytes, 16), strided(walk, bytes, 1);
  EXPECT_EQ(flat.walk, "");
  EXPECT_EQ(flat.blocks(Walk({1025}, {{1}, {0}})), 2);
  EXPECT_NE(strided.walk, "");
  EXPECT_NE(flat.key(), ElementsForm(Walk({1000}, {{1}, {1}}), bytes, 16).key());
  EXPECT_NE(strided.key(), ElementsForm(walk, bytes, 4).key());
  const int64_t far = int64_t{1} << 31;
  EXPECT_NE(strided.key(), ElementsForm(Walk({6, 8}, {{far, 1}, {0, 1}}), bytes, 1).key());
}

}  // namespace
}  // namespace gradus
