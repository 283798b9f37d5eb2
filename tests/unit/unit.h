/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmocka with what it needs included first.
 */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#undef fail /* ours is base/fail.h */

/* Ends the test and says why; cmocka's fail_msg() calls fail(). */
#define fail_test(...) (print_error(__VA_ARGS__), print_error("\n"), _fail(__FILE__, __LINE__))

#endif
