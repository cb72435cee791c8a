// SPDX-License-Identifier: Apache-2.0
// Refused: `-static`
// Compiler with -static: -static: programs load libanygin.so at run time; leave it out
int main() {}
