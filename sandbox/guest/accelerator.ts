/** What runs a guest's instructions. */
import { accessSync, constants, readFileSync } from 'node:fs';

/** `kvm`: the processor. `tcg`: QEMU translates them, which takes several times as long. */
export const ACCELERATORS = ['kvm', 'tcg'] as const;
export type Accelerator = (typeof ACCELERATORS)[number];

/**
 * KVM counts only on a processor that says it has what KVM needs: there are machines that emulate it in software, and
 * those have been seen to fail in the middle of the boot.
 */
export const pickAccelerator = (): Accelerator =>
  canOpenKvm() && hasVirtualization(readFileSync('/proc/cpuinfo', 'utf8')) ? 'kvm' : 'tcg';

/** What a user or a test insists on. */
export const wantedAccelerator = (env: NodeJS.ProcessEnv = process.env): Accelerator | undefined =>
  ACCELERATORS.find((known) => known === env['UDN_GUEST_ACCELERATOR']);

/** @param cpuinfo the content of /proc/cpuinfo */
export const hasVirtualization = (cpuinfo: string): boolean => /^flags\s*:.*\b(vmx|svm)\b/m.test(cpuinfo);

const canOpenKvm = (): boolean => {
  try {
    accessSync('/dev/kvm', constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
};
