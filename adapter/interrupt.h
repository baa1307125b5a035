// Python's signal handlers during waits of the core.
#ifndef TPUTORCH_ADAPTER_INTERRUPT_H_
#define TPUTORCH_ADAPTER_INTERRUPT_H_

namespace tputorch {

// Makes the core ask Python for signals while it waits; once, at load.
void install_interrupts();
// Throws what a signal handler raised on this thread during such a wait, if anything.
void throw_if_raised();

}  // namespace tputorch

#endif  // TPUTORCH_ADAPTER_INTERRUPT_H_
