#include "pepe/metrics/metrics.h"
