#pragma once

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "pepe/base/check.h"
#include "pepe/base/error.h"

namespace pepe {

/// A value or an Error, with the names of std::expected (which C++20 lacks).
template <class T>
class [[nodiscard]] Expected {
 public:
  using value_type = T;

  Expected(T value) : state_{std::in_place_index<0>, std::move(value)} {}
  Expected(Error error) : state_{std::in_place_index<1>, std::move(error)} {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  T& value() & { return require_value(), std::get<0>(state_); }
  const T& value() const& { return require_value(), std::get<0>(state_); }
  T&& value() && { return require_value(), std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  void require_value() const { PEPE_CHECK(has_value()); }

  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Expected<void> {
 public:
  using value_type = void;

  Expected() = default;
  Expected(Error error) : error_{std::move(error)} {}

  bool has_value() const noexcept { return !error_; }
  explicit operator bool() const noexcept { return has_value(); }
  const Error& error() const& { return *error_; }
  Error&& error() && { return *std::move(error_); }

 private:
  std::optional<Error> error_;
};

}  // namespace pepe
