// Constants of formulas_avx512.inc: one of 32, or 16, for each interval of a function's argument.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace gradus::cpu::avx512 {

// tanh(c + t) = a0 + a1 t + ... + a4 t^4, minimax. The centres c are those near the middle of an
// interval whose tanh is almost a float. Interval i has the bits of |x| + 0.64 whose five from bit
// 20 on are i.
inline constexpr float kTanhCentre[] = {0x1.7c68dep+0f,
                                        0x1.bc0eb6p+0f,
                                        0x1.fde506p+0f,
                                        0x1.1d4c2ap+1f,
                                        0x1.3d92b6p+1f,
                                        0x1.5d562ap+1f,
                                        0x1.7ef156p+1f,
                                        0x1.9d3e92p+1f,
                                        0x1.cede5ap+1f,
                                        0x1.07656ap+2f,
                                        0x1.26388ep+2f,
                                        0x1.475796p+2f,
                                        0x1.67057ap+2f,
                                        0x1.878482p+2f,
                                        0x1.a77faap+2f,
                                        0x1.c62e8ep+2f,
                                        0x1.f703fep+2f,
                                        0x1.159e8p+3f,
                                        0,
                                        0x1.443d46p-4f,
                                        0x1.1def2ap-3f,
                                        0x1.9e81dep-3f,
                                        0x1.12336p-2f,
                                        0x1.50d998p-2f,
                                        0x1.ae1b36p-2f,
                                        0x1.1818bcp-1f,
                                        0x1.5872bcp-1f,
                                        0x1.9881bcp-1f,
                                        0x1.d8898cp-1f,
                                        0x1.0c36dep+0f,
                                        0x1.2c27a2p+0f,
                                        0x1.4bb6e6p+0f};
inline constexpr float kTanh0[] = {0x1.ce1f28p-1f,
                                   0x1.e112ep-1f,
                                   0x1.ed4842p-1f,
                                   0x1.f4450ap-1f,
                                   0x1.f8e22cp-1f,
                                   0x1.fba7e4p-1f,
                                   0x1.fd6d0cp-1f,
                                   0x1.fe653p-1f,
                                   0x1.ff42a6p-1f,
                                   0x1.ffba3ap-1f,
                                   0x1.ffe55ep-1f,
                                   0x1.fff68ap-1f,
                                   0x1.fffc7cp-1f,
                                   0x1.fffebap-1f,
                                   0x1.ffff88p-1f,
                                   0x1.ffffd2p-1f,
                                   0x1.fffff6p-1f,
                                   0x1.fffffep-1f,
                                   0,
                                   0x1.439054p-4f,
                                   0x1.1c173ap-3f,
                                   0x1.98f044p-3f,
                                   0x1.0bd466p-2f,
                                   0x1.453418p-2f,
                                   0x1.967a9ap-2f,
                                   0x1.fe46ap-2f,
                                   0x1.2c6f3cp-1f,
                                   0x1.535ff2p-1f,
                                   0x1.745dc6p-1f,
                                   0x1.8fd422p-1f,
                                   0x1.a66efcp-1f,
                                   0x1.b8a42cp-1f};
inline constexpr float kTanh1[] = {
    0x1.7b972ep-3f,  0x1.dfdffep-4f,  0x1.26021ep-4f,  0x1.73115ap-5f,  0x1.c449cap-6f,
    0x1.14d878p-6f,  0x1.48a546p-7f,  0x1.9a2a44p-8f,  0x1.7a5f7p-9f,   0x1.16fa14p-10f,
    0x1.aa048cp-12f, 0x1.2eb138p-13f, 0x1.c1ec08p-15f, 0x1.45f2aap-16f, 0x1.dfecbp-18f,
    0x1.6ff18cp-19f, 0x1.3f2f74p-21f, 0x1.f49856p-24f, 0x1p+0f,         0x1.fcce14p-1f,
    0x1.f625e2p-1f,  0x1.eb960ap-1f,  0x1.dcf968p-1f,  0x1.cc5c56p-1f,  0x1.af52dcp-1f,
    0x1.80dc56p-1f,  0x1.4fb598p-1f,  0x1.1f0c6ap-1f,  0x1.e25f68p-2f,  0x1.8f891cp-2f,
    0x1.46edf2p-2f,  0x1.098b44p-2f};
