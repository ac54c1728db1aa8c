/** Stops this thread, as SIGSTOP stops a process: its timers expire and answers arrive, but nothing runs. */
export function stall(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
