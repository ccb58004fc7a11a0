/** Runs probes in pods. */
import { messageOf } from '../../base/error-message.ts';
import type { PodExec } from '../../kube/exec/types.ts';
import { type Outcome, outcomeOf, type ProbeResult, probeCommand } from './outcome.ts';
import type { Probe } from './probes.ts';
import { CONTAINER, namespaceName, type PodPlace, type Run } from './run.ts';

export interface Prober {
  readonly exec: Pick<PodExec, 'run'>;
  readonly run: Pick<Run, 'id' | 'program'>;
  /** Of one probe. */
  readonly timeoutSeconds: number;
  /** Between two attempts. */
  readonly pause: (signal: AbortSignal) => Promise<void>;
}

/** More would measure the API server and the processors of the nodes. */
const AT_ONCE = 12;

export const measure = async (
  prober: Prober,
  probes: readonly Probe[],
  signal: AbortSignal,
): Promise<readonly ProbeResult[]> => {
  const results: ProbeResult[] = [];
  const left = probes.entries();
  const work = async (): Promise<void> => {
    for (const [index, probe] of left) results[index] = { ...probe, ...(await attempts(prober, probe, signal)) };
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
};

/**
 * Nothing reports when a node has programmed the ClusterIP or the route of a new pod, so what should be reached is given more than one
 * attempt. What should not be reached has one: a single success is a finding.
 */
const ATTEMPTS = 3;

const attempts = async (prober: Prober, probe: Probe, signal: AbortSignal): Promise<Outcome> => {
  const most = probe.expected === 'reached' ? ATTEMPTS : 1;
  for (let attempt = 1; ; attempt++) {
    const outcome = await attemptOnce(prober, probe, signal);
    if (outcome.observed === 'reached' || attempt === most) return outcome;
    await prober.pause(signal);
  }
};

const attemptOnce = async (
  { exec, run, timeoutSeconds }: Prober,
  probe: Probe,
  signal: AbortSignal,
): Promise<Outcome> => {
  try {
    const { status, stderr } = await runIn(
      exec,
      run,
      probe.from,
      probeCommand(run.program, probe, timeoutSeconds),
      signal,
    );
    return outcomeOf(probe, status, stderr);
  } catch (error) {
    signal.throwIfAborted();
    return { observed: 'unknown', detail: messageOf(error) };
  }
};

export type Mtu = { readonly mtu: number } | { readonly cause: string };

/** As with a probe, one pod that cannot be asked is no reason to lose the report of the others. @param interfaceName on the network that is measured */
export const readMtu = async (
  { exec, run }: Pick<Prober, 'exec' | 'run'>,
  pod: PodPlace,
  interfaceName: string,
  signal: AbortSignal,
): Promise<Mtu> => {
  try {
    const command = ['cat', `/sys/class/net/${interfaceName}/mtu`];
    const { status, stdout, stderr } = await runIn(exec, run, pod, command, signal);
    if (status !== 0) return { cause: stderr.trim() || `cat exited with status ${status}` };
    const text = stdout.trim();
    return /^[1-9][0-9]*$/.test(text) ? { mtu: Number(text) } : { cause: `the file contains ${JSON.stringify(text)}` };
  } catch (error) {
    signal.throwIfAborted();
    return { cause: messageOf(error) };
  }
};

const runIn = async (
  exec: Pick<PodExec, 'run'>,
  run: Pick<Run, 'id'>,
  { tenant, name: pod }: PodPlace,
  command: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly stdout: string; readonly stderr: string }> => {
  const [stdout, stderr]: [Uint8Array[], Uint8Array[]] = [[], []];
  const status = await exec.run(
    { namespace: namespaceName(run, tenant), pod, container: CONTAINER, command },
    { stdout: (chunk) => void stdout.push(chunk), stderr: (chunk) => void stderr.push(chunk) },
    signal,
  );
  return { status, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() };
};
