// The small types: ArrayRef, optional, Scalar, ScalarType, Device, TensorOptions.
#include <torch/torch.h>

#include <iostream>
#include <map>
#include <unordered_map>

static int64_t product(at::IntArrayRef sizes) {
  int64_t result = 1;
  for (const auto s : sizes) result *= s;
  return result;
}
static at::Tensor total(at::TensorList tensors) {
  at::Tensor sum = torch::zeros({});
  for (const at::Tensor& t : tensors) sum = sum + t.sum();
  return sum;
}
static std::vector<int64_t> owned(c10::ArrayRef<int64_t> list) { return list.vec(); }
static std::string name(c10::optional<std::string> given = c10::nullopt) {
  return given.has_value() ? *given : "none";
}
static double scaled(const at::Scalar& s, c10::optional<double> by = {}) {
  return s.toDouble() * by.value_or(10);
}
static at::Tensor first(torch::TensorList list) { return list.front(); }

int main() {
  const int64_t raw[] = {2, 3, 4};
  std::vector<int64_t> vector = {5, 6};
  std::array<int64_t, 2> array = {7, 8};
  at::IntArrayRef from_raw(raw), from_two(raw, raw + 2), from_size(raw, 2);
  std::cout << from_raw << from_two << from_size << at::IntArrayRef(vector)
            << at::IntArrayRef(array) << at::IntArrayRef(9) << "\n";
  std::cout << product({2, 3}) << " " << product(vector) << " " << product(array) << " "
            << product(4) << " " << product({}) << " " << owned({1, 2}).size() << "\n";
  std::cout << from_raw.front() << from_raw.back() << from_raw.at(1) << from_raw.empty()
            << from_raw.equals({2, 3, 4}) << from_raw.slice(1).equals({3, 4})
            << from_raw.slice(0, 1).size() << (*from_raw.rbegin()) << "\n";
  std::cout << (from_raw == vector) << (vector == at::IntArrayRef({5, 6}))
            << (at::IntArrayRef({1}) != at::IntArrayRef({2})) << "\n";
  try {
    from_raw.at(3);
  } catch (const std::exception&) {
    std::cout << "at refuses\n";
  }
  std::cout << c10::makeArrayRef(vector) << at::makeArrayRef(raw, 2) << "\n";

  auto a = torch::ones({2}), b = torch::full({3}, 2.0);
  std::cout << total({a, b}).item<float>() << " "
            << total(std::vector<torch::Tensor>{a}).item<float>() << " " << total({}).item<float>()
            << " " << first({b, a}).sizes() << "\n";
  std::vector<at::Tensor> list = {a, b};
  torch::TensorList tensors = list;
  std::cout << tensors.size() << tensors[1].sizes() << tensors.empty() << "\n";

  std::cout << name() << name("given") << name({}) << name(c10::make_optional<std::string>("made"))
            << "\n";
  std::cout << scaled(2) << " " << scaled(2.5, 2) << " " << scaled(true) << " "
            << scaled(torch::tensor(4).item(), c10::nullopt) << "\n";
  c10::optional<at::Tensor> maybe;
  std::cout << maybe.has_value() << (maybe ? 1 : 0);
  maybe = a;
  std::cout << maybe->sizes() << maybe.value().dim() << "\n";
  maybe = c10::nullopt;

  at::Scalar i = 3, d = 2.5, t = true;
  std::cout << i.type() << d.type() << t.type() << " " << i.isIntegral(false) << t.isIntegral(false)
            << t.isIntegral(true) << d.isFloatingPoint() << t.isBoolean() << i.isComplex() << "\n";
  std::cout << i.toInt() << i.toDouble() << d.toFloat() << i.toBool() << i.toShort() << i.toByte()
            << i.toChar() << static_cast<float>(d.toHalf()) << i.to<int32_t>() << "\n";
  std::cout << (-i).toInt() << (-d).toDouble() << i.equal(3) << i.equal(3.0) << d.equal(2) << "\n";
  for (double x : {300.0, -1.0, 1e20, 255.0}) try {
      std::cout << int(at::Scalar(x).to<uint8_t>()) << " ";
    } catch (const std::exception&) {
      std::cout << "overflow ";
    }
  std::cout << "\n";

  for (auto type : {at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf, at::kBFloat16,
                    at::kFloat, at::kDouble, at::kBool})
    std::cout << at::toString(type) << " " << c10::elementSize(type) << at::isFloatingType(type)
              << c10::isIntegralType(type, true) << c10::isSignedType(type)
              << at::isComplexType(type) << " " << c10::canCast(type, at::kLong)
              << c10::promoteTypes(type, at::kHalf) << c10::promoteTypes(at::kChar, type) << "\n";
  std::cout << c10::CppTypeToScalarType<double>::value << c10::CppTypeToScalarType<bool>::value
            << caffe2::TypeMeta::Make<float>() << c10::typeMetaToScalarType(a.dtype())
            << c10::scalarTypeToTypeMeta(at::kInt) << a.dtype().toScalarType() << "\n";
  c10::impl::ScalarTypeToCPPType<at::ScalarType::Int>::type number = 7;
  std::cout << number << (a.scalar_type() == at::ScalarType::Float)
            << (a.dtype() == torch::kFloat32) << (torch::ScalarType::Double == torch::kFloat64)
            << (a.dtype() == b.dtype()) << "\n";
  torch::Dtype dtype = torch::kInt16;
  switch (dtype) {
    case torch::kInt16:
      std::cout << "short\n";
      break;
    case torch::kInt32:
      std::cout << "int\n";
      break;
    default:
      std::cout << "other\n";
  }
  std::map<at::ScalarType, int> by_type = {{at::kFloat, 1}, {at::kLong, 2}};
  std::unordered_map<c10::Device, int> by_device = {{torch::kCPU, 1}};
  std::cout << by_type[at::kLong] << by_device[a.device()] << "\n";

  torch::Device cpu = torch::kCPU, gpu("cuda:1"), same(torch::kCUDA, 1), any(at::DeviceType::CUDA);
  std::cout << cpu << gpu << (gpu == same) << (gpu != any) << any.has_index() << int{gpu.index()}
            << cpu.type() << gpu.is_cuda() << cpu.is_cpu() << any.str() << at::kCUDA
            << int{c10::Device("cpu").index()} << "\n";
  gpu.set_index(0);
  std::cout << gpu << "\n";
  auto options = torch::TensorOptions(torch::kDouble).device(torch::kCPU, 0).layout(at::kStrided);
  std::cout << options.has_dtype() << options.has_device() << options.has_requires_grad()
            << options.requires_grad() << options.device().is_cpu() << options.dtype() << "\n";
  std::cout << torch::empty({1}, options.dtype(torch::kInt)).dtype()
            << torch::empty({1}, at::dtype<int8_t>()).dtype()
            << torch::empty({1}, a.options()).dtype()
            << torch::empty({1}, at::device(at::kCPU).dtype(at::kByte)).dtype()
            << torch::zeros({1}, "cpu").device() << "\n";
}
