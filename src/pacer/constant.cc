#include "pepe/pacer/pacer.h"
