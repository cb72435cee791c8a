// SPDX-License-Identifier: Apache-2.0
// Each header that programs include by name compiles by itself: HEADER is its path.
#include HEADER

int main() {
  return 0;
}
