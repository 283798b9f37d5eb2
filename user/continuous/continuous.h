/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Always on: windows of time, and the folder on disk that keeps them. This is the folder's face;
 * the parts have a header each.
 */
#ifndef CONTINUOUS_CONTINUOUS_H
#define CONTINUOUS_CONTINUOUS_H

#include "continuous/cpu_limit.h"
#include "continuous/joint.h"
#include "continuous/metrics.h"
#include "continuous/metrics_server.h"
#include "continuous/notify.h"
#include "continuous/push.h"
#include "continuous/push_state.h"
#include "continuous/store.h"
#include "continuous/times.h"
#include "continuous/window.h"

#endif
