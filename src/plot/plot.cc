#include "pepe/plot/plot.h"
