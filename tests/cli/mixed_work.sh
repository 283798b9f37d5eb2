#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A second or two of different work: named and stripped code, system calls, short-lived processes.
"$WORKLOADS/mainbarfoo" 200 &
"$WORKLOADS/deep" 20 0.2 &
"$WORKLOADS/forky" 40 1000 /bin/ls / &
tar cf - /usr/include/linux 2>/dev/null | gzip -1 &
python3 -c 'import json; [json.loads(json.dumps(list(range(3000)))) for _ in range(100)]' &
wait
