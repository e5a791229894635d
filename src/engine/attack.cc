#include "pepe/engine/attack.h"
