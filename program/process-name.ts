/**
 * The name of a process in `top`, `ps -C`, `pgrep` and the kernel's messages. Node calls the main thread of every program
 * "MainThread", so that no one can tell an agent from another program on the node, or from `udnctl`.
 */
import { writeFileSync } from 'node:fs';

/**
 * Names this process as proc_pid_comm(5) has it; the kernel keeps 15 bytes. Unlike `process.title` it leaves the command line as it is.
 * Where there is no such file, the name stays.
 */
export const nameProcess = (name: string): void => {
  try {
    writeFileSync('/proc/self/comm', name);
  } catch {
    // No program ends because of its name.
  }
};