inline constexpr float kTanh2[] = {
    -0x1.569d1ap-3f,  -0x1.c2e442p-4f,  -0x1.1b4152p-4f,  -0x1.6a93a8p-5f,  -0x1.be030ep-6f,
    -0x1.128182p-6f,  -0x1.46fb54p-7f,  -0x1.98e56p-8f,   -0x1.79c912p-9f,  -0x1.16cd3ap-10f,
    -0x1.aa1462p-12f, -0x1.2ea5d2p-13f, -0x1.c1ef16p-15f, -0x1.45e458p-16f, -0x1.dfd946p-18f,
    -0x1.701744p-19f, -0x1.3f6d9p-21f,  -0x1.22c988p-25f, 0x1.34110ap-19f,  -0x1.418aa8p-4f,
    -0x1.16a026p-3f,  -0x1.88a266p-3f,  -0x1.f30388p-3f,  -0x1.24677p-2f,   -0x1.566de8p-2f,
    -0x1.7f90bcp-2f,  -0x1.89faap-2f,   -0x1.7c890ep-2f,  -0x1.5ed1a8p-2f,  -0x1.3800d6p-2f,
    -0x1.0dbcf6p-2f,  -0x1.c9118ap-3f};
inline constexpr float kTanh3[] = {
    0x1.6d26a6p-4f,  0x1.07f8eap-4f,  0x1.5e892ap-5f,  0x1.ce66b2p-6f,  0x1.21f6fep-6f,
    0x1.68fecep-7f,  0x1.b11e8p-8f,   0x1.0fdb56p-8f,  0x1.fdfa3cp-10f, 0x1.791d9cp-11f,
    0x1.202b5p-12f,  0x1.99ca0ap-14f, 0x1.30a6cp-15f,  0x1.b95626p-17f, 0x1.44ec46p-18f,
    0x1.f223e2p-20f, 0x1.c59348p-22f, 0x1.5811bap-24f, -0x1.55a7c8p-2f, -0x1.4cb522p-2f,
    -0x1.3b4644p-2f, -0x1.20705ep-2f, -0x1.f94f46p-3f, -0x1.ac04d4p-3f, -0x1.2f39dep-3f,
    -0x1.06802p-4f,  0x1.c3df64p-8f,  0x1.e47862p-5f,  0x1.784f9ap-4f,  0x1.b90abep-4f,
    0x1.c5c10cp-4f,  0x1.b06046p-4f};
inline constexpr float kTanh4[] = {
    -0x1.9236dap-6f,  -0x1.84e90cp-6f, -0x1.2acaecp-6f,  -0x1.9ead5p-7f,   -0x1.0f9afcp-7f,
    -0x1.59012p-8f,   -0x1.ad2618p-9f, -0x1.093a34p-9f,  -0x1.ffc04ap-11f, -0x1.7b7d16p-12f,
    -0x1.18f196p-13f, -0x1.9c85p-15f,  -0x1.2fed4ap-16f, -0x1.bedd3ep-18f, -0x1.48d21p-19f,
    -0x1.e505fep-21f, -0x1.c23fep-23f, -0x1.72f2bep-21f, 0x1.851002p-7f,   0x1.a0a78cp-5f,
    0x1.6cf16cp-4f,   0x1.ee4624p-4f,  0x1.2891fcp-3f,   0x1.4a9aap-3f,    0x1.5bf6c6p-3f,
    0x1.410d9p-3f,    0x1.fbd564p-4f,  0x1.5a9218p-4f,   0x1.839d58p-5f,   0x1.1c6128p-6f,
    -0x1.defe2p-9f,   -0x1.0f2764p-6f};

