/** What runs a guest's instructions. */
import { accessSync, constants, readFileSync } from 'node:fs';

/**
 * `kvm`: the processor, with QEMU around it. `uml`: the processor too, as the guest's kernel is a program of this machine,
 * user-mode Linux; what makes system calls and page faults takes some four times as long. `tcg`: QEMU translates, which takes
 * ten times as long at everything.
 */
export const ACCELERATORS = ['kvm', 'uml', 'tcg'] as const;
export type Accelerator = (typeof ACCELERATORS)[number];

/** What is tried, the best first; one alone when a user or a test insists on it. */
export const acceleratorsToTry = (
  env: NodeJS.ProcessEnv = process.env,
  hasKvm = canOpenKvm() && hasVirtualization(readFileSync('/proc/cpuinfo', 'utf8')),
): Accelerator[] => {
  const requested = ACCELERATORS.filter((known) => known === env['UDN_GUEST_ACCELERATOR']);
  return requested.length > 0 ? requested : ACCELERATORS.filter((known) => known !== 'kvm' || hasKvm);
};

/**
 * KVM counts only on a processor that says it has what KVM needs: there are machines that emulate it in software, and
 * those have been seen to fail in the middle of the boot.
 * @param cpuinfo the content of /proc/cpuinfo
 */
export const hasVirtualization = (cpuinfo: string): boolean => /^flags\s*:.*\b(vmx|svm)\b/m.test(cpuinfo);

const canOpenKvm = (): boolean => {
  try {
    accessSync('/dev/kvm', constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
};
