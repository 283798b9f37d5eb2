/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * This machine: processes and their mappings, kernel symbols and limits, CPUs, cgroups. This is the
 * folder's face; the parts have a header each.
 */
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include "host/binary_search.h"
#include "host/cgroup_identity.h"
#include "host/cgroups.h"
#include "host/confined.h"
#include "host/cpus.h"
#include "host/file_ids.h"
#include "host/kernel_modules.h"
#include "host/kernel_rules.h"
#include "host/kernel_symbols.h"
#include "host/machine.h"
#include "host/mapped_file.h"
#include "host/own_memory.h"
#include "host/own_vdso.h"
#include "host/privileges.h"
#include "host/proc_maps.h"
#include "host/process_stat.h"
#include "host/process_tree.h"
#include "host/processes.h"
#include "host/seen_text.h"
#include "host/sysctl.h"

#endif
