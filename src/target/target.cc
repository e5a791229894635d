#include "pepe/target/target.h"