// Interval i of log begins at 1 + i / 32. r is about the reciprocal of its middle and -log2(r) a
// multiple of 2^-16, but for 2^-31 or less: so that the sum with an exponent is exact.
inline constexpr float kLogReciprocal[] = {
    0x1p+0f,        0x1.eb278ap-1f, 0x1.e0af9ap-1f, 0x1.cd2144p-1f, 0x1.c13ad4p-1f, 0x1.b43ee8p-1f,
    0x1.aa94fap-1f, 0x1.9e356ap-1f, 0x1.94d71ep-1f, 0x1.8d8568p-1f, 0x1.824d18p-1f, 0x1.763568p-1f,
    0x1.6eef3ap-1f, 0x1.669416p-1f, 0x1.6166c6p-1f, 0x1.5a296cp-1f, 0x1.507ccep-1f, 0x1.4b0176p-1f,
    0x1.446c7ep-1f, 0x1.3feb5p-1f,  0x1.3703b6p-1f, 0x1.327ebap-1f, 0x1.2ba1f2p-1f, 0x1.260f58p-1f,
    0x1.208c56p-1f, 0x1.1b4a1ep-1f, 0x1.161faep-1f, 0x1.11d542p-1f, 0x1.0fcc7ep-1f, 0x1.093984p-1f,
    0x1.061eeep-1f, 0x1p-1f};
inline constexpr float kLogOctaves[] = {
    0x0p+0f,      0x1.eb4p-5f,  0x1.74fp-4f,  0x1.353p-3f,  0x1.827p-3f,  0x1.d918p-3f,
    0x1.0da4p-2f, 0x1.392p-2f,  0x1.5aecp-2f, 0x1.75ep-2f,  0x1.a02cp-2f, 0x1.cf28p-2f,
    0x1.ec28p-2f, 0x1.0718p-1f, 0x1.11d6p-1f, 0x1.212p-1f,  0x1.361p-1f,  0x1.4232p-1f,
    0x1.5108p-1f, 0x1.5b5cp-1f, 0x1.7036p-1f, 0x1.7b06p-1f, 0x1.8bcp-1f,  0x1.999ep-1f,
    0x1.a798p-1f, 0x1.b52ep-1f, 0x1.c2c6p-1f, 0x1.ce42p-1f, 0x1.d3c4p-1f, 0x1.e5dap-1f,
    0x1.ee8cp-1f, 0x1p+0f};

// sin(i pi / 16) for one and a half turns, from that of a quarter; and what it lacks.
constexpr std::array<float, 48> all_turns(const float (&quarter)[9]) {
  std::array<float, 48> out{};
  for (size_t i = 0; i < out.size(); ++i) {
    const float sine = quarter[i % 16 <= 8 ? i % 16 : 16 - i % 16];
    out[i] = i % 32 > 16 ? -sine : sine;
  }
  return out;
}
inline constexpr auto kSine =
    all_turns({0, 0x1.8f8b84p-3f, 0x1.87de2ap-2f, 0x1.1c73b4p-1f, 0x1.6a09e6p-1f, 0x1.a9b662p-1f,
               0x1.d906bcp-1f, 0x1.f6297cp-1f, 0x1p+0f});
inline constexpr auto kSineRest =
    all_turns({0, -0x1.9d84e6p-29f, 0x1.abaa58p-28f, -0x1.9465cep-27f, 0x1.9fcef4p-27f,
               0x1.21d434p-26f, 0x1.e651a8p-26f, 0x1.feeb96p-26f, 0});

