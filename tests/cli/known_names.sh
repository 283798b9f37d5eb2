#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The workloads with known stacks that a processor has, PROGRAM.MODE each on a line.
#
# usage: known_names.sh PROCESSOR      as `uname -m` says
printf '%s\n' nofp.plain nofp.alloca nofp.deep nofp.toodeep nofp.sys nofp.fault nofp.vdso nofp.sort \
	nofp.plt nofp.noret signals.sig signals.altsig signals.nestsig cxx.throw threads.work \
	threads.pipe threads.short loader.dlopen becomes_a.exec spawns.vfork spawns.spawn spawns.fork \
	jit.framed jit.bare static.plain static.sort spie.sort spie.sys nopie.plt nopie.noret \
	hdrless.plain hdrless.sort
[ "$1" != x86_64 ] || printf '%s\n' x86_cet.plt x86_cet.plain x86_align.drap x86_asm.cfi x86_asm.nocfi \
	x86_asm.nocfifp x86_asm.hidden x86_bits32
[ "$1" != aarch64 ] || printf '%s\n' arm_asm.bare arm_asm.room arm_asm.framed arm_asm.inner \
	arm_asm.called arm_asm.astray arm_asm.between
