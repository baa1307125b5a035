// What this CPU and its system offer for products of packed matrices.
#ifndef TPUTORCH_VTPU_STRIP_SYSTEM_H_
#define TPUTORCH_VTPU_STRIP_SYSTEM_H_

// The best level (vtpu/strip.h). Asks the system for the use of AMX tiles in this process, which holds
// for all of its threads.
int vtpu_strip_system_level(void);

#endif  // TPUTORCH_VTPU_STRIP_SYSTEM_H_