// 1 - Phi(k w + t) = a0 + a1 t + ... + a4 t^4, where Phi is the share of a normal distribution
// below a number, w = 23/128, |t| <= w / 2 and k < 32. Interpolation at Chebyshev's nodes gives 0.1
// units of the last place of 1.
inline constexpr float kNormalTail0[] = {
    0x1p-1f,         0x1.b6fcdcp-2f,  0x1.704ap-2f,    0x1.2ep-2f,      0x1.e3a14ap-3f,
    0x1.79cea6p-3f,  0x1.1fb8bp-3f,   0x1.aaecdap-4f,  0x1.34612cp-4f,  0x1.b182fep-5f,
    0x1.285e34p-5f,  0x1.89f65cp-6f,  0x1.fcf47cp-7f,  0x1.3f65dcp-7f,  0x1.855abap-8f,
    0x1.ccddd2p-9f,  0x1.08c89p-9f,   0x1.274c8p-10f,  0x1.3f93eep-11f, 0x1.4f8de2p-12f,
    0x1.55c93cp-13f, 0x1.51ab8p-14f,  0x1.438958p-15f, 0x1.2c9b4ep-16f, 0x1.0ed0e2p-17f,
    0x1.d91608p-19f, 0x1.9096f6p-20f, 0x1.48d046p-21f, 0x1.059cfp-22f,  0x1.937ceep-24f,
    0x1.2d9012p-25f, 0x1.b4dac6p-27f};
inline constexpr float kNormalTail1[] = {
    -0x1.988446p-2f,  -0x1.91f982p-2f,  -0x1.7ef86cp-2f,  -0x1.6145aep-2f,  -0x1.3b85f6p-2f,
    -0x1.10dabep-2f,  -0x1.c8eb08p-3f,  -0x1.726b48p-3f,  -0x1.22c112p-3f,  -0x1.b9f168p-4f,
    -0x1.4533e6p-4f,  -0x1.cf64acp-5f,  -0x1.3fa9dp-5f,   -0x1.ab03eep-6f,  -0x1.1425dcp-6f,
    -0x1.59d162p-7f,  -0x1.a34e4p-8f,   -0x1.ec41aap-9f,  -0x1.17c4dep-9f,  -0x1.33e764p-10f,
    -0x1.4819f6p-11f, -0x1.5283ecp-12f, -0x1.5229bp-13f,  -0x1.4713d8p-14f, -0x1.324dd4p-15f,
    -0x1.15bc5ep-16f, -0x1.e7a944p-18f, -0x1.9e869ap-19f, -0x1.5529bcp-20f, -0x1.0fdccep-21f,
    -0x1.a382e2p-23f, -0x1.3963c6p-24f};
inline constexpr float kNormalTail2[] = {
    0x0p+0f,         0x1.20eb4ep-5f,  0x1.134286p-4f,  0x1.7cdf14p-4f,  0x1.c5908p-4f,
    0x1.ea48f8p-4f,  0x1.ec9d4ep-4f,  0x1.d1eadap-4f,  0x1.a1f574p-4f,  0x1.655a22p-4f,
    0x1.242c94p-4f,  0x1.c9f672p-5f,  0x1.58a314p-5f,  0x1.f2bdaap-6f,  0x1.5b57bep-6f,
    0x1.d20b76p-7f,  0x1.2d6086p-7f,  0x1.77eca6p-8f,  0x1.c47138p-9f,  0x1.06cda8p-9f,
    0x1.26c848p-10f, 0x1.3f58c6p-11f, 0x1.4e34eep-12f, 0x1.51f22ap-13f, 0x1.4a3e7cp-14f,
    0x1.37ebfap-15f, 0x1.1ccc8ap-16f, 0x1.f6ccfp-18f,  0x1.ad2532p-19f, 0x1.62309ap-20f,
    0x1.1ab3aap-21f, 0x1.b47612p-23f};
