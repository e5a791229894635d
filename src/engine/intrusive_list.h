#pragma once

#include <cstddef>

#include "pepe/base/check.h"

namespace pepe {

/// Membership of a T in one IntrusiveList.
template <class T>
struct ListLink {
  T* previous{nullptr};
  T* next{nullptr};
  bool linked{false};
};

/// A doubly linked list through a member of its elements: O(1) everywhere, no allocation. Owns nothing.
template <class T, ListLink<T> T::*kLink>
class IntrusiveList {
 public:
  bool empty() const noexcept { return head_ == nullptr; }
  std::size_t size() const noexcept { return size_; }
  T* front() const noexcept { return head_; }
  static T* next(const T& element) noexcept { return (element.*kLink).next; }
  static bool contains(const T& element) noexcept { return (element.*kLink).linked; }

  void push_back(T& element) noexcept { link(element, tail_, nullptr); }
  void push_front(T& element) noexcept { link(element, nullptr, head_); }

  void erase(T& element) noexcept {
    ListLink<T>& link = element.*kLink;
    PEPE_CHECK(link.linked);
    (link.previous != nullptr ? (link.previous->*kLink).next : head_) = link.next;
    (link.next != nullptr ? (link.next->*kLink).previous : tail_) = link.previous;
    link = {};
    --size_;
  }

  T* pop_front() noexcept {
    T* const element = head_;
    if (element != nullptr) erase(*element);
    return element;
  }

 private:
  void link(T& element, T* previous, T* next) noexcept {
    ListLink<T>& link = element.*kLink;
    PEPE_CHECK(!link.linked);
    link = {previous, next, true};
    (previous != nullptr ? (previous->*kLink).next : head_) = &element;
    (next != nullptr ? (next->*kLink).previous : tail_) = &element;
    ++size_;
  }

  T* head_{nullptr};
  T* tail_{nullptr};
  std::size_t size_{0};
};

}  // namespace pepe
