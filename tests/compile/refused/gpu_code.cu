// SPDX-License-Identifier: Apache-2.0
// Refused: `-ptx`, `-cubin`, `-fatbin`, `-ltoir`, `-optix-ir`
// Compiler with -ptx: -ptx: the cpu target makes no GPU code; compile with -c, or link a program
int main() {}
