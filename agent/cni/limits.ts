/** How long the verbs of CNI wait. Milliseconds. */
export interface CniLimits {
  readonly unknownPodMs: number;
  readonly addressesMs: number;
  /** For ovn-controller to install a port, and for host isolation to be in the kernel. */
  readonly installedMs: number;
  /** After so long a wait the pod's owner gets an event. */
  readonly patienceMs: number;
}

/** @param waitSeconds for addresses, and for ports to be installed */
export const cniLimits = (waitSeconds: number): CniLimits => ({
  unknownPodMs: 5_000,
  addressesMs: waitSeconds * 1000,
  installedMs: waitSeconds * 1000,
  patienceMs: 3_000,
});