inline constexpr float kNormalTail3[] = {
    0x1.0feeccp-4f,   0x1.02f396p-4f,   0x1.bc1a46p-5f,   0x1.4dd5ep-5f,    0x1.96a86ap-6f,
    0x1.19746ep-7f,   -0x1.886b0cp-8f,  -0x1.1e7f64p-6f,  -0x1.9c69e2p-6f,  -0x1.db0ae4p-6f,
    -0x1.e28c5ep-6f,  -0x1.c097d2p-6f,  -0x1.84af3ap-6f,  -0x1.3d2c88p-6f,  -0x1.eab54cp-7f,
    -0x1.696decp-7f,  -0x1.fc8528p-8f,  -0x1.5675f6p-8f,  -0x1.ba545ap-9f,  -0x1.124f44p-9f,
    -0x1.470eb2p-10f, -0x1.772ef4p-11f, -0x1.9e647ap-12f, -0x1.b8f302p-13f, -0x1.c443dcp-14f,
    -0x1.bf504p-15f,  -0x1.aac826p-16f, -0x1.88edcep-17f, -0x1.5d2fc8p-18f, -0x1.2b99ep-19f,
    -0x1.f0791p-21f,  -0x1.8d514ep-22f};
inline constexpr float kNormalTail4[] = {
    0x0p+0f,         -0x1.1d55bep-7f, -0x1.06fcaap-6f, -0x1.5775b8p-6f, -0x1.76f28cp-6f,
    -0x1.65f37cp-6f, -0x1.2d7d4ep-6f, -0x1.b83e22p-7f, -0x1.04441ap-7f, -0x1.6ffafp-9f,
    0x1.60dfe2p-10f, 0x1.13f32cp-8f,  0x1.7a33f6p-8f,  0x1.97daf4p-8f,  0x1.810a64p-8f,
    0x1.4b2146p-8f,  0x1.08803p-8f,   0x1.8cdacp-9f,   0x1.199072p-9f,  0x1.7ba2b4p-10f,
    0x1.e8003cp-11f, 0x1.2bc42p-11f,  0x1.60a42p-12f,  0x1.8dd186p-13f, 0x1.aee094p-14f,
    0x1.c07f0ap-15f, 0x1.c1008ap-16f, 0x1.b0a098p-17f, 0x1.916c76p-18f, 0x1.66dcbp-19f,
    0x1.3538f2p-20f, 0x1.00eac8p-21f};

// Some processors take a hundred times as long for a sum with a subnormal number.
template <int n>
constexpr bool has_no_subnormal(const float (&x)[n]) {
  for (const float value : x)
    if (value != 0 && value < 0x1p-126f && value > -0x1p-126f) return false;
  return true;
}
static_assert(has_no_subnormal(kNormalTail0) && has_no_subnormal(kNormalTail1) &&
              has_no_subnormal(kNormalTail2) && has_no_subnormal(kNormalTail3) &&
              has_no_subnormal(kNormalTail4));

// 2^(j/16), and the logarithm of the factor that it lacks.
inline constexpr float kPower[] = {0x1p+0f,        0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f,
                                   0x1.306fep+0f,  0x1.3dea64p+0f, 0x1.4bfdaep+0f, 0x1.5ab07ep+0f,
                                   0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f,
                                   0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f};
inline constexpr float kPowerRest[] = {
    0x0p+0f,          0x1.8d96d4p-25f,  -0x1.9c0c22p-27f, 0x1.964902p-25f,
    0x1.125002p-25f,  0x1.370be4p-25f,  -0x1.0a3552p-25f, -0x1.00d8acp-27f,
    0x1.26055cp-26f,  -0x1.05cb44p-25f, 0x1.67a1cap-28f,  0x1.a3b5e4p-28f,
    -0x1.f9c306p-27f, -0x1.6961b4p-28f, -0x1.a5217cp-28f, 0x1.61428ep-28f};

// Bits to which those of 16 i + j, shifted by 19, are added. i comes to the exponent; the j that
// comes below it is taken off here.
constexpr std::array<uint32_t, 16> power_bits() {
  std::array<uint32_t, 16> out{};
  for (uint32_t j = 0; j < 16; ++j) out[j] = std::bit_cast<uint32_t>(kPower[j]) - (j << 19);
  return out;
}
inline constexpr std::array<uint32_t, 16> kPowerBits = power_bits();

}  // namespace gradus::cpu::avx512
