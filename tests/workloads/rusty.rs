/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Known stacks of Rust (how to read them: known.h), which has no frame pointers either: work in a
 * closure that is called by the standard library, and panics through its frames.
 *
 * stacks panics: _start * main * all_panics caught * panics before_panic
 * stacks panics: _start * main * all_panics caught * after_panic
 * stacks panics: _start * main * all_panics sorted * compared
 *
 * Functions that do the same would become one: their work differs.
 *
 * usage: rusty panics [SECONDS]
 */
use std::hint::black_box;

extern "C" {
    fn prctl(option: i32, ...) -> i32;
    fn clock() -> i64;
}

/* By CPU time, so that a busy machine gives no fewer samples. */
fn cpu_seconds() -> f64 {
    (unsafe { clock() }) as f64 / 1e6
}

fn burn(turns: u64) {
    for turn in 0..turns {
        black_box(turn);
    }
}

#[no_mangle]
#[inline(never)]
extern "C-unwind" fn before_panic(number: u64) {
    burn(20000 + number % 2);
}

#[no_mangle]
#[inline(never)]
extern "C-unwind" fn panics(number: u64) {
    let room = [number; 30];
    before_panic(black_box(&room)[3]);
    if black_box(number) > 0 {
        std::panic::resume_unwind(Box::new(number));
    }
}

struct Guard(u64);

#[no_mangle]
#[inline(never)]
extern "C-unwind" fn after_panic(number: u64) {
    burn(30000 + number % 2);
}

impl Drop for Guard {
    fn drop(&mut self) {
        after_panic(self.0);
    }
}

#[no_mangle]
#[inline(never)]
extern "C-unwind" fn caught(number: u64) {
    let result = std::panic::catch_unwind(|| {
        let _guard = Guard(number);
        panics(number);
    });
    black_box(result.is_err());
}

#[no_mangle]
#[inline(never)]
extern "C-unwind" fn compared(left: u64, right: u64) -> bool {
    burn(20);
    black_box(left) < right
}

#[no_mangle]
#[inline(never)]
extern "C-unwind" fn sorted(number: u64) {
    let mut numbers: Vec<u64> = (number..number + 300).map(|n| n * 7919 % 1009).collect();
    numbers.sort_by(|left, right| {
        if compared(*left, *right) {
            std::cmp::Ordering::Less
        } else {
            std::cmp::Ordering::Greater
        }
    });
    black_box(&numbers);
}

#[no_mangle]
#[inline(never)]
extern "C-unwind" fn all_panics(seconds: f64) {
    let start = cpu_seconds();
    let mut number = 0;
    while cpu_seconds() - start < seconds {
        number += 1;
        caught(number);
        sorted(number);
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let seconds = arguments.get(2).and_then(|text| text.parse().ok()).unwrap_or(0.5);
    let is_warm_up = std::env::var_os("WARM_UP").is_some();
    let name: &[u8] = if is_warm_up { b"WARM_UP\0" } else { b"rusty.panics\0" };
    unsafe { prctl(15, name.as_ptr()) };
    all_panics(seconds);
}
