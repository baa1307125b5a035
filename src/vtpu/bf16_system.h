// What this CPU and its system offer for bf16 products.
#ifndef TPUTORCH_VTPU_BF16_SYSTEM_H_
#define TPUTORCH_VTPU_BF16_SYSTEM_H_

// The best level (vtpu/bf16.h). Asks the system for the use of AMX tiles in this process, which holds
// for all of its threads.
int vtpu_bf16_system_level(void);

#endif  // TPUTORCH_VTPU_BF16_SYSTEM_H_
