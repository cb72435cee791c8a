// SPDX-License-Identifier: Apache-2.0
// There are no tensor cores on the cpu target. This header stands here so that no installed toolkit's is taken.
#error "mma.h: tensor cores (nvcuda::wmma) are not supported on the cpu target"
