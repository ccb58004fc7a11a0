/**
 * The words of the prober, and what its answer means: agnhost's `connect`, which exits with 0 or says at the head of stderr what
 * happened (k8s.io/kubernetes/test/images/agnhost/connect). Pure.
 */
import type { Probe } from './probes.ts';

export interface Outcome {
  /** `unknown`: the probe itself could not be run. */
  readonly observed: 'reached' | 'not reached' | 'unknown';
  /** `timed out`, `refused`, …; empty when reached. */
  readonly detail: string;
}

export interface ProbeResult extends Probe, Outcome {}

export const probeCommand = (
  program: string,
  { target, datagram }: Probe,
  timeoutSeconds: number,
): readonly string[] => [
  ...[program, 'connect', `--timeout=${timeoutSeconds}s`],
  ...(datagram === undefined ? [] : ['--protocol=udp', `--udp-data=${filled(datagram)}`]),
  target,
];

/**
 * `netexec` sends back what follows `echo `; `connect` puts a line feed behind. Linux sends a datagram that fits the interface's MTU
 * with Don't Fragment (ip(7), IP_MTU_DISCOVER), so it arrives whole or not at all, without a raw socket and its capability.
 */
const filled = (length: number): string => `${ECHO}${'x'.repeat(Math.max(0, length - ECHO.length - 1))}`;
const ECHO = 'echo ';

export const outcomeOf = ({ test }: Pick<Probe, 'test'>, status: number, stderr: string): Outcome => {
  if (status === 0) return { observed: 'reached', detail: '' };
  const [, word = '', rest = ''] = /^(DNS|TIMEOUT|REFUSED|UNKNOWN|OTHER)\b:?\s*([^\n]*)/.exec(stderr) ?? [];
  if (word === '') return { observed: 'unknown', detail: stderr.trim() || `the prober exited with status ${status}` };
  // Its name has an address: what comes after that is another test's.
  if (test === 'dns' && word !== 'DNS') return { observed: 'reached', detail: '' };
  return { observed: 'not reached', detail: DETAILS[word] ?? rest };
};

const DETAILS: Readonly<Record<string, string>> = { TIMEOUT: 'timed out', REFUSED: 'refused' };

export const isAsExpected = ({ expected, observed }: ProbeResult): boolean => expected === observed;
