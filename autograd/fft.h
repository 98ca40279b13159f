// torch::fft: libtorch's second names of the Fourier transforms. docs/fft.md is the guide.
#pragma once

#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"

namespace gradus::fft {

// --- One dimension
inline Tensor fft(const Tensor& self, std::optional<int64_t> n = std::nullopt, int64_t dim = -1,
                  std::optional<std::string_view> norm = std::nullopt) {
  return fft_fft(self, n, dim, norm);
}
inline Tensor ifft(const Tensor& self, std::optional<int64_t> n = std::nullopt, int64_t dim = -1,
                   std::optional<std::string_view> norm = std::nullopt) {
  return fft_ifft(self, n, dim, norm);
}
inline Tensor rfft(const Tensor& self, std::optional<int64_t> n = std::nullopt, int64_t dim = -1,
                   std::optional<std::string_view> norm = std::nullopt) {
  return fft_rfft(self, n, dim, norm);
}
inline Tensor irfft(const Tensor& self, std::optional<int64_t> n = std::nullopt, int64_t dim = -1,
                    std::optional<std::string_view> norm = std::nullopt) {
  return fft_irfft(self, n, dim, norm);
}
inline Tensor hfft(const Tensor& self, std::optional<int64_t> n = std::nullopt, int64_t dim = -1,
                   std::optional<std::string_view> norm = std::nullopt) {
  return fft_hfft(self, n, dim, norm);
}
inline Tensor ihfft(const Tensor& self, std::optional<int64_t> n = std::nullopt, int64_t dim = -1,
                    std::optional<std::string_view> norm = std::nullopt) {
  return fft_ihfft(self, n, dim, norm);
}

// --- Two dimensions
inline Tensor fft2(const Tensor& self, OptionalIntArrayRef s = std::nullopt,
                   IntArrayRef dim = {-2, -1},
                   std::optional<std::string_view> norm = std::nullopt) {
  return fft_fft2(self, s, dim, norm);
}
inline Tensor ifft2(const Tensor& self, OptionalIntArrayRef s = std::nullopt,
                    IntArrayRef dim = {-2, -1},
                    std::optional<std::string_view> norm = std::nullopt) {
  return fft_ifft2(self, s, dim, norm);
}
inline Tensor rfft2(const Tensor& self, OptionalIntArrayRef s = std::nullopt,
                    IntArrayRef dim = {-2, -1},
                    std::optional<std::string_view> norm = std::nullopt) {
  return fft_rfft2(self, s, dim, norm);
}
inline Tensor irfft2(const Tensor& self, OptionalIntArrayRef s = std::nullopt,
                     IntArrayRef dim = {-2, -1},
                     std::optional<std::string_view> norm = std::nullopt) {
  return fft_irfft2(self, s, dim, norm);
}
inline Tensor hfft2(const Tensor& self, OptionalIntArrayRef s = std::nullopt,
                    IntArrayRef dim = {-2, -1},
                    std::optional<std::string_view> norm = std::nullopt) {
  return fft_hfft2(self, s, dim, norm);
}
inline Tensor ihfft2(const Tensor& self, OptionalIntArrayRef s = std::nullopt,
                     IntArrayRef dim = {-2, -1},
                     std::optional<std::string_view> norm = std::nullopt) {
  return fft_ihfft2(self, s, dim, norm);
}

// --- Several dimensions
inline Tensor fftn(const Tensor& self, OptionalIntArrayRef s = std::nullopt,
                   OptionalIntArrayRef dim = std::nullopt,
                   std::optional<std::string_view> norm = std::nullopt) {
  return fft_fftn(self, s, dim, norm);
}
inline Tensor ifftn(const Tensor& self, OptionalIntArrayRef s = std::nullopt,
                    OptionalIntArrayRef dim = std::nullopt,
                    std::optional<std::string_view> norm = std::nullopt) {
  return fft_ifftn(self, s, dim, norm);
}
inline Tensor rfftn(const Tensor& self, OptionalIntArrayRef s = std::nullopt,
                    OptionalIntArrayRef dim = std::nullopt,
                    std::optional<std::string_view> norm = std::nullopt) {
  return fft_rfftn(self, s, dim, norm);
}
inline Tensor irfftn(const Tensor& self, OptionalIntArrayRef s = std::nullopt,
                     OptionalIntArrayRef dim = std::nullopt,
                     std::optional<std::string_view> norm = std::nullopt) {
  return fft_irfftn(self, s, dim, norm);
}
inline Tensor hfftn(const Tensor& self, OptionalIntArrayRef s = std::nullopt,
                    OptionalIntArrayRef dim = std::nullopt,
                    std::optional<std::string_view> norm = std::nullopt) {
  return fft_hfftn(self, s, dim, norm);
}
inline Tensor ihfftn(const Tensor& self, OptionalIntArrayRef s = std::nullopt,
                     OptionalIntArrayRef dim = std::nullopt,
                     std::optional<std::string_view> norm = std::nullopt) {
  return fft_ihfftn(self, s, dim, norm);
}

// --- Frequencies and their order
inline Tensor fftfreq(int64_t n, double d, const TensorOptions& options = {}) {
  return fft_fftfreq(n, d, options);
}
inline Tensor fftfreq(int64_t n, const TensorOptions& options = {}) {
  return fft_fftfreq(n, 1.0, options);
}
inline Tensor rfftfreq(int64_t n, double d, const TensorOptions& options = {}) {
  return fft_rfftfreq(n, d, options);
}
inline Tensor rfftfreq(int64_t n, const TensorOptions& options = {}) {
  return fft_rfftfreq(n, 1.0, options);
}
inline Tensor fftshift(const Tensor& x, OptionalIntArrayRef dim = std::nullopt) {
  return fft_fftshift(x, dim);
}
inline Tensor ifftshift(const Tensor& x, OptionalIntArrayRef dim = std::nullopt) {
  return fft_ifftshift(x, dim);
}

}  // namespace gradus::fft
