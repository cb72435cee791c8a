/* SPDX-License-Identifier: Apache-2.0
 * Linked into every program: a shared object with an .interp section can be started. */
#if defined(__x86_64__)
#define ANYGIN_INTERPRETER "/lib64/ld-linux-x86-64.so.2"
#elif defined(__aarch64__)
#define ANYGIN_INTERPRETER "/lib/ld-linux-aarch64.so.1"
#else
#error "say where this machine's dynamic linker is: readelf -p .interp /bin/true"
#endif
extern const char anygin_interpreter[];
__attribute__((section(".interp"), used, visibility("hidden"))) const char anygin_interpreter[] = ANYGIN_INTERPRETER;
