#include "pepe/report/reporter.h"
